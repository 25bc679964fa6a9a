"""What has changed in the foreign homes?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sexton.core.session import Session
from sexton.errors import HomeRewound
from sexton.homes.home_ports import HomeRecord, Homes, Observable
from sexton.keeper.keeper_context import Estate
from sexton.resets.policy import ResetPolicy
from sexton.rules.rulebook import Rulebook, decode, encode

_NO_RESETS = Rulebook(reset=ResetPolicy(warn_messages=None, warn_bytes=None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What one look at one home brought into the ledger."""

    home: str
    seen: int = 0
    gone: int = 0


@dataclass(frozen=True, slots=True)
class LedgerKnows:
    """Implements `ports.Known` for one home."""

    homes: Homes
    record: HomeRecord

    def open_ids(self) -> frozenset[str]:
        return frozenset(self.homes.ids(self.record, open_only=True))

    def all_ids(self) -> frozenset[str]:
        return frozenset(self.homes.ids(self.record, open_only=False))


def observe_home(
    estate: Estate, home: Observable, record: HomeRecord, *, anew: bool = False
) -> Observed:
    """Bring what changed in one home into the ledger, part by part; or all of it, anew."""
    homes = estate.ledger.homes
    # By its place: a ledger that was set back may have given its number to another home.
    place = (record.host, record.path)
    known = next((each for each in homes.all() if (each.host, each.path) == place), None)
    if known is None:
        raise HomeRewound(
            f"the ledger was set back and does not know the home '{record.name}' any more; "
            "nothing was done, and the next look tells it anew"
        )
    record = known
    result = Observed(home=record.name)
    rulebook = _rulebook(estate, home)
    rules = encode(rulebook)
    # Other rules mean other due times for every session, so everything is looked at again.
    mark = record.mark if rules == record.rules and not anew else None
    timeless = _is_timeless(rulebook)
    for sighting in home.look(mark, LedgerKnows(homes, record)):
        seen = sighting.seen
        if not timeless:
            seen = tuple(_with_due(session, rulebook) for session in seen)
        homes.store(record, replace(sighting, seen=seen), rules, estate.clock.now())
        result = replace(
            result, seen=result.seen + len(seen), gone=result.gone + len(sighting.gone)
        )
    return result


def _rulebook(estate: Estate, home: Observable) -> Rulebook:
    """The resets are the home's own; when silence counts as death the ledger says for all."""
    own = home.rules()
    return replace(decode(own) if own else _NO_RESETS, liveness=estate.rules(None).rules.liveness)


def _is_timeless(rulebook: Rulebook) -> bool:
    """Whether no session is ever due; a first look brings them by the hundred thousand."""
    policies = (rulebook.reset, *(rule.policy for rule in rulebook.reset_rules))
    ends = any(
        policy.has_clock or policy.max_messages is not None or policy.max_bytes is not None
        for policy in policies
    )
    return not ends and not rulebook.liveness.inactivity_bound


def _with_due(session: Session, rulebook: Rulebook) -> Session:
    due = rulebook.schedule(session, 0).at if session.is_open else None
    return session if due == session.due_at else replace(session, due_at=due)
