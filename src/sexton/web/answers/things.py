"""What is there beside sessions: processes, workers, work that is owed, the journal, the vault?"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sexton.engine.process_view import hints, view
from sexton.engine.worker_view import look_at_workers
from sexton.model.finalization import FinalizationState
from sexton.ports.finalizing import Wanted
from sexton.ports.removal import WantedFiles
from sexton.ports.vault import VaultKind
from sexton.shapes import things, values
from sexton.shapes.wording import iso
from sexton.web.desk import Desk


def processes(desk: Desk, *, ended: bool, before: int | None, limit: int) -> dict[str, Any]:
    """The background processes of sessions, or with `ended` a page of all of the last week."""
    estate, registry = desk.lookout.estate(), desk.house.ledger.registry
    found = registry.page(before, limit) if ended else registry.running()
    watched = view(estate, found) + ([] if ended else hints(estate, found))
    items = [things.process(each) | {"ref": each.process.ref} for each in watched]
    more = found[-1].ref if ended and len(found) == limit else None
    return {"items": items, "next": None if more is None else str(more)}


def workers(desk: Desk) -> dict[str, Any]:
    """Every process that holds sessions, and the hosts they are on."""
    items = [things.worker(each) for each in look_at_workers(desk.lookout.estate())]
    hosts: defaultdict[str, dict[str, int]] = defaultdict(
        lambda: {"workers": 0, "keepers": 0, "sessions": 0, "dead": 0}
    )
    for each in items:
        host = hosts[each["host"]]
        host["workers"] += 1
        host["keepers"] += each["kind"] == "keeper"
        host["sessions"] += each["sessions"]
        host["dead"] += each["verdict"] == "dead"
    return {
        "items": items,
        "hosts": [{"host": name, **counts} for name, counts in sorted(hosts.items())],
    }


def homes(desk: Desk) -> dict[str, Any]:
    """Where agents keep sessions, as far as the ledger knows."""
    items = [
        {
            "name": each.name,
            "kind": each.kind,
            "path": each.path,
            "host": each.host,
            "act": each.act,
            "observed_at": iso(each.observed_at),
        }
        for each in desk.house.ledger.homes.all()
    ]
    return {"items": items, "sources": desk.house.ledger.board.sources(200)}


def finalizers(
    desk: Desk,
    state: FinalizationState | None,
    finalizer: str | None,
    before: int | None,
    limit: int,
) -> dict[str, Any]:
    """A page of end-of-session work, newest first, and how much of each finalizer is not done."""
    finalizing = desk.house.ledger.finalizing
    found = finalizing.page(Wanted(state=state, finalizer=finalizer), before, limit)
    return {
        "items": [values.finalization(each) | {"ref": each.ref} for each in found],
        "next": str(found[-1].ref) if len(found) == limit else None,
        "tally": [
            {"finalizer": name, "state": state.value, "count": count}
            for (name, state), count in sorted(finalizing.tally().items())
        ],
    }


def journal(
    desk: Desk, session: str | None, receipt: str | None, before: int | None, limit: int
) -> dict[str, Any]:
    """A page of the journal, newest first."""
    about = None if session is None else desk.house.find(session)
    found = desk.house.ledger.journal.page(about, receipt, before, limit)
    return {
        "items": [values.journal_entry(each) for each in found],
        "next": str(found[-1].ref) if len(found) == limit else None,
    }


def vault(desk: Desk, kind: VaultKind | None, after: int, limit: int) -> dict[str, Any]:
    """A page of what lies in the trash and the archive, in the order it was put there."""
    found = desk.house.ledger.vault.page(WantedFiles(kind=kind), after, limit)
    return {
        "items": [things.vault_file(each) | {"ref": each.ref} for each in found],
        "next": str(found[-1].ref) if len(found) == limit else None,
    }
