"""How does a foreign home become one that the ledger knows?"""

from __future__ import annotations

import os
from pathlib import Path

from sexton.core.machine_ports import Clock
from sexton.core.zone import local_zone
from sexton.homes.hermes.home import HermesHome
from sexton.homes.hermes.inherited import limits
from sexton.homes.home_ports import Home, HomeRecord
from sexton.liveness.process_identity import host
from sexton.settings.settings_values import HomeSetting
from sexton.store.ledger import Ledger


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
