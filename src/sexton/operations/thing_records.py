"""Which JSON do programs get about processes, files of the vault and budgets?"""

from __future__ import annotations

from datetime import timedelta

from sexton.core.wording import iso
from sexton.keeper.reopening import Reopened
from sexton.liveness.worker_view import SeenWorker
from sexton.operations import said
from sexton.processes.model import Stopped, Watched
from sexton.processes.policy import bearing
from sexton.retention.model import VaultFile
from sexton.retention.restore import Restored
from sexton.spending.budgets import free_from
from sexton.spending.model import Budget, Standing


def process(each: Watched) -> said.Process:
    """A process for programs."""
    mine, who = each.process, each.process.identity
    return {
        "ref": mine.ref,
        "pid": who.pid or None,
        "host": who.host,
        "home": mine.home,
        "session": mine.session,
        "session_state": mine.session_state,
        "task": mine.task,
        "kind": mine.kind,
        "command": mine.command,
        "cwd": mine.cwd,
        "started_at": iso(mine.started_at),
        "registered_by": mine.registered_by,
        "hint": mine.ref < 0,
        "orphan": mine.is_orphan and (mine.ref > 0 or mine.session_state is not None),
        "kept": mine.kept,
        "doing": each.doing,
        "because": each.because,
        "cpu_seconds": each.figures.cpu,
        "io_bytes": each.figures.io,
        "window_seconds": each.figures.seconds,
        "memory_bytes": each.figures.memory,
        "processes": each.figures.processes,
        "ports": list(each.figures.ports),
        "holds_reset": each.holds,
        "holds_until": iso(each.holds_until),
        "bearing": bearing(each),
        "ended_at": iso(mine.ended_at),
        "ended_how": mine.ended_how,
    }


def stopped(each: Stopped) -> said.Stopped:
    """What came of a process, for programs."""
    return {
        "pid": each.pid,
        "result": each.ending,
        "because": each.why or None,
        "command": each.command,
    }


def vault_file(each: VaultFile) -> said.VaultFile:
    """A vault file for programs."""
    return {
        "name": each.name,
        "kind": each.kind,
        "holds": each.holds,
        "home": each.home,
        "source": each.source,
        "host": each.host,
        "place": each.place,
        "state": each.state,
        "worker": each.worker,
        "receipt": each.receipt,
        "made_at": iso(each.made_at),
        "expires_at": iso(each.expires_at),
        "sessions": each.written.sessions,
        "messages": each.written.messages,
        "files": each.written.files,
        "bytes": each.written.bytes,
        "raw_bytes": each.written.raw_bytes,
        "sha256": each.written.sha256,
    }


def restored(each: Restored) -> said.Restored:
    """What came back from a vault file, for programs."""
    return {
        "name": each.file.name,
        "sessions": each.sessions,
        "files": each.files,
        "left": each.left,
        "aside": dict(each.aside),
        "trouble": None if each.trouble is None else str(each.trouble),
    }


def reopened(done: Reopened) -> said.Reopened:
    """What was opened again, for programs."""
    return {
        "opened_again": done.sessions,
        "stayed": done.stayed,
        "work_begun": done.begun,
        "remarks": [{"session": each.session, "says": each.says} for each in done.remarks],
    }


def budget(each: Standing, of: Budget, word: str) -> said.Budget:
    """How a budget stands."""
    meter = each.bound.meter
    return {
        "budget": of.name,
        "scope": meter.scope,
        "subject": meter.subject,
        "unit": meter.unit,
        "period": meter.period,
        "limit": of.limit,
        "spent": each.spent,
        "reserved": each.reserved,
        "added": each.added,
        "action": of.action,
        "state": word,
        "until": iso(free_from(each.bound, each.oldest)),
        "refused_at": iso(each.stopped_at),
    }


def worker(each: SeenWorker) -> said.Worker:
    """A process that holds sessions, what is known of it, and what it is doing."""
    who = each.worker
    return {
        "id": who.id,
        "kind": who.kind,
        "version": who.version,
        "host": who.identity.host,
        "pid": who.identity.pid,
        "registered_at": iso(who.registered_at),
        "beat": who.beat,
        "verdict": each.evidence.verdict,
        "because": list(each.evidence.signals),
        "sessions": each.sessions,
        "busy": each.busy,
        "stalled": len(each.stalls),
        "stalled_seconds": int(max(each.stalls, default=timedelta(0)).total_seconds()),
    }
