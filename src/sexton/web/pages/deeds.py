"""Which plans were shown, and what came of what was asked for?"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

from sexton.engine.plan_file import digest_of
from sexton.errors import PlanInvalid
from sexton.model.plan import Plan
from sexton.model.record import record
from sexton.web.pages.plans import Group

T = TypeVar("T")

MOST = 64


class Shelf(Generic[T]):
    """The newest few of something, by name."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, T] = OrderedDict()

    def put(self, name: str, value: T) -> None:
        """Keep it; of too many the oldest goes."""
        with self._lock:
            self._kept[name] = value
            self._kept.move_to_end(name)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def get(self, name: str) -> T | None:
        """What was kept under a name, if it is still there."""
        with self._lock:
            return self._kept.get(name)


@record
class Deed:
    """What came of something that was asked for, and where its undoing is asked for."""

    words: str
    tone: str = "good"
    outcomes: tuple[Group, ...] = ()
    undo: str | None = None


class Deeds:
    """Plans that were shown and may be confirmed, and what was done under which receipt."""

    def __init__(self) -> None:
        self._plans: Shelf[Plan] = Shelf()
        self.done: Shelf[Deed] = Shelf()

    def show(self, plan: Plan) -> str:
        """Remember a plan that is shown; the digest by which it is confirmed."""
        digest = digest_of(plan)
        self._plans.put(digest, plan)
        return digest

    def confirmed(self, digest: str) -> Plan:
        """The plan that was shown under a digest."""
        plan = self._plans.get(digest)
        if plan is None:
            raise PlanInvalid(
                "that plan was shown too long ago, or before this server was started",
                hint="Look at the plan anew; nothing was changed.",
            )
        return plan
