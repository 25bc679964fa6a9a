"""What is there beside sessions: processes, workers, work that is owed, the journal, the vault?"""

from __future__ import annotations

from typing_extensions import TypedDict

from sexton.core.wording import iso
from sexton.finalizers.job import Wanted
from sexton.finalizers.model import FinalizationState
from sexton.homes.home_ports import HomeRecord
from sexton.liveness.worker_view import look_at_workers
from sexton.operations import said, values
from sexton.operations import thing_records as things
from sexton.operations.said import Moment
from sexton.processes.listed import hints, view
from sexton.retention.removal_ports import WantedFiles
from sexton.retention.vault_ports import VaultKind
from sexton.web.desk import Desk


class RunningProcess(said.Process):
    """A process, and by what it is named in `/v1/plan`."""

    ref: int


class Processes(TypedDict):
    """A page of processes."""

    items: list[RunningProcess]
    next: str | None


class Host(TypedDict):
    """What is on one machine."""

    host: str
    workers: int
    keepers: int
    sessions: int
    dead: int


class Workers(TypedDict):
    """The processes that hold sessions, and the hosts they are on."""

    items: list[said.Worker]
    hosts: list[Host]


class Home(TypedDict):
    """A place where an agent keeps its sessions."""

    name: str
    kind: str
    path: str | None
    host: str | None
    act: bool
    observed_at: Moment | None


class Homes(TypedDict):
    """Where agents keep sessions, and the sources these come from."""

    items: list[Home]
    sources: list[str]


class Work(said.Finalization):
    """End-of-session work, and by what it is named in `/v1/plan`."""

    ref: int


class Tally(TypedDict):
    """How much work of a finalizer is in a state."""

    finalizer: str
    state: FinalizationState
    count: int


class Finalizers(TypedDict):
    """A page of end-of-session work, and how much of each finalizer is not done."""

    items: list[Work]
    next: str | None
    tally: list[Tally]


class Journal(TypedDict):
    """A page of the journal."""

    items: list[said.JournalEntry]
    next: str | None


class KeptFile(said.VaultFile):
    """A file of the vault, and where it is in the order of all."""

    ref: int


class Vault(TypedDict):
    """A page of what lies in the trash and the archive."""

    items: list[KeptFile]
    next: str | None


def processes(desk: Desk, *, ended: bool, before: int | None, limit: int) -> Processes:
    """The background processes of sessions, or with `ended` a page of all of the last week."""
    estate, registry = desk.lookout.estate(), desk.house.ledger.registry
    found = registry.page(before, limit) if ended else registry.running()
    watched = view(estate, found) + ([] if ended else hints(estate, found))
    items: list[RunningProcess] = [
        {**things.process(each), "ref": each.process.ref} for each in watched
    ]
    more = found[-1].ref if ended and len(found) == limit else None
    return {"items": items, "next": None if more is None else str(more)}


def workers(desk: Desk) -> Workers:
    """Every process that holds sessions, and the hosts they are on."""
    items = [things.worker(each) for each in look_at_workers(desk.lookout.estate())]
    hosts: dict[str, Host] = {}
    for each in items:
        name = each["host"]
        none: Host = {"host": name, "workers": 0, "keepers": 0, "sessions": 0, "dead": 0}
        host = hosts.setdefault(name, none)
        host["workers"] += 1
        host["keepers"] += each["kind"] == "keeper"
        host["sessions"] += each["sessions"]
        host["dead"] += each["verdict"] == "dead"
    return {"items": items, "hosts": [hosts[name] for name in sorted(hosts)]}


def homes(desk: Desk) -> Homes:
    """Where agents keep sessions, as far as the ledger knows."""
    items = [told(each) for each in desk.house.ledger.homes.all()]
    return {"items": items, "sources": desk.house.ledger.board.sources(200)}


def told(each: HomeRecord) -> Home:
    """A home as the ledger knows it."""
    return {
        "name": each.name,
        "kind": each.kind,
        "path": each.path,
        "host": each.host,
        "act": each.act,
        "observed_at": iso(each.observed_at),
    }


def finalizers(
    desk: Desk,
    state: FinalizationState | None,
    finalizer: str | None,
    before: int | None,
    limit: int,
) -> Finalizers:
    """A page of end-of-session work, newest first, and how much of each finalizer is not done."""
    finalizing, content = desk.house.ledger.finalizing, desk.house.content
    found = finalizing.page(Wanted(state=state, finalizer=finalizer), before, limit)
    return {
        "items": [{**values.finalization(content.job(each)), "ref": each.ref} for each in found],
        "next": str(found[-1].ref) if len(found) == limit else None,
        "tally": [
            {"finalizer": name, "state": state, "count": count}
            for (name, state), count in sorted(finalizing.tally().items())
        ],
    }


def journal(
    desk: Desk, session: str | None, receipt: str | None, before: int | None, limit: int
) -> Journal:
    """A page of the journal, newest first."""
    about = None if session is None else desk.house.find(session)
    found = desk.house.ledger.journal.page(about, receipt, before, limit)
    return {
        "items": [values.journal_entry(each) for each in found],
        "next": str(found[-1].ref) if len(found) == limit else None,
    }


def vault(desk: Desk, kind: VaultKind | None, after: int, limit: int) -> Vault:
    """A page of what lies in the trash and the archive, in the order it was put there."""
    found = desk.house.ledger.vault.page(WantedFiles(kind=kind), after, limit)
    return {
        "items": [{**things.vault_file(each), "ref": each.ref} for each in found],
        "next": str(found[-1].ref) if len(found) == limit else None,
    }
