"""How are processes of sessions stopped, so that the ledger knows of it before and after?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from sexton.core.message import one_line
from sexton.core.plan import Reason
from sexton.core.record import replace
from sexton.keeper.keeper_context import Estate
from sexton.processes.handling import Occasion
from sexton.processes.masking import masked
from sexton.processes.model import Ending, Process, Spared, Stopped, never
from sexton.processes.policy import AWAITED
from sexton.store.journal import Entry

log = logging.getLogger("sexton.processes")

PAUSE = timedelta(minutes=5)
STOPPED = "stop_process"
"""What the journal calls it."""
KEPT = "it is kept"
OPEN = "it belongs to a session that is open"
AT_WORK = "it is an agent or a keeper at work"
UNBORN = "it is about to be started"

Due = Sequence[tuple[Process, Occasion]]


class Attempt(NamedTuple):
    """An attempt to stop a process: what came of its tree, and why it is there still, if it is."""

    process: Process
    words: str
    why: str


def stop_due(estate: Estate, due: Due) -> list[Attempt]:
    """Stop processes because the policies say so, all at once; what came of each.

    Each is read again before: a person may have kept it meanwhile, or its session been revived.
    One that could not be stopped is left alone for a while: an attempt takes its time.
    """
    overseer, now = estate.overseer, estate.clock.now()
    running = {each.ref: each for each in overseer.registry.running()}
    overseer.in_vain = {
        ref: at for ref, at in overseer.in_vain.items() if ref in running and abs(now - at) < PAUSE
    }
    worth_it = running.keys() - overseer.in_vain.keys()
    still = [
        (running[each.ref], occasion)
        for each, occasion in due
        if each.ref in worth_it and _is_as_it_was(each, running[each.ref])
    ]
    if not still:
        return []
    chosen = [each for each, _ in still]
    spare = [*_of_others(estate, chosen, list(running.values())), *at_work(estate)]
    found = overseer.stopper.find(chosen, spare=spare)
    for each, why in still:
        if _is_found(each, found):  # one that can not be killed is met again by every sweep
            line = entry(estate, each, "signal_process", "begun", Reason("stop", f"{why}"))
            overseer.registry.tell(
                each.ref, since_end(each, f"signal {why}"), estate.clock.now(), line
            )
    done = overseer.stopper.stop(chosen, overseer.policy.grace, spare=spare)
    attempts = []
    for each, occasion in still:
        mine = [one for one in done if one.row == each.ref]
        words = outcome(mine)
        attempts.append(Attempt(each, words, _why(mine)))
        if attempts[-1].why:
            overseer.in_vain[each.ref] = now
        else:
            line = entry(estate, each, STOPPED, "done", Reason(str(occasion), words))
            overseer.registry.end(each.ref, words, estate.clock.now(), line)
            log.info("%s: stopped %s (%s): %s", session_of(each), each.name, words, each.shown)
    return attempts


def as_they_run(estate: Estate, processes: Sequence[Process]) -> list[Process]:
    """The processes with what each runs now, which need not be what it was registered with."""
    return [_as_it_runs(estate, each) for each in processes]


def _as_it_runs(estate: Estate, process: Process) -> Process:
    who = process.identity
    found = estate.overseer.describe(who.pid) if who.pid else None
    if found is None or replace(found.identity, inode=who.inode, uid=who.uid) != who:
        return process
    return replace(process, command=masked(found.command))


def keep_process(
    estate: Estate,
    process: Process,
    kept: bool,
    receipt: str,
    asked: str,
    *,
    by_agent: bool = False,
) -> bool:
    """Keep a process from being stopped by policy, or not any more.

    False if it has ended, or is a person's to release and an agent asks.
    """
    action = "keep_process" if kept else "release_process"
    line = replace(entry(estate, process, action, "done", Reason("asked", asked)), receipt=receipt)
    now = estate.clock.now()
    return estate.overseer.registry.keep(process.ref, kept, now, line, by_agent=by_agent)


def stop_processes(
    estate: Estate,
    processes: Sequence[Process],
    receipt: str,
    *,
    confirmed: bool,
    asked: str = "asked for with 'sexton processes stop'",
    given_up: Callable[[], bool] = never,
) -> list[Stopped]:
    """Stop processes because somebody asked for it; what came of each of their trees.

    Confirmed by who was shown them `as_they_run`, one that runs something else by then is refused.
    """
    overseer = estate.overseer
    _announce(estate, [(each, asked) for each in processes], receipt)
    spare = [*_kept(estate, processes), *at_work(estate)]
    done = overseer.stopper.stop(
        processes, overseer.policy.grace, confirmed=confirmed, spare=spare, given_up=given_up
    )
    for each in processes:
        mine, now = [one for one in done if one.row == each.ref], estate.clock.now()
        if not mine and not each.identity.pid and now - each.started_at <= AWAITED:
            mine = [_unborn(each)]
            done += mine
        words = outcome(mine)
        is_over = all(one.is_over for one in mine)
        result, reason = "done" if is_over else "failed", Reason("asked", f"{asked}; {words}")
        line = replace(entry(estate, each, STOPPED, result, reason), receipt=receipt)
        if is_over and each.ref > 0:
            overseer.registry.end(each.ref, words or "was gone", now, line)
        else:  # it is there, or it is no row of ours
            estate.ledger.journal.write([line], now)
    return done


def would_stop(estate: Estate, processes: Sequence[Process], *, confirmed: bool) -> list[Stopped]:
    """What `stop_processes` would do, without doing it."""
    spare = [*_kept(estate, processes), *at_work(estate)]
    return estate.overseer.stopper.find(processes, confirmed=confirmed, spare=spare)


def spared(process: Process) -> Stopped:
    """One that a person keeps and nobody has named."""
    why = f"{KEPT}, and stopped only if its own PID is named"
    return Stopped(
        pid=process.identity.pid,
        command=process.shown,
        ending=Ending.SPARED,
        why=why,
        row=process.ref,
    )


def since_end(process: Process, said: str) -> str:
    """What is said once for each end of its session."""
    return f"{said} ({process.epoch})"


def at_work(estate: Estate) -> Iterator[Spared]:
    """The agents and keepers of this machine: none is stopped because of where it was started."""
    here = estate.processes.myself()
    for worker in estate.ledger.workers.all():
        who = worker.identity
        if worker.dead_at is None and (who.host, who.boot_id) == (here.host, here.boot_id):
            yield Spared(who, None, AT_WORK)


def _of_others(
    estate: Estate, chosen: Sequence[Process], running: Sequence[Process]
) -> Iterator[Spared]:
    """What no policy stops, wherever it stands: what is kept, and what open sessions have."""
    here, refs = estate.processes.myself(), {each.ref for each in chosen}
    for each in running:
        who = each.identity
        is_near = (who.host, who.boot_id) == (here.host, here.boot_id)
        if is_near and each.ref not in refs and (each.kept or not each.is_orphan):
            yield Spared(who, each.tag, KEPT if each.kept else OPEN)


def _kept(estate: Estate, chosen: Sequence[Process]) -> list[Spared]:
    """What a person keeps, wherever it stands, if it was not chosen itself."""
    running = [each for each in estate.overseer.registry.running() if each.kept]
    return list(_of_others(estate, chosen, running))


def _is_as_it_was(before: Process, now: Process) -> bool:
    same = (before.session_ref, before.session_state) == (now.session_ref, now.session_state)
    return same and not now.kept


def _is_found(process: Process, found: Sequence[Stopped]) -> bool:
    return any(each.row == process.ref and each.ending is Ending.FOUND for each in found)


def _announce(
    estate: Estate, stops: Sequence[tuple[Process, str]], receipt: str | None = None
) -> None:
    """Written before the first signal: whoever is killed meanwhile has said what he did."""
    lines = [
        replace(
            entry(estate, each, "signal_process", "begun", Reason("stop", why)), receipt=receipt
        )
        for each, why in stops
    ]
    if lines:
        estate.ledger.journal.write(lines, estate.clock.now())


def _unborn(process: Process) -> Stopped:
    return Stopped(pid=0, command=process.shown, ending=Ending.REFUSED, why=UNBORN, row=process.ref)


def _why(done: Sequence[Stopped]) -> str:
    """Why a tree is still there, the same for any number of processes."""
    return "; ".join(sorted({each.why or each.ending for each in done if not each.is_over}))


def outcome(done: Sequence[Stopped]) -> str:
    """What came of the processes of a tree, in a few words."""
    counts: dict[str, int] = {}
    for each in done:
        said = f"{each.ending}: {each.why}" if each.why else str(each.ending)
        counts[said] = counts.get(said, 0) + 1
    many = len(done) > 1
    return "; ".join(f"{count} {said}" if many else said for said, count in counts.items())


def entry(estate: Estate, process: Process, action: str, result: str, reason: Reason) -> Entry:
    """A line of the journal about a process."""
    return Entry(
        actor=estate.actor,
        receipt=None,
        home=process.home,
        session=process.session,
        action=action,
        result=result,
        reason=Reason(reason.code, f"{process.name}: {reason.text}"),
    )


def session_of(process: Process) -> str:
    """Whose it is, for a log."""
    return one_line(f"{process.home}/{process.session}")
