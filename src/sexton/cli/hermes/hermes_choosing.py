"""Which Hermes is meant: which home, and which interpreter runs it?"""

from __future__ import annotations

import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import click

from sexton.errors import HomeNotFound, HomeRefused, InputInvalid
from sexton.integrations.interpreters import Interpreter

CONFIG = "config.yaml"
PLUGIN = "sexton"
AGENT = "hermes-agent"

python_option = click.option(
    "--python",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The interpreter that runs Hermes; without it the one of the 'hermes' on the PATH.",
)
home_argument = click.argument("home", type=click.Path(path_type=Path), required=False)


def chosen_home(named: Path | None) -> Path:
    """The home that is meant: the one named, HERMES_HOME, or the usual one."""
    home = named or Path(os.environ.get("HERMES_HOME", "").strip() or "~/.hermes")
    home = home.expanduser()
    if not home.is_dir():
        raise HomeNotFound(f"there is no Hermes home at {home}", hint="Name its directory.")
    return home.resolve()


def chosen_interpreter(named: Path | None) -> Interpreter:
    """The interpreter that runs Hermes."""
    return Interpreter(Path(os.path.abspath(named)) if named else _behind_command())


def _behind_command() -> Path:
    """The interpreter that the first line of the command names."""
    command = shutil.which("hermes")
    if command is None:
        raise InputInvalid(
            "there is no 'hermes' on the PATH", hint="Name its interpreter with --python."
        )
    with open(command, "rb") as script:
        first = script.readline(4096)
    words = shlex.split(first[2:].decode(errors="replace")) if first.startswith(b"#!") else []
    if not words or "python" not in Path(words[-1]).name:
        raise InputInvalid(
            f"{command} does not say which Python runs it",
            hint="Name its interpreter with --python.",
        )
    return Path(words[-1])


def read_config(home: Path) -> str:
    """The text of a home's configuration; nothing where there is none."""
    try:  # as it is: the ends of its lines are somebody's choice
        return (home / CONFIG).read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as problem:
        raise HomeRefused(f"{home / CONFIG} can not be read: {problem}") from None


def write_config(home: Path, text: str) -> None:
    """Replace the configuration whole; one that was made for the plugin alone goes with it."""
    file = (home / CONFIG).resolve()
    if not text:
        file.unlink(missing_ok=True)
        return
    try:
        with NamedTemporaryFile(dir=file.parent, prefix=f".{CONFIG}.", delete=False) as new:
            new.write(text.encode())
            new.flush()
            os.fsync(new.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(file, new.name)
        os.replace(new.name, file)
    except OSError as problem:
        raise HomeRefused(f"{file} can not be written: {problem}") from None
