"""Where do the ledger and the settings live if nobody says?"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def default_ledger(environ: Mapping[str, str]) -> Path:
    """The ledger's file in this platform's place for data."""
    return data_place(environ) / "ledger.db"


def data_place(environ: Mapping[str, str]) -> Path:
    """This platform's place for data."""
    return _place(environ, "XDG_DATA_HOME", ".local/share")


def default_settings(environ: Mapping[str, str]) -> Path:
    """The settings file in this platform's place for settings."""
    return _place(environ, "XDG_CONFIG_HOME", ".config") / "sexton.yaml"


def _place(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "sexton"
    base = environ.get(variable, "")
    root = Path(base) if os.path.isabs(base) else Path.home() / below_home
    return root / "sexton"
