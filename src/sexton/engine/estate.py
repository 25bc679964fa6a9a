"""Everything a keeper works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from sexton.model.evidence import Sight
from sexton.model.session import NATIVE, Session
from sexton.policies.liveness import is_busy
from sexton.policies.reset import ResetPolicy
from sexton.policies.rulebook import InForce, Rulebook, decode, digest, encode
from sexton.ports import Clock, Home, HomeRecord, Ledger, ProcessTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """The ledger, its homes that can be reached from here, and the rules in force."""

    ledger: Ledger
    clock: Clock
    processes: ProcessTable
    rules: Callable[[int | None], InForce]
    homes: Mapping[str, Home]
    records: Mapping[str, HomeRecord] = field(default_factory=dict)
    unreachable: tuple[str, ...] = ()
    actor: str

    def sights(self, session: Session) -> dict[str, Sight]:
        """What can be seen of each holder's process."""
        return {
            holder.worker.id: self.processes.look(holder.worker.identity)
            for holder in session.holders
        }

    def is_busy(self, session: Session) -> bool:
        """Whether a turn runs in the session."""
        # Only a marked holder is worth a look at its process.
        marked = tuple(holder for holder in session.holders if holder.busy_since is not None)
        busy = replace(session, holders=marked)
        return is_busy(busy, self.sights(busy))


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of every home at one moment."""

    in_force: InForce
    of_home: Mapping[str, Rulebook]
    are_in_force: bool = True

    def reset_policy(self, session: Session) -> ResetPolicy | None:
        """The reset policy of a session; None where its home has no rules of its own."""
        if session.home == NATIVE:
            return self.in_force.rules.reset_policy(session)
        rulebook = self.of_home.get(session.home)
        return None if rulebook is None else rulebook.reset_policy(session)


def rules_now(estate: Estate, wanted: Rulebook | None = None) -> Rules:
    """The rules in force, or those wanted instead, and those that foreign homes bring along."""
    own = {home.name: decode(home.rules) for home in estate.ledger.homes.all() if home.rules}
    in_force = estate.rules(None)
    if wanted is None or digest(encode(wanted)) == in_force.digest:
        return Rules(in_force, own)
    return Rules(InForce(in_force.serial, digest(encode(wanted)), wanted), own, False)
