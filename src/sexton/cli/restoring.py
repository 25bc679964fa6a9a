"""How is what was removed brought back by a command?"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import click

from sexton.bootstrap import Sexton
from sexton.cli.command import Shared
from sexton.cli.homes import reachable
from sexton.cli.signals import stopped_by_signals
from sexton.cli.terminal import document, note, progress, say
from sexton.cli.trouble import DECLINED
from sexton.cli.vault_view import means_of, restored_shape, shape, show_files
from sexton.cli.wording import counted
from sexton.engine.apply import new_receipt
from sexton.engine.removing.means import Means
from sexton.engine.removing.restore import Restored
from sexton.engine.removing.undo import undo
from sexton.ports.removal import VaultFile


def restore(
    opened: Sexton,
    options: Shared,
    found: Sequence[VaultFile],
    *,
    dry_run: bool,
    only: frozenset[int] | None = None,
) -> None:
    """Bring back what is in vault files, all or some of it, or only show which ones these are."""
    means = _reaching(opened, found)
    if dry_run:
        _show(opened, options, found, only)
        return
    receipt = new_receipt()
    done = _brought_back(means, found, receipt, only)
    if options.json:
        document({"receipt": receipt, "files": [restored_shape(each) for each in done]})
    else:
        _tell(done, receipt)
    for each in done:
        if each.trouble is not None:
            raise each.trouble
    if len(done) < len(found):
        note(f"stopped with {counted(len(found) - len(done), 'file')} left; do it again to go on")
        raise click.exceptions.Exit(DECLINED)


def _show(
    opened: Sexton, options: Shared, found: Sequence[VaultFile], only: frozenset[int] | None
) -> None:
    if options.json:
        document({"files": [shape(each) for each in found], "sessions": only and len(only)})
        return
    show_files(found, means_of(opened).host, opened.clock.now())
    if only is not None:
        note(f"{counted(len(only), 'session')} of these would be brought back")


def _brought_back(
    means: Means, found: Sequence[VaultFile], receipt: str, only: frozenset[int] | None
) -> list[Restored]:
    """What came of each file, until the user wants to stop."""
    stop, done = Event(), []
    with stopped_by_signals(stop.set), progress("restoring") as advance:
        for each in undo(means, found, receipt, only):
            done.append(each)
            advance(each.sessions)
            if stop.is_set():
                break
    return done


def _reaching(opened: Sexton, found: Sequence[VaultFile]) -> Means:
    """The means to restore these, with the homes they are from as far as these are here."""
    meant = {file.home for file in found}
    records = [each for each in opened.ledger.homes.all() if each.name in meant]
    homes = [reachable(each, opened.settings.homes) for each in records]
    means = opened.estate([each for each in homes if each is not None]).removing
    assert means is not None
    return means


def _tell(done: Sequence[Restored], receipt: str) -> None:
    sessions, files = sum(each.sessions for each in done), sum(each.files for each in done)
    also = f" and {counted(files, 'file')}" if files else ""
    say(f"{counted(sessions, 'session')}{also} brought back (receipt {receipt})")
    for each in done:
        if each.trouble is not None:
            note(f"nothing came back from {each.file.name}: {each.trouble}")
        elif each.left:
            note(f"{counted(each.left, 'session')} in {each.file.name} could not be brought back")
        for place, aside in each.aside.items():
            note(f"another file is at {place} now; what was there is at {aside}")
