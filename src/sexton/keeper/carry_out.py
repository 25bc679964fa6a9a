"""Carries out what ends, warns or reaps sessions, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from sexton.core.plan import (
    Action,
    ArchiveSession,
    EndSession,
    ReapSession,
    Reason,
    RemoveFiles,
    Result,
    Seen,
    TrashSession,
    WarnSession,
)
from sexton.core.session import NATIVE
from sexton.errors import HomeObserved
from sexton.homes.home_ports import Home
from sexton.keeper.keeper_context import Estate
from sexton.liveness.shadow import entry_of
from sexton.resets.policy import is_for_size, open_in_terminal
from sexton.store.journal import Entry


def tend(estate: Estate, batch: Sequence[Action], receipt: str) -> list[bool]:
    """Carry out a batch of one kind; whether each still was as the plan had seen it."""
    now = estate.clock.now()
    entries = [entry_of(estate, action, receipt, Result.DONE) for action in batch]
    match batch[0]:
        case EndSession(seen=seen, reason=reason):
            return [_end(estate, seen, reason, entries[0])]
        case WarnSession(seen=seen, limit=limit):
            return [estate.ledger.index.warn(seen, limit, entries[0], now)]
        case ReapSession(seen=seen):
            reaps = [each for each in batch if isinstance(each, ReapSession)]
            done = _home(estate, seen).reap(list(zip(reaps, entries, strict=True)), now)
            if seen.home != NATIVE:
                _let_go_of(estate, [each for each, ended in zip(reaps, done, strict=True) if ended])
            return done
        case TrashSession(seen=seen) | ArchiveSession(seen=seen) | RemoveFiles(seen=seen):
            raise HomeObserved(f"the home '{seen.home}' does not let its sessions be removed")
        case never:
            assert_never(never)


def _end(estate: Estate, seen: Seen, reason: Reason, entry: Entry) -> bool:
    """End a session; the ledger knows of it and of why at once, also where a home keeps it."""
    now = estate.clock.now()
    if seen.home == NATIVE:
        return _home(estate, seen).end(seen, reason, entry, now)
    known = estate.ledger.index.find(seen.home, seen.id)
    if known and known[0].pinned != seen.pinned:  # a pin of the ledger's is in no row of a home
        return False
    if known and is_for_size(reason, seen.home):
        # Since the plan was made a person may have opened a terminal.
        proof = estate.proof_now(known[0])
        if open_in_terminal(reason, known[0], proof) is not None:
            return False
    done = _home(estate, seen).end(seen, reason, entry, now)
    if done and known:
        estate.ledger.book.end_now(known[0], reason.code, now)
    return done


def _let_go_of(estate: Estate, reaped: list[ReapSession]) -> None:
    """Take the dead off sessions that ended elsewhere: the ledger has not ended them itself."""
    held = [(each.seen.ref, worker) for each in reaped for worker, _ in each.dead]
    estate.ledger.reaping.release(held)


def _home(estate: Estate, seen: Seen) -> Home:
    home = estate.homes.get(seen.home)
    if home is None:
        raise HomeObserved(f"the home '{seen.home}' is not attached here")
    if estate.is_observed(seen.home):
        raise HomeObserved(f"the home '{seen.home}' is only observed")
    return home
