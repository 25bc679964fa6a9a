"""What can a person ask for that no plan does: pin, stop, keep, retry, discard?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sexton.engine.estate import Estate
from sexton.engine.process_stops import as_they_run, outcome, stop_processes, would_stop
from sexton.errors import HomeObserved, InputInvalid, ProcessNotFound
from sexton.model.finalization import FinalizationState
from sexton.model.plan import Reason
from sexton.model.process import Process
from sexton.model.session import NATIVE
from sexton.ports import Entry
from sexton.ports.finalizing import Wanted
from sexton.ports.processes import Ending
from sexton.shapes.wording import iso
from sexton.web.desk import Desk
from sexton.web.proposals import Done, Errand, of_errand

ASKED = "asked for by an operator in the dashboard"
_PAGE = 500


def propose_pin(desk: Desk, name: str, *, pinned: bool) -> dict[str, Any]:
    """Keep a session from being reset or collected, or let it be again."""
    found = desk.house.find(name)
    if found.home != NATIVE:
        raise HomeObserved(f"{found.name} belongs to the home '{found.home}'")
    kind, other = ("pin", "unpin") if pinned else ("unpin", "pin")
    reason = Reason("asked", ASKED)

    def carry_out(receipt: str) -> Done:
        now = desk.house.find(f"{found.home}/{found.id}")
        if now.pinned is pinned:
            said = "it is pinned already" if pinned else "it is not pinned any more"
            return Done(is_done=False, detail=said)
        entry = _entry(desk, receipt, kind, reason, (found.home, found.id))
        desk.house.ledger.book.mark(found.ref, pinned=pinned, noted=(entry, desk.house.clock.now()))
        return Done(is_done=True, detail="pinned" if pinned else "not pinned any more")

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
        ),
    )


def propose_stop(desk: Desk, ref: int) -> dict[str, Any]:
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

    return _shown(desk, _of_process("stop_process", process, reason, carry_out))


def propose_keep(desk: Desk, ref: int, *, kept: bool) -> dict[str, Any]:
    """Keep a process from being stopped by policy, or let it be stopped again."""
    process = _process(desk.lookout.fresh(), ref)
    kind, other = (
        ("keep_process", "release_process") if kept else ("release_process", "keep_process")
    )
    reason = Reason("asked", f"{process.name}: {ASKED}")

    def carry_out(receipt: str) -> Done:
        entry = _entry(desk, receipt, kind, reason, (process.home, process.session))
        now, registry = desk.house.clock.now(), desk.house.ledger.registry
        current = next((each for each in registry.running() if each.ref == ref), None)
        if current is None or not registry.keep(ref, kept, now, entry):
            return Done(is_done=False, detail="it has ended meanwhile")
        return Done(is_done=True, detail="no policy stops it" if kept else "policies may stop it")

    undo = {"action": other, "process": str(ref)}
    return _shown(desk, _of_process(kind, process, reason, carry_out, undo))


def propose_decision(desk: Desk, ref: int, *, retry: bool) -> dict[str, Any]:
    """Try work again that was given up, or count it as done."""
    finalizing = desk.house.ledger.finalizing
    found = next(iter(finalizing.page(Wanted(), ref + 1, 1)), None)
    if found is None or found.ref != ref:
        raise InputInvalid(f"there is no work {ref}", hint="GET /v1/finalizers lists it.")
    kind = "retry_finalizer" if retry else "discard_finalizer"
    state = FinalizationState.PENDING if retry else FinalizationState.DONE
    reason = Reason("asked", f"{ASKED}: {found.finalizer} through {found.through}")

    def carry_out(receipt: str) -> Done:
        entry = _entry(desk, receipt, kind, reason, (found.home, found.session))
        if not finalizing.decide(ref, state, desk.house.clock.now(), entry):
            return Done(is_done=False, detail="it has moved on meanwhile")
        return Done(is_done=True, detail="a keeper tries it again" if retry else "counts as done")

    return _shown(
        desk,
        Errand(
            kind=kind,
            home=found.home,
            session=found.session,
            target=found.key,
            reason=reason,
            reversible=False,
            carry_out=carry_out,
        ),
    )


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
    )


def _shown(desk: Desk, errand: Errand) -> dict[str, Any]:
    made_at = iso(desk.house.clock.now())
    return dict(desk.proposals.add(of_errand(errand, desk.house.ledger.id, made_at)).shown)


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
