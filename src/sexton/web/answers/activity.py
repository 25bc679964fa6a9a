"""What goes on in all homes and on all hosts? One cheap answer for those who ask all the time."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from typing import NamedTuple

from typing_extensions import TypedDict

from sexton.core.session import NATIVE
from sexton.core.wording import iso
from sexton.liveness.evidence import Evidence
from sexton.operations.questions.session_questions import standing_of
from sexton.operations.said import Known, Moment
from sexton.sessions.board import Live
from sexton.web.lookout import Lookout
from sexton.wiring import Sexton

MOST = 20_000
"""Open sessions in one answer, those with the latest activity; of the others only their number."""
FRESH = 1.0
"""Seconds for which an answer is good at least."""
SHARE = 10
"""An answer that takes long to find is good for so many times as long."""


class Active(TypedDict):
    """An open session; the first of its workers that is known stands for all."""

    id: str
    home: str
    source: str
    title: str | None
    verdict: Known
    busy: bool
    last_activity: Moment
    started_at: Moment
    worker: str | None
    workers: list[str]
    host: str | None


class AllActive(TypedDict):
    """The open sessions of all homes and hosts; with more than so many, the latest of them."""

    sessions: list[Active]
    truncated: bool


class Snapshot(NamedTuple):
    """An answer as it is sent, its tag, and until when it is good on our own clock."""

    etag: str
    body: bytes
    good_until: float


class Activity:
    """What goes on, found anew when it is asked for and the last answer is too old.

    While one finds it out the others get the last answer, so that nobody waits for long.
    """

    def __init__(self, house: Sexton, lookout: Lookout) -> None:
        self._house = house
        self._lookout = lookout
        self._lock = threading.Lock()
        self._last: Snapshot | None = None
        self._found: _Found | None = None

    def peek(self) -> Snapshot | None:
        """The last answer if it is still good; costs nothing."""
        last = self._last
        if last is None or self._house.clock.monotonic() > last.good_until:
            return None
        return last

    def current(self) -> Snapshot:
        """The last answer if it is still good or somebody finds a newer one already, else a new."""
        good = self.peek()
        if good is not None:
            return good
        last = self._last
        if not self._lock.acquire(blocking=last is None):
            assert last is not None
            return last
        try:
            return self.peek() or self._renew()
        finally:
            self._lock.release()

    def _renew(self) -> Snapshot:
        """A new answer, or where everything is as it was the last one for another while."""
        begun = self._house.clock.monotonic()
        found = self._look()
        if self._last is not None and found == self._found:
            etag, content = self._last.etag, self._last.body
        else:
            said = json.dumps(_told(found), separators=(",", ":"), ensure_ascii=False)
            content = said.encode("utf-8", "replace")
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
        now = self._house.clock.monotonic()
        self._found = found
        self._last = Snapshot(etag, content, now + max(FRESH, SHARE * (now - begun)))
        return self._last

    def _look(self) -> _Found:
        estate, ledger = self._lookout.estate(), self._house.ledger
        workers = {worker.id: worker for worker in ledger.reaping.suspects()}
        homes = ledger.homes.all()
        return _Found(
            live=ledger.board.live(MOST + 1),
            evidence=estate.evidence(workers.values()),
            places={id: worker.identity.host for id, worker in workers.items()},
            hosts={home.name: home.host for home in homes},
            proofs={home.name: estate.owners(home.name) for home in homes if home.name != NATIVE},
        )


class _Found(NamedTuple):
    """What an answer is made of; equal parts make the same answer."""

    live: list[Live]
    evidence: dict[str, Evidence]
    places: dict[str, str]
    hosts: dict[str, str | None]
    proofs: dict[str, Mapping[str, Evidence]]


def _told(found: _Found) -> AllActive:
    sessions = []
    for each in found.live[:MOST]:
        proof = found.proofs.get(each.home, {}).get(each.id)
        held = [id for id, _ in each.holders]
        verdict = standing_of(each.home, held, found.evidence, proof)
        sessions.append(_shape(each, verdict, found.places, found.hosts.get(each.home)))
    return {"sessions": sessions, "truncated": len(found.live) > MOST}


def _shape(each: Live, verdict: Known, places: dict[str, str], home_host: str | None) -> Active:
    worker = next((id for id, _ in each.holders if id in places), None)
    busy = verdict in ("live", "suspect") and any(since is not None for _, since in each.holders)
    return {
        "id": each.id,
        "home": each.home,
        "source": each.source,
        "title": each.title,
        "verdict": verdict,
        "busy": busy,
        "last_activity": iso(each.active_at),
        "started_at": iso(each.started_at),
        "worker": worker,
        "workers": [id for id, _ in each.holders],
        "host": places[worker] if worker else home_host,
    }
