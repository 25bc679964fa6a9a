"""Which processes hold sessions, on which hosts, and do they live?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from sexton.core.wording import counted, span
from sexton.liveness.evidence import Verdict
from sexton.liveness.worker_view import SeenWorker, look_at_workers
from sexton.web.desk import Desk
from sexton.web.pages.showing import show


def workers(desk: Desk) -> Response:
    """Every worker under its host, this machine first."""
    by_host: dict[str, list[SeenWorker]] = {}
    for each in look_at_workers(desk.lookout.estate()):
        by_host.setdefault(each.worker.identity.host, []).append(each)
    here = desk.house.processes.myself().host
    hosts = sorted(by_host, key=lambda name: (name != here, name))
    told = [_host(name, by_host[name], is_here=name == here) for name in hosts]
    return show(desk, "workers.html", page="workers", hosts=told)


def _host(name: str, seen: Sequence[SeenWorker], *, is_here: bool) -> Mapping[str, Any]:
    sessions = sum(each.sessions for each in seen)
    dead = sum(each.evidence.verdict is Verdict.DEAD for each in seen)
    words = [
        counted(len(seen), "worker"),
        counted(sessions, "session"),
        f"{dead} dead" if dead else "",
        "this machine" if is_here else "",
    ]
    return {
        "name": name,
        "says": ", ".join(filter(None, words)),
        "workers": [_worker(each) for each in seen],
    }


def _worker(each: SeenWorker) -> Mapping[str, Any]:
    worker = each.worker
    return {
        "id": worker.id,
        "kind": worker.kind,
        "pid": worker.identity.pid,
        "verdict": each.evidence.verdict.value,
        "sessions": each.sessions,
        "turns": _turns(each),
        "since": worker.registered_at,
        "beat": worker.beat,
        "because": "; ".join(each.evidence.signals),
    }


def _turns(each: SeenWorker) -> str:
    if not each.busy:
        return "idle"
    if not each.stalls:
        return f"{each.busy} busy"
    return f"{each.busy} busy, {len(each.stalls)} stalled for up to {span(max(each.stalls))}"
