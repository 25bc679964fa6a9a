"""How does a foreign home become one that the ledger knows?"""

from __future__ import annotations

import os
from pathlib import Path

from sexton.homes.hermes.home import HermesHome
from sexton.homes.hermes.inherited import limits
from sexton.ports import Clock, Home, HomeRecord, Ledger
from sexton.settings.values import HomeSetting
from sexton.system.processes import host
from sexton.system.zone import local_zone


def attach(ledger: Ledger, clock: Clock, setting: HomeSetting) -> tuple[Home, HomeRecord]:
    """Open a home and make the ledger know it."""
    path = Path(setting.path).expanduser().resolve()
    HermesHome(path, setting.name, clock=clock)  # refuses what is no home first
    record = ledger.homes.attach(setting.name, setting.kind, str(path), host(), setting.act)
    zone = local_zone(os.environ)
    bounds = limits(setting.max_messages, setting.max_bytes)
    home = HermesHome(
        path, record.name, clock=clock, zone=zone, journal=ledger.journal, limits=bounds
    )
    return home, record
