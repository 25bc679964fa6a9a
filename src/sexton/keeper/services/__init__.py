"""How does a keeper run for as long as the machine does? As a service of this user."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from sexton.errors import PlatformUnsupported
from sexton.keeper.services.launchd import Launchd
from sexton.keeper.services.systemd import Systemd


def service_here(environ: Mapping[str, str]) -> Systemd | Launchd:
    """What starts services on this platform."""
    home = Path.home()
    if sys.platform == "darwin":
        return Launchd(home)
    if sys.platform == "linux":
        named = environ.get("XDG_CONFIG_HOME", "")
        return Systemd(Path(named) if named.startswith("/") else home / ".config")
    raise PlatformUnsupported("services are written for systemd and launchd only")
