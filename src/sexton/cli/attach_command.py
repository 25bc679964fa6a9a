"""`sexton attach`: have a Hermes home looked after."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import click

from sexton.cli.cli_files import private_file
from sexton.cli.cli_opening import chosen_url, ledger_file
from sexton.cli.command import Command, Shared, shared
from sexton.cli.homes_here import attach_command, is_listed, the_home
from sexton.cli.terminal import document, note, say
from sexton.errors import SettingsInvalid
from sexton.wiring.choosing_ledger import load_settings
from sexton.wiring.places import default_settings


@click.command(
    "attach",
    cls=Command,
    examples=(
        "sexton attach ~/.hermes              # plan, apply and keep look at it",
        "sexton attach ~/.hermes --act        # and keepers may change it",
        "sexton attach                        # the only Hermes home of this machine",
    ),
)
@click.argument("home", metavar="[PATH]", required=False, type=click.Path(path_type=Path))
@click.option("--act", is_flag=True, help="Keepers may change it, and 'apply' asks once only.")
@click.pass_context
def command(ctx: click.Context, home: Path | None, act: bool) -> None:
    """Have a Hermes home looked after.

    Lists the home in the settings file, which is made if there is none; every other line and
    comment of it stays. From then on 'plan', 'apply', 'keep' and 'serve' look at the home. Without
    --act it is only observed: what Sexton would do is shown, and a person may allow it once.
    Attaching it again changes nothing. In the home itself nothing is changed.
    """
    options = shared(ctx)
    place = the_home(home, "sexton attach")
    _refuse_what_is_no_home(place)
    file = settings_file(options)
    before = settings_text(file)
    if before is not None:
        load_settings(file, os.environ)  # one with mistakes is not touched
    changed = _changed(before or "", place, file, act=act)
    if changed != before:
        write_settings(file, changed, options)
    settings = load_settings(file, os.environ)
    assert settings is not None
    [listed] = [each for each in settings.homes if is_listed(place, [each])]
    if options.json:
        document(
            {
                "name": listed.name,
                "path": str(place),
                "act": listed.act,
                "file": str(file),
                "changed": changed != before,
            }
        )
        return
    mode = "keepers may change it" if listed.act else "only observed"
    again = "was attached already" if changed == before else "is attached"
    say(f"{listed.name} at {place} {again} by {file}: {mode}")
    if not listed.act:
        note(f"'{attach_command(place, act=True)}' lets keepers change it")
    note("'sexton plan' shows what is due, 'sexton apply' does it, 'sexton keep' goes on doing it")


def settings_file(options: Shared) -> Path:
    """The settings file that is meant, which need not exist yet."""
    named = options.config or os.environ.get("SEXTON_CONFIG")
    return Path(named or default_settings(os.environ)).expanduser().absolute()


def _refuse_what_is_no_home(place: Path) -> None:
    from sexton.core.clock import SystemClock
    from sexton.homes.hermes.home import HermesHome

    HermesHome(place, place.name, clock=SystemClock()).rules()  # what can not be read is refused


def settings_text(file: Path) -> str | None:
    """What the settings file says; None if there is none."""
    from sexton.settings import document as reading

    try:
        with file.open("rb") as stream:
            content = stream.read(reading.MAX_BYTES + 1)
        return reading.decode(content)
    except FileNotFoundError:
        return None
    except (OSError, reading.Unreadable) as problem:
        raise SettingsInvalid(f"{file} can not be read: {problem}") from None


def _changed(before: str, place: Path, file: Path, *, act: bool) -> str:
    from sexton.cli.cli_attaching import with_home

    return with_home(before, place, act=act, file=file, environ=os.environ)


def write_settings(file: Path, text: str, options: Shared) -> None:
    """Replace the file whole, where a link leads to; it keeps its permissions."""
    target = file.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if target.exists() else None
    except OSError as problem:
        raise SettingsInvalid(
            f"{file} can not be written: {problem.strerror}",
            hint="Name another settings file with --config.",
        ) from None
    with private_file(target, force=True, ledger=ledger_file(chosen_url(options))) as stream:
        stream.write(text)
    if mode is not None:
        with suppress(OSError):
            os.chmod(target, mode)
