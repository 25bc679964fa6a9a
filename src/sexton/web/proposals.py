"""What was shown to a person and waits for a word?"""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sexton.core.machine_ports import Clock
from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.errors import PlanInvalid
from sexton.keeper.sealing import digest_of
from sexton.operations import planned
from sexton.store.ledger import Ledger

MOST_BYTES = 64_000_000
"""What all remembered proposals take together; the newest is remembered however large it is."""
MOST_AGE = 3600.0
"""Seconds after which a proposal has to be made anew."""
MOST = 1000
"""Digests that are remembered."""
OBJECTS = 8
"""How many times its text an errand takes in memory, by measurement with a wide margin."""
_OVERHEAD = 1000
"""What a digest and its place in the store take, in bytes."""
_PASSING = ("id", "made_at", "digest")
"""What differs between two proposals of the same content."""


@record
class Step:
    """One thing that would be done, to what, and why."""

    kind: str
    verb: str
    what: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of one action that is not a plan's: done or not, and why."""

    is_done: bool
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One action that is not a plan's, with its reason; `carry_out` looks again before it acts.

    `undo` is the query of the proposal that undoes it, if there is one. `steps` are what it would
    do to what, and what it spares.
    """

    kind: str
    home: str | None
    session: str | None
    target: str
    reason: Reason
    reversible: bool
    carry_out: Callable[[str], Done]
    undo: Mapping[str, str] | None = None
    steps: Sequence[Step] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """An errand as it was shown, and the digest by which it is confirmed."""

    digest: str
    shown: planned.Plan
    work: Errand


@dataclass(frozen=True, slots=True)
class _Kept:
    """The packed text of a plan, or an errand, and how many bytes it takes."""

    work: bytes | Errand
    size: int


class Proposals:
    """What was shown lately, by digest: what is confirmed is exactly what was shown.

    Plans are kept as packed text, and plans of the same content once, however often they are
    looked at.
    """

    def __init__(self, clock: Clock, most_bytes: int = MOST_BYTES) -> None:
        self._clock = clock
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        self._shown: OrderedDict[str, tuple[str, float]] = OrderedDict()

    @property
    def size(self) -> int:
        """How many bytes they take, about."""
        with self._lock:
            return self._size()

    def add(self, proposal: Proposal) -> Proposal:
        """Remember an errand that is shown."""
        # Two errands that read alike may be about two processes: each is kept for itself.
        kept = _Kept(proposal.work, OBJECTS * len(_canonical(proposal.shown)))
        self._put(proposal.digest, proposal.digest, kept)
        return proposal

    def add_plan(self, shown: Mapping[str, object]) -> None:
        """Remember a plan that is shown."""
        packed = zlib.compress(_canonical(shown), 1)
        self._put(str(shown["digest"]), _content(shown), _Kept(packed, len(packed)))

    def __contains__(self, digest: str) -> bool:
        """Whether it is remembered."""
        with self._lock:
            self._forget()
            return digest in self._shown

    def of(self, digest: str) -> str | Errand:
        """The text of the plan, or the errand; PlanInvalid if it was shown too long ago."""
        with self._lock:
            self._forget()
            content, _ = self._shown.get(digest, ("", 0.0))
            kept = self._kept.get(content)
        if kept is None:
            raise PlanInvalid(
                "nothing is known that was shown under this digest",
                hint="Ask for the plan again, look at it, and confirm that one.",
            )
        return zlib.decompress(kept.work).decode() if isinstance(kept.work, bytes) else kept.work

    def _put(self, digest: str, content: str, kept: _Kept) -> None:
        with self._lock:
            self._shown.pop(digest, None)
            self._shown[digest] = (content, self._clock.elapsed())
            self._kept[content] = kept
            self._forget()
            while len(self._shown) > 1 and self._is_too_much():
                self._drop_oldest()

    def _is_too_much(self) -> bool:
        return len(self._shown) > MOST or self._size() > self._most_bytes

    def _forget(self) -> None:
        """Drop what was shown too long ago."""
        latest = self._clock.elapsed() - MOST_AGE
        while self._shown and next(iter(self._shown.values()))[1] < latest:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, (content, _) = self._shown.popitem(last=False)
        if all(content != each for each, _ in self._shown.values()):
            del self._kept[content]

    def _size(self) -> int:
        return sum(each.size for each in self._kept.values()) + _OVERHEAD * len(self._shown)


def _content(shown: Mapping[str, object]) -> str:
    """What is the same for two proposals that differ only in when they were made."""
    lasting = {name: value for name, value in shown.items() if name not in _PASSING}
    return hashlib.sha256(_canonical(lasting)).hexdigest()


def _canonical(shown: Mapping[str, object]) -> bytes:
    return json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()


def of_errand(errand: Errand, ledger: Ledger, made_at: str) -> Proposal:
    """An errand in the form in which plans are shown."""
    named: planned.Seen = {"home": errand.home, "id": errand.session}
    shown: planned.Plan = {
        "format": "sexton-errand",
        "version": 1,
        "id": uuid.uuid4().hex,
        "ledger": ledger.id,
        "made_at": made_at,
        "actions": [
            {
                "kind": errand.kind,
                "session": named,
                "target": errand.target,
                "steps": [
                    {"verb": each.verb, "what": each.what, "why": each.why} for each in errand.steps
                ],
                "reason": {"code": errand.reason.code, "text": errand.reason.text},
                "reversible": errand.reversible,
            }
        ],
        "held": [],
        "digest": "",
    }
    content = {name: value for name, value in shown.items() if name != "digest"}
    shown["digest"] = digest_of(content, ledger.plan_key())
    return Proposal(digest=shown["digest"], shown=shown, work=errand)
