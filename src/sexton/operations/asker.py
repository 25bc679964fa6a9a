"""Who asks, and with which homes the answer is found."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sexton.core.session import Session
from sexton.keeper.keeper_context import Estate
from sexton.processes.model import Process
from sexton.wiring.reaching import everywhere, reaching

if TYPE_CHECKING:
    from sexton.liveness.missed_heartbeats import Watch
    from sexton.wiring import Sexton

BY_OPERATOR = "asked for by an operator"
BY_AGENT = "asked for by the agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The ledger as one caller may ask about it and change it.

    `sessions` finds the session of a name, and `processes` lists those that may be named; both are
    narrower for an agent. `watch` is what was heard of heartbeats, where somebody listens; `known`
    is an estate for questions that may be a moment old.
    `is_confirming` says that a person is shown a proposal before it is carried out.
    """

    house: Sexton
    sessions: Callable[[str], Session] | None = None
    processes: Callable[[], list[Process]] | None = None
    watch: Callable[[], Watch] | None = None
    known: Callable[[], Estate] | None = None
    is_agent: bool = False
    is_confirming: bool = True

    @property
    def words(self) -> str:
        """How the journal says who asked."""
        return BY_AGENT if self.is_agent else BY_OPERATOR

    def find(self, name: str) -> Session:
        """The session that a name means, if the caller may ask about it."""
        return (self.sessions or self.house.find)(name)

    def estate(self, names: Collection[str] = ()) -> Estate:
        """What is known now; reaches the listed homes and those that are named."""
        return self._heard(reaching(self.house, names))

    def everywhere(self) -> Estate:
        """What is known now; reaches every home of this machine that the ledger knows."""
        return self._heard(everywhere(self.house))

    def look(self) -> Estate:
        """What questions are answered from."""
        return self.everywhere() if self.known is None else self.known()

    def _heard(self, estate: Estate) -> Estate:
        return estate if self.watch is None else replace(estate, watch=self.watch())
