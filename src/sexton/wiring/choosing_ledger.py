"""Which ledger and which settings are meant?"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sexton.errors import PlatformUnsupported, SettingsNotFound
from sexton.settings.settings_values import Settings, has_overrides
from sexton.wiring.places import default_ledger, default_settings

if TYPE_CHECKING:
    from pathlib import Path


def ledger_url(url: str | None, environ: Mapping[str, str]) -> str:
    """The ledger that was asked for, by argument, by environment or by custom."""
    if os.name != "posix":
        raise PlatformUnsupported("this operating system can not be supported yet")
    return url or environ.get("SEXTON_LEDGER") or default_ledger(environ)


def load_settings(config: str | Path | None, environ: Mapping[str, str]) -> Settings | None:
    """The settings that were given, or None if nothing was: then the ledger's own stand."""
    named = config or environ.get("SEXTON_CONFIG")
    path = named or _existing(default_settings(environ))
    if path is None and not has_overrides(environ):
        return None
    # Most agents have no settings file.
    from sexton.settings.loader import load  # noqa: PLC0415

    return load(None if path is None else expanded(path), environ)


def expanded(named: str | Path) -> Path:
    """The settings file that is meant, `~` and all."""
    from pathlib import Path  # noqa: PLC0415  # slow to load, and few agents name a file

    try:
        return Path(named).expanduser()
    except RuntimeError as problem:
        raise SettingsNotFound(f"the settings file {named} can not be found: {problem}") from None


def _existing(path: str) -> str | None:
    # A directory that may not be read holds no settings for this user.
    return path if os.path.exists(path) else None


def user() -> str:
    """Who this process acts for."""
    try:
        import getpass  # noqa: PLC0415  # few ask who acts

        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
