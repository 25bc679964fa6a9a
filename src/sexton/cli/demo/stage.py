"""On what is the demonstration given? A throw-away home and a throw-away ledger."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sexton.cli.demo.servers import preview_servers
from sexton.cli.terminal import progress
from sexton.core.clock import SystemClock
from sexton.core.zone import local_zone
from sexton.errors import InputInvalid
from sexton.homes.hermes.demo.demo_writer import write_home
from sexton.retention.policy import Retention, RetentionClass
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton

HOME = "demo"
RULES = Rulebook(retention=Retention(general=RetentionClass(database_only=True)))
"""As usual, but the files of sessions that have ended go at once: the database has it all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The home, and the ledger that knows it."""

    opened: Sexton
    setting: HomeSetting


@contextmanager
def staged(keep_in: Path | None) -> Iterator[Stage]:
    """A damaged home with two servers that run; all of it is gone afterwards, or kept if asked."""
    folder = _folder(keep_in)
    try:
        home = folder / "hermes"
        (folder / "site").mkdir()
        with preview_servers(folder / "site") as servers:
            with progress("writing a damaged home"):
                write_home(home, SystemClock().now(), local_zone(os.environ), servers)
            setting = HomeSetting(path=home, name=HOME, act=True)
            settings = Settings(rulebook=RULES, homes=(setting,))
            with Sexton(open_ledger(str(folder / "ledger.db")), settings) as opened:
                opened.publish()
                yield Stage(opened=opened, setting=setting)
    finally:
        if keep_in is None:
            shutil.rmtree(folder, ignore_errors=True)


def _folder(keep_in: Path | None) -> Path:
    if keep_in is None:
        return Path(tempfile.mkdtemp(prefix="sexton-demo-"))
    try:
        keep_in.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise InputInvalid(
            f"{keep_in} is there already", hint="Name a directory that does not exist yet."
        ) from None
    except OSError as problem:
        raise InputInvalid(
            f"{keep_in} can not be made: {problem.strerror}",
            hint="Name a directory where you may write.",
        ) from None
    return keep_in.resolve()
