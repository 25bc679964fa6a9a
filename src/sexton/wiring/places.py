"""Where do the ledger and the settings live if nobody says?"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping


def default_ledger(environ: Mapping[str, str]) -> str:
    """The ledger's file in this platform's place for data."""
    return os.path.join(data_place(environ), "ledger.db")


def data_place(environ: Mapping[str, str]) -> str:
    """This platform's place for data."""
    return _place(environ, "XDG_DATA_HOME", ".local/share")


def default_settings(environ: Mapping[str, str]) -> str:
    """The settings file in this platform's place for settings."""
    return os.path.join(_place(environ, "XDG_CONFIG_HOME", ".config"), "sexton.yaml")


def _place(environ: Mapping[str, str], variable: str, below_home: str) -> str:
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "sexton")
    base = environ.get(variable, "")
    root = base if os.path.isabs(base) else os.path.join(home, below_home)
    return os.path.join(root, "sexton")
