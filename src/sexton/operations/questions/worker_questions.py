"""Which processes hold sessions, on which hosts, and do they live?"""

from __future__ import annotations

from datetime import timedelta

from typing_extensions import TypedDict

from sexton.core.wording import span
from sexton.liveness.worker_view import look_at_workers
from sexton.operations import said
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker


class Host(TypedDict):
    """What is on one machine."""

    host: str
    is_here: bool
    workers: int
    keepers: int
    sessions: int
    dead: int


class Workers(TypedDict):
    """The processes that hold sessions, and the hosts they are on, this machine first."""

    items: list[said.Worker]
    hosts: list[Host]
    next: None


def workers(asker: Asker) -> Workers:
    """The processes that hold sessions, and the hosts they are on."""
    items = [things.worker(each) for each in look_at_workers(asker.look())]
    here = asker.house.processes.myself().host
    hosts: dict[str, Host] = {}
    for each in items:
        name = each["host"]
        none: Host = {
            "host": name,
            "is_here": name == here,
            "workers": 0,
            "keepers": 0,
            "sessions": 0,
            "dead": 0,
        }
        host = hosts.setdefault(name, none)
        host["workers"] += 1
        host["keepers"] += each["kind"] == "keeper"
        host["sessions"] += each["sessions"]
        host["dead"] += each["verdict"] == "dead"
    ordered = sorted(hosts.values(), key=lambda host: (not host["is_here"], host["host"]))
    return {"items": items, "hosts": ordered, "next": None}


def turns_of(each: said.Worker) -> str:
    """How many turns a worker runs, and how many of them make no progress."""
    if not each["busy"]:
        return "idle"
    if not each["stalled"]:
        return f"{each['busy']} busy"
    longest = span(timedelta(seconds=each["stalled_seconds"]))
    return f"{each['busy']} busy, {each['stalled']} stalled for up to {longest}"
