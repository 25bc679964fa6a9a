"""How does a process of another program become a worker of the ledger?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sexton.errors import SextonError
from sexton.homes.home_ports import HomeRecord
from sexton.liveness.process_identity import host
from sexton.sessions.visiting import Visitor
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import ledger_url, load_settings
from sexton.wiring.enrolling import desk_for


def open_patiently(environ: Mapping[str, str], patience: float, *, create: bool = True) -> Sexton:
    """The usual ledger and settings, for whoever must not wait long."""
    settings = load_settings(None, environ)
    ledger = open_ledger(ledger_url(None, environ), create=create, patience=patience)
    opened = Sexton(ledger, settings or Settings())
    if settings is not None:
        try:
            opened.publish()
        except SextonError:
            opened.close()
            raise
    return opened


def visit(opened: Sexton, path: Path, kind: str) -> Visitor:
    """Register this process as one that works in a home; a home that is known stays as it is."""
    return Visitor(desk_for(opened, kind), _record(opened, path.resolve(), kind))


def _record(opened: Sexton, path: Path, kind: str) -> HomeRecord:
    here = (str(path), host())
    for each in opened.ledger.homes.all():
        if (each.path, each.host) == here:
            return each
    listed = {setting.path.expanduser().resolve(): setting for setting in opened.settings.homes}
    named = listed.get(path)
    name, act = (named.name, named.act) if named else (kind, False)
    return opened.ledger.homes.attach(name, kind, *here, act)
