"""What was shown to a person and waits for a word?"""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sexton.core.machine_ports import Clock
from sexton.errors import PlanInvalid
from sexton.operations.verb_proposal import Proposal

MOST_BYTES = 64_000_000
"""What all remembered proposals take together; the newest is remembered however large it is."""
MOST_AGE = 3600.0
"""Seconds after which a proposal has to be made anew."""
MOST = 1000
"""Digests that are remembered."""
OBJECTS = 8
"""How many times its text a proposal takes in memory, by measurement with a wide margin."""
_OVERHEAD = 1000
"""What a digest and its place in the store take, in bytes."""
BESIDE = ("outlook", "troubles")
"""What is told beside a plan, and is none of it."""
_PASSING = ("id", "made_at", "digest")
"""What differs between two proposals of the same content."""


class Written(NamedTuple):
    """A plan that was shown, as text, and the verb it was shown for."""

    verb: str
    text: str


@dataclass(frozen=True, slots=True)
class _Kept:
    """The packed text of a plan, or a proposal, and how many bytes it takes."""

    work: bytes | Proposal
    size: int
    verb: str = ""


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

    def add(self, proposal: Proposal) -> None:
        """Remember a proposal that is shown."""
        if proposal.plan is not None:
            told = {name: value for name, value in proposal.shown.items() if name not in BESIDE}
            self.add_plan(told, proposal.verb)
            return
        # Two proposals that read alike may be about two processes: each is kept for itself.
        kept = _Kept(proposal, OBJECTS * len(_canonical(proposal.shown)), proposal.verb)
        self._put(proposal.digest, proposal.digest, kept)

    def add_plan(self, shown: Mapping[str, object], verb: str = "apply") -> None:
        """Remember a plan that is shown."""
        packed = zlib.compress(_canonical(shown), 1)
        self._put(str(shown["digest"]), _content(shown), _Kept(packed, len(packed), verb))

    def __contains__(self, digest: str) -> bool:
        """Whether it is remembered."""
        with self._lock:
            self._forget()
            return digest in self._shown

    def of(self, digest: str) -> Written | Proposal:
        """What was shown under a digest; PlanInvalid if it was shown too long ago."""
        with self._lock:
            self._forget()
            content, _ = self._shown.get(digest, ("", 0.0))
            kept = self._kept.get(content)
        if kept is None:
            raise PlanInvalid(
                "nothing is known that was shown under this digest",
                hint="Ask for the plan again, look at it, and confirm that one.",
            )
        if isinstance(kept.work, bytes):
            return Written(kept.verb, zlib.decompress(kept.work).decode())
        return kept.work

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
