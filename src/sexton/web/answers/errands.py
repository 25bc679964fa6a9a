"""What can a person ask for that no plan does: pin, stop, keep, retry, discard?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sexton.core.plan import Reason
from sexton.core.wording import counted, iso
from sexton.errors import InputInvalid, ProcessNotFound
from sexton.finalizers.job import Wanted
from sexton.finalizers.model import Finalization, FinalizationState
from sexton.keeper.keeper_context import Estate
from sexton.operations.verbs import PINNED_THERE, changeable, check_decidable, pin
from sexton.processes.model import Process
from sexton.processes.process_ports import Ending
from sexton.processes.stops import (
    as_they_run,
    keep_process,
    outcome,
    stop_processes,
    would_stop,
)
from sexton.store.journal import Entry
from sexton.web.desk import Desk
from sexton.web.proposals import Done, Errand, Proposal, Step, of_errand

ASKED = "asked for by an operator in the dashboard"
LET_GO = "it is not pinned any more"
_PAGE = 500


def propose_pin(desk: Desk, name: str, *, pinned: bool) -> Proposal:
    """Keep a session from being reset or collected, or let it be again."""
    found = changeable(desk.lookout.fresh(), desk.house.find(name))
    kind, other = ("pin", "unpin") if pinned else ("unpin", "pin")
    does = (
        "no rule resets it, and nothing collects it"
        if pinned
        else "rules reset and collect it again as any other"
    )
    reason = Reason("asked", ASKED)

    def carry_out(receipt: str) -> Done:
        now = desk.house.find(f"{found.home}/{found.id}")
        if now.pinned is pinned:
            return Done(is_done=False, detail="it is pinned already" if pinned else LET_GO)
        entry = _entry(desk, receipt, kind, reason, (found.home, found.id))
        stands = pin(desk.lookout.fresh(), found, entry, pinned=pinned)
        if stands.pinned and not pinned:
            return Done(is_done=False, detail=f"it stays pinned: {PINNED_THERE}")
        return Done(is_done=True, detail="it is pinned" if pinned else LET_GO)

    return _shown(
        desk,
        Errand(
            kind=kind,
            home=found.home,
            session=found.id,
            target=found.name,
            reason=reason,
            reversible=True,
            carry_out=carry_out,
            undo={"action": other, "session": f"{found.home}/{found.id}"},
            steps=(Step(kind=kind, verb=kind, what=found.name, why=does),),
        ),
    )


def propose_stop(desk: Desk, ref: int) -> Proposal:
    """Stop a process with all that it started; whoever confirms was shown what it runs."""
    estate = desk.lookout.fresh()
    (process,) = as_they_run(estate, [_process(estate, ref)])
    would = would_stop(estate, [process], confirmed=True)
    many = sum(each.ending is Ending.FOUND for each in would)
    reason = Reason("asked", f"{ASKED}; {many} processes would be stopped: {process.command}")

    def carry_out(receipt: str) -> Done:
        now = desk.lookout.fresh()
        if all(each.ref != ref for each in now.overseer.registry.running()):
            return Done(is_done=False, detail="it has ended meanwhile")
        done = stop_processes(now, [process], receipt, confirmed=True, asked=ASKED)
        return Done(is_done=all(each.is_over for each in done), detail=outcome(done))

    steps = tuple(
        Step(
            kind="stop" if each.ending is Ending.FOUND else "kept",
            verb="stop" if each.ending is Ending.FOUND else each.ending.value,
            what=f"pid {each.pid}: {each.command}",
            why=each.why or "asked to end, and killed after the grace",
        )
        for each in would
    )
    return _shown(desk, _of_process("stop_process", process, reason, carry_out, steps))


def propose_keep(desk: Desk, ref: int, *, kept: bool) -> Proposal:
    """Keep a process from being stopped by policy, or let it be stopped again."""
    process = _process(desk.lookout.fresh(), ref)
    verb, other = ("keep", "release") if kept else ("release", "keep")
    does = (
        "it runs on when its session ends, and no policy stops it"
        if kept
        else "policies may stop it again when its session has ended"
    )
    reason = Reason("asked", f"{process.name}: {ASKED}")

    def carry_out(receipt: str) -> Done:
        if not keep_process(desk.lookout.fresh(), process, kept, receipt, ASKED):
            return Done(is_done=False, detail="it has ended meanwhile")
        said = "is kept from being stopped by policy" if kept else "may be stopped by policy again"
        return Done(is_done=True, detail=f"{process.name} {said}")

    step = Step(kind=f"{verb}_process", verb=verb, what=process.shown, why=does)
    undo = {"action": f"{other}_process", "process": str(ref)}
    return _shown(desk, _of_process(step.kind, process, reason, carry_out, (step,), undo))


def propose_decision(desk: Desk, ref: int, *, retry: bool) -> Proposal:
    """Try work again that was given up, or count it as done."""
    found = next(iter(desk.house.ledger.finalizing.page(Wanted(), ref + 1, 1)), None)
    if found is None or found.ref != ref:
        raise InputInvalid(f"there is no work {ref}", hint="GET /v1/finalizers lists it.")
    check_decidable("retry" if retry else "discard", found)
    return _decision(desk, [found], retry=retry)


def propose_retry_of_all(desk: Desk) -> Proposal:
    """Try all work again that is given up by now; what is given up later was not shown."""
    return _decision(desk, list(_dead_letters(desk)), retry=True)


def _decision(desk: Desk, found: Sequence[Finalization], *, retry: bool) -> Proposal:
    kind = "retry_finalizer" if retry else "discard_finalizer"
    first = found[0] if len(found) == 1 else None
    what = f"{first.finalizer} through {first.through}" if first else _pieces(len(found))
    reason = Reason("asked", f"{ASKED}: {what}")

    def carry_out(receipt: str) -> Done:
        changed = sum(_decided(desk, each, receipt, kind) for each in found)
        left = len(found) - changed
        said = "will be tried again" if retry else "counted as done"
        more = f"; {left} moved on meanwhile" if left else ""
        return Done(is_done=changed > 0, detail=f"{_pieces(changed)} {said}{more}")

    steps = tuple(
        Step(
            kind=kind,
            verb=kind.partition("_")[0],
            what=f"{each.finalizer} for {each.home}/{each.session}",
            why=f"given up after {counted(each.attempts, 'try', 'tries')}: "
            f"{desk.house.content.job(each).last_error}",
        )
        for each in found
    )
    return _shown(
        desk,
        Errand(
            kind=kind,
            home=first.home if first else None,
            session=first.session if first else None,
            target=first.key if first else what,
            reason=reason,
            reversible=False,
            carry_out=carry_out,
            steps=steps,
        ),
    )


def _decided(desk: Desk, each: Finalization, receipt: str, kind: str) -> bool:
    reason = Reason("asked", f"{ASKED}: {each.finalizer} through {each.through}")
    entry = _entry(desk, receipt, kind, reason, (each.home, each.session))
    retry = kind == "retry_finalizer"
    state = FinalizationState.PENDING if retry else FinalizationState.DONE
    return desk.house.ledger.finalizing.decide(each.ref, state, desk.house.clock.now(), entry)


def _dead_letters(desk: Desk) -> Iterator[Finalization]:
    wanted, after = Wanted(state=FinalizationState.DEAD), None
    while page := desk.house.ledger.finalizing.page(wanted, after, _PAGE):
        yield from page
        after = page[-1].ref


def _pieces(count: int) -> str:
    return f"{counted(count, 'piece')} of work"


def _process(estate: Estate, ref: int) -> Process:
    for each in estate.overseer.registry.running():
        if each.ref == ref:
            return each
    raise ProcessNotFound(f"no process {ref} is registered, or it has ended")


def _of_process(
    kind: str,
    process: Process,
    reason: Reason,
    carry_out: Callable[[str], Done],
    steps: tuple[Step, ...],
    undo: dict[str, str] | None = None,
) -> Errand:
    return Errand(
        kind=kind,
        home=process.home,
        session=process.session,
        target=f"{process.name} on {process.identity.host}: {process.command}",
        reason=reason,
        reversible=undo is not None,
        carry_out=carry_out,
        undo=undo,
        steps=steps,
    )


def _shown(desk: Desk, errand: Errand) -> Proposal:
    made_at = iso(desk.house.clock.now())
    return desk.proposals.add(of_errand(errand, desk.house.ledger, made_at))


def _entry(
    desk: Desk, receipt: str, action: str, reason: Reason, session: tuple[str, str]
) -> Entry:
    return Entry(
        actor=desk.house.actor,
        receipt=receipt,
        home=session[0],
        session=session[1],
        action=action,
        result="done",
        reason=reason,
    )
