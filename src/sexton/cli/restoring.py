"""How is what was removed brought back by a command?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event

import click

from sexton.cli.cli_homes import reaching
from sexton.cli.command import Shared
from sexton.cli.signals import stopped_by_signals
from sexton.cli.terminal import document, note, progress, say
from sexton.cli.trouble import DECLINED
from sexton.cli.vault_view import show_files
from sexton.core.record import replace
from sexton.core.wording import counted
from sexton.homes.home_ports import Ended
from sexton.keeper.reopening import NOTHING, Reopened, ended_by, revive, would_revive
from sexton.operations.thing_records import reopened as reopened_shape
from sexton.operations.thing_records import restored as restored_shape
from sexton.operations.thing_records import vault_file as shape
from sexton.operations.undone import reopening
from sexton.retention.removal_context import Means
from sexton.retention.removal_ports import VaultFile
from sexton.retention.restore import Restored
from sexton.retention.undo import undo
from sexton.wiring import Sexton


def restore(
    opened: Sexton,
    options: Shared,
    found: Sequence[VaultFile],
    receipt: str,
    *,
    dry_run: bool,
    only: frozenset[int] | None = None,
    opened_again: Reopened = NOTHING,
) -> None:
    """Bring back what is in vault files, all or some of it, or only show which ones these are."""
    means = reaching(opened, {file.home for file in found}).removing
    assert means is not None
    if dry_run:
        _show(opened, options, found, only, opened_again)
        return
    done = _brought_back(means, found, receipt, only)
    if options.json:
        files = [restored_shape(each) for each in done]
        document({"receipt": receipt, "files": files, **reopened_shape(opened_again)})
    else:
        _tell(done, receipt, opened_again)
    _raise_troubles(done, found)


def bring_back(opened: Sexton, found: Sequence[VaultFile], receipt: str) -> list[Restored]:
    """Bring back all that is in vault files; the first that can not be is raised in the end."""
    means = reaching(opened, {file.home for file in found}).removing
    assert means is not None
    done = _brought_back(means, found, receipt, None)
    _raise_troubles(done, found)
    return done


def _raise_troubles(done: Sequence[Restored], found: Sequence[VaultFile]) -> None:
    for each in done:
        if each.trouble is not None:
            raise each.trouble
    if len(done) < len(found):
        note(f"stopped with {counted(len(found) - len(done), 'file')} left; do it again to go on")
        raise click.exceptions.Exit(DECLINED)


def ended_sessions(
    opened: Sexton, receipt: str, home: str | None, source: str | None
) -> dict[str, list[Ended]]:
    """The sessions that a receipt ended, of one home and source or of any."""
    return {
        name: chosen
        for name, ends in ended_by(opened.ledger, receipt).items()
        if home in (None, name)
        and (chosen := [each for each in ends if source in (None, _source(opened, name, each.id))])
    }


def open_again(
    opened: Sexton, ended: Mapping[str, Sequence[Ended]], receipt: str, undone: str
) -> Reopened:
    """Open sessions again in their homes, as far as these are here."""
    return revive(reaching(opened, ended), ended, receipt, undone)


def would_open(opened: Sexton, ended: Mapping[str, Sequence[Ended]]) -> Reopened:
    """The same as far as it can be told before."""
    return would_revive(reaching(opened, ended), ended)


def _source(opened: Sexton, home: str, id: str) -> str | None:
    found = opened.ledger.index.find(home, id)
    return found[0].source if found else None


def _show(
    opened: Sexton,
    options: Shared,
    found: Sequence[VaultFile],
    only: frozenset[int] | None,
    ended: Reopened,
) -> None:
    if options.json:
        files = [shape(each) for each in found]
        document({"files": files, "sessions": only and len(only), **reopened_shape(ended)})
        return
    if found:
        show_files(opened, found)
    if only is not None:
        note(f"{counted(len(only), 'session')} of these would be brought back")
    if ended.sessions or ended.stayed:
        say(f"{counted(ended.sessions, 'session')} would be opened again")
    for each in ended.remarks:
        note(f"{each.session} {each.says}")


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


def _tell(done: Sequence[Restored], receipt: str, opened_again: Reopened) -> None:
    sessions, files = sum(each.sessions for each in done), sum(each.files for each in done)
    also = f" and {counted(files, 'file')}" if files else ""
    if opened_again.sessions:
        say(f"{counted(opened_again.sessions, 'session')} opened again")
    for words in reopening(replace(opened_again, sessions=0)):
        note(words)
    if done or not opened_again.sessions:
        say(f"{counted(sessions, 'session')}{also} brought back")
    note(f"'sexton journal --receipt {receipt}' shows it")
    for each in done:
        if each.trouble is not None:
            note(f"nothing came back from {each.file.name}: {each.trouble}")
        elif each.left:
            note(f"{counted(each.left, 'session')} in {each.file.name} could not be brought back")
        for place, aside in each.aside.items():
            note(f"another file is at {place} now; what was there is at {aside}")
