"""`sexton detach`: look after a Hermes home no longer."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sexton.cli.attach_command import settings_file, settings_text, write_settings
from sexton.cli.command import Command, Shared, shared
from sexton.cli.homes_here import is_listed
from sexton.cli.terminal import document, note, say
from sexton.core.wording import counted
from sexton.errors import HomeNotFound, SettingsInvalid
from sexton.wiring.choosing_ledger import load_settings

if TYPE_CHECKING:
    from sexton.retention.model import VaultFile
    from sexton.settings.settings_values import HomeSetting
    from sexton.wiring import Sexton


@click.command(
    "detach",
    cls=Command,
    examples=(
        "sexton detach ~/.hermes              # plan, apply and keep look at it no more",
        "sexton detach ~/.hermes --restore    # first bring back what was removed from it",
        "sexton detach                        # the only home of the settings",
    ),
)
@click.argument("home", metavar="[PATH]", required=False)
@click.option("--restore", is_flag=True, help="First bring back what is in trash and archive.")
@click.pass_context
def command(ctx: click.Context, home: str | None, restore: bool) -> None:
    """Look after a Hermes home no longer.

    Takes the home out of the settings file, where 'attach' has written it; every other line and
    comment stays. PATH may also be the home's name there, and the directory may be gone. In the
    home itself nothing is changed, and the ledger keeps what it knows: what is in the trash or the
    archive can still be brought back by 'undo'. With --restore all of it comes back first; if some
    of it can not, the home stays attached. Detaching it again changes nothing.
    """
    options = shared(ctx)
    file = settings_file(options)
    before = settings_text(file)
    settings = None if before is None else load_settings(file, os.environ)
    listed = () if settings is None else settings.homes
    place, name = _meant(home, listed)
    back = _brought_back(options, place) if restore else None
    changed = _taken_out(before or "", place, file)
    if before is not None and changed != before:
        _write(file, before, changed, options)
    kept = _kept(options, place)
    if options.json:
        document(
            {
                "name": name,
                "path": str(place),
                "file": str(file),
                "changed": changed != (before or ""),
                "restored": back,
                "kept_files": len(kept),
            }
        )
        return
    if changed == (before or ""):
        say(f"{place} is not attached by {file}; nothing was changed")
    else:
        say(f"{name} at {place} is detached from {file}: plan, apply and keep look at it no more")
        note("a keeper that runs goes on with it until it is started anew")
    if kept:
        how = f"sexton detach {shlex.quote(str(place))} --restore"
        note(f"{counted(len(kept), 'file')} of it in trash and archive; '{how}' brings all back")


def _meant(named: str | None, listed: tuple[HomeSetting, ...]) -> tuple[Path, str]:
    """The place and the name of the home to detach; it need not be there any more."""
    if named is None:
        if len(listed) == 1:
            return listed[0].path.expanduser().resolve(), listed[0].name
        shown = ", ".join(str(each.path) for each in listed)
        raise HomeNotFound(
            f"the settings list several homes: {shown}" if listed else "the settings list no home",
            hint="Name the directory: sexton detach DIRECTORY.",
        )
    for each in listed:
        if each.name == named:
            return each.path.expanduser().resolve(), each.name
    place = Path(named).expanduser().resolve()
    for each in listed:
        if is_listed(place, [each]):
            return place, each.name
    if not place.is_dir():
        raise HomeNotFound(
            f"the settings list no home '{named}', and there is no such directory",
            hint="'sexton config show' shows the homes of the settings.",
        )
    return place, place.name.lstrip(".")


def _taken_out(before: str, place: Path, file: Path) -> str:
    from sexton.cli.cli_attaching import without_home

    return without_home(before, place, file=file, environ=os.environ)


def _write(file: Path, before: str, changed: str, options: Shared) -> None:
    """Replace the settings; what cannot do without that home stays as it was."""
    write_settings(file, changed, options)
    try:
        load_settings(file, os.environ)
    except SettingsInvalid:
        write_settings(file, before, options)
        raise


def _brought_back(options: Shared, place: Path) -> dict[str, Any]:
    """Bring back all that was removed from the home; what can not come back is raised."""
    from sexton.cli.carrying_out import carry_out, finish
    from sexton.cli.cli_opening import existing
    from sexton.operations.asker import Asker
    from sexton.operations.changes.restoring import restore_files

    with existing(options) as opened:
        asker = Asker(house=opened)
        receipt = carry_out(restore_files(asker, _files_of(opened, place)))
    done = receipt.shown["files"]
    if not options.json:
        sessions, files = (sum(each[name] for each in done) for name in ("sessions", "files"))
        say(f"{counted(sessions, 'session')} and {counted(files, 'file')} brought back")
    finish(click.get_current_context(), receipt)
    return {"receipt": receipt.id, "files": done}


def _kept(options: Shared, place: Path) -> list[VaultFile]:
    """What is in trash and archive of the home; nothing where there is no ledger."""
    from sexton.cli.cli_opening import existing
    from sexton.errors import SextonError

    try:
        with existing(options) as opened:
            return _files_of(opened, place)
    except SextonError:  # the home is detached all the same
        return []


def _files_of(opened: Sexton, place: Path) -> list[VaultFile]:
    from sexton.cli.vault_view import means_of
    from sexton.liveness.process_identity import host
    from sexton.operations.asker import Asker
    from sexton.operations.questions.vault_questions import each_file
    from sexton.retention.model import VaultState

    here, vault = (str(place), host()), means_of(opened).host
    names = {each.name for each in opened.ledger.homes.all() if (each.path, each.host) == here}
    return [
        each
        for each in each_file(Asker(house=opened), None, None, None)
        if each.home in names and each.host == vault and each.state is VaultState.KEPT
    ]
