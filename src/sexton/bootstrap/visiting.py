"""How does a process of another program become a worker of the ledger?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sexton.agent.visiting import Visitor
from sexton.bootstrap import Sexton
from sexton.bootstrap.enrolling import desk_for
from sexton.bootstrap.finding import ledger_url, load_settings
from sexton.errors import SextonError
from sexton.ledger.opening import open_ledger
from sexton.ports import HomeRecord
from sexton.settings.values import Settings
from sexton.system.processes import host


def open_patiently(environ: Mapping[str, str], patience: float) -> Sexton:
    """The usual ledger and settings, for whoever must not wait long."""
    settings = load_settings(None, environ)
    ledger = open_ledger(ledger_url(None, environ), patience=patience)
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
