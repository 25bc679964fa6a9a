"""Which JSON do programs get? The names are stable."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sexton.core.plan import Held, JournalEntry, Outcome, Reason
from sexton.core.session import Session
from sexton.core.wording import iso
from sexton.finalizers.model import Finalization
from sexton.keeper.explain import Explanation
from sexton.keeper.swept import Sweep
from sexton.liveness.model import Holder
from sexton.operations import said


def session(each: Session) -> said.Session:
    """Everything the ledger knows about a session."""
    usage = each.usage
    return {
        "id": each.id,
        "home": each.home,
        "key": each.key,
        "source": each.source,
        "state": each.state,
        "started_at": iso(each.started_at),
        "active_at": iso(each.active_at),
        "due_at": iso(each.due_at),
        "ended_at": iso(each.ended_at),
        "end_reason": each.end_reason,
        "message_count": each.message_count,
        "byte_count": each.byte_count,
        "turn_count": each.turn_count,
        "holders": [holder.worker.id for holder in each.holders],
        "title": each.title,
        "preview": each.preview,
        "chat_type": each.chat_type,
        "job": each.job,
        "parent": each.parent,
        "relation": each.relation,
        "epoch": each.epoch,
        "pinned": each.pinned,
        "human_touched": each.human_touched,
        "errored": each.errored,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_micros": usage.cost_micros,
    }


def holder(each: Holder) -> said.Holder:
    """Who holds a session."""
    return {
        "worker": each.worker.id,
        "kind": each.worker.kind,
        "host": each.worker.identity.host,
        "pid": each.worker.identity.pid,
        "joined_at": iso(each.joined_at),
        "busy_since": iso(each.busy_since),
    }


def journal_entry(each: JournalEntry) -> said.JournalEntry:
    """A line of the journal."""
    return {
        "ref": each.ref,
        "at": iso(each.at),
        "actor": each.actor,
        "receipt": each.receipt,
        "home": each.home,
        "session": each.session,
        "action": each.action,
        "result": each.result,
        "reason": reason(each.reason),
    }


def outcome(each: Outcome) -> said.Outcome:
    """An action and what came of it."""
    return {
        "action": each.action.kind,
        "home": each.action.seen.home,
        "session": each.action.seen.id,
        "result": each.result,
        "reason": reason(each.action.reason),
        "detail": each.detail,
    }


def held(each: Held) -> said.HeldBack:
    """A decision that is held back."""
    return {
        "home": each.seen.home,
        "session": each.seen.id,
        "wanted": reason(each.wanted),
        "holding": reason(each.holding),
    }


def sweep(each: Sweep) -> dict[str, Any]:
    """What one sweep saw and did."""
    return {
        "receipt": each.receipt,
        "finished": each.finished,
        "seconds": round(each.seconds, 3),
        "finalizing": each.finalizing,
        "processes": [
            {
                "action": one.action,
                "pid": one.process.identity.pid,
                "home": one.process.home,
                "session": one.process.session,
                "detail": one.words,
            }
            for one in each.processes
        ],
        "freed": [
            {"session": one.session, "worker": one.worker, "held": dict(one.held)}
            for one in each.freed
        ],
        "observed": [asdict(one) for one in each.observed],
        "outcomes": [outcome(one) for one in each.outcomes],
        "held": [held(one) for one in each.held],
        "troubles": list(each.troubles),
    }


def explanation(each: Explanation) -> said.Explanation:
    """Why a session is as it is."""
    return {
        "session": session(each.session),
        "answers": [
            {"question": one.question, "answer": one.answer, "detail": one.detail}
            for one in each.answers
        ],
        "journal": [journal_entry(entry) for entry in each.journal],
    }


def finalization(each: Finalization) -> said.Finalization:
    """One piece of end-of-session work."""
    return {
        "ref": each.ref,
        "session": each.session,
        "home": each.home,
        "finalizer": each.finalizer,
        "state": each.state,
        "attempts": each.attempts,
        "last_error": each.last_error,
        "note": each.note,
        "crashes": each.crashes,
        "key": each.key,
        "since": each.since,
        "through": each.through,
        "worker": each.worker,
        "owed_at": iso(each.owed_at),
        "not_before": iso(each.not_before),
        "finished_at": iso(each.finished_at),
    }


def reason(each: Reason) -> said.Reason:
    """A reason's code and its words."""
    return {"code": each.code, "text": each.text}
