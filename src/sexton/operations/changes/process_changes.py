"""`stop_process`, `keep_process` and `release_process`: what a person decides about processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sexton.core.plan import Reason, Result
from sexton.core.wording import counted
from sexton.errors import InputInvalid, ProcessKept, ProcessNotFound, ProcessNotStopped
from sexton.keeper.keeper_context import Estate
from sexton.operations import said
from sexton.operations import thing_records as things
from sexton.operations.asker import Asker
from sexton.operations.questions.process_questions import named_by_homes
from sexton.operations.verb_proposal import (
    ANY_TIME,
    Done,
    Draft,
    Going,
    Proposal,
    Step,
    outcome,
    proposed,
)
from sexton.processes.model import Ending, Process, Stopped
from sexton.processes.stops import (
    as_they_run,
    spared,
    stop_processes,
    would_stop,
)
from sexton.processes.stops import (
    keep_process as keep,
)
from sexton.processes.stops import (
    outcome as ended,
)

_NOW = {
    "keep": "is kept from being stopped by policy",
    "release": "may be stopped by policy again",
}
_WHY = {
    "keep": "it runs on when its session ends, and no policy stops it",
    "release": "policies may stop it again when its session has ended",
}


def stop_process(
    asker: Asker, *, process: int | None = None, pid: int | None = None, session: str | None = None
) -> Proposal:
    """Stop processes with all that they started.

    Name one by its row (`process`) or its `pid`, or all of one `session`. Each is asked to end, and
    killed after the grace of the policies. One that runs something else by then is left alone. Of
    a session, what a person keeps is spared.
    """
    estate = asker.everywhere()
    named = _meant(asker, estate, process, pid, session)
    chosen = [each for each in named if session is None or not each.kept]
    if asker.is_agent:
        _refuse_kept(chosen)
    found = as_they_run(estate, chosen)
    kept = [spared(each) for each in named if each not in chosen]
    would = _with(would_stop(estate, found, confirmed=asker.is_confirming), kept)
    many = sum(each.ending is Ending.FOUND for each in would)
    what = found[0] if len(found) == 1 else None
    was = {
        now.identity.pid: before.command
        for before, now in zip(chosen, found, strict=True)
        if before.command != now.command
    }
    target = f"{counted(many, 'process', 'processes')} would be stopped"
    home, of = _whose(named)

    def work(receipt: str, going: Going) -> Done:
        now = asker.everywhere()
        rows = {each.ref for each in now.overseer.registry.running()}
        still = [each for each in found if each.ref < 0 or each.ref in rows]
        gone = [each for each in found if each not in still]
        stopped = stop_processes(
            now, still, receipt,
            confirmed=asker.is_confirming, asked=asker.words, given_up=going.stopping,
        )  # fmt: skip
        done = _with(stopped, kept)
        left = [each for each in done if not each.is_over]
        trouble = ProcessNotStopped(f"not stopped: {ended(left)}") if left else None
        is_cut = going.stopping() and bool(left)
        return Done(
            outcomes=[
                *(_outcome(asker, each, [s for s in done if s.row == each.ref]) for each in still),
                *(_gone(asker, "stop_process", each) for each in gone),
            ],
            trouble=None if is_cut else trouble,
            left=len(left) if is_cut else 0,
            more={"processes": [things.stopped(each) for each in done]},
        )

    return proposed(
        asker,
        Draft(
            verb="stop_process",
            title="Stop this process" if what else "Stop these processes",
            says="With all that they started. One that runs something else by then is left alone.",
            home=home,
            session=of,
            target=f"{_on(what)}: {what.command}" if what else target,
            reason=Reason("asked", f"{asker.words}; {target}"),
            steps=[_step(each, was.get(each.pid)) for each in would],
            work=work,
        ),
    )


def keep_process(asker: Asker, *, process: int | None = None, pid: int | None = None) -> Proposal:
    """Keep a process from being stopped by policy.

    It runs on when its session ends. It does not hold a reset back by that.
    """
    return _keep(asker, process, pid, "keep")


def release_process(
    asker: Asker, *, process: int | None = None, pid: int | None = None
) -> Proposal:
    """Let policies stop a process again when its session has ended."""
    return _keep(asker, process, pid, "release")


def _keep(asker: Asker, row: int | None, pid: int | None, verb: str) -> Proposal:
    (process,) = _meant(asker, asker.everywhere(), row, pid, None)
    if process.ref < 0:
        raise ProcessNotFound(
            f"only its home names the process {process.identity.pid}: no policy stops it"
        )
    if asker.is_agent and verb == "release":
        _refuse_kept([process])
    other, reason = "release" if verb == "keep" else "keep", Reason("asked", asker.words)
    action, what = f"{verb}_process", (process.home, process.session)

    def work(receipt: str, going: Going) -> Done:
        del going
        is_kept = verb == "keep"
        estate = asker.estate()
        if not keep(estate, process, is_kept, receipt, asker.words, by_agent=asker.is_agent):
            if asker.is_agent:
                _refuse_kept(
                    each for each in estate.overseer.registry.running() if each.ref == process.ref
                )
            return Done(outcomes=[_gone(asker, action, process)], trouble=_ended(process))
        detail = f"{process.name} {_NOW[verb]}"
        return Done(
            outcomes=[outcome(action, what, Result.DONE, reason, detail, target=_on(process))],
            undo={"verb": f"{other}_process", "process": str(process.ref)},
        )

    return proposed(
        asker,
        Draft(
            verb=action,
            title=f"{verb.capitalize()} this process",
            says="Whether policies may stop it.",
            home=process.home,
            session=process.session,
            target=f"{_on(process)}: {process.command}",
            reason=reason,
            steps=(Step(verb=verb, what=process.shown, why=_WHY[verb]),),
            reversible=True,
            undoing=ANY_TIME,
            work=work,
        ),
    )


def _meant(
    asker: Asker, estate: Estate, row: int | None, pid: int | None, session: str | None
) -> list[Process]:
    """The processes that are named; an error if that is none, or not clear."""
    if sum(each is not None for each in (row, pid, session)) != 1:
        raise InputInvalid(
            "one process, or the session of all that are meant, must be named",
            hint="Name a process by its row or its pid, or a session.",
        )
    known = (asker.processes or (lambda: _all(estate)))()
    if session is not None:
        of = asker.find(session)
        return [each for each in known if (each.home, each.session) == (of.home, of.id)]
    if row is not None:
        found = [each for each in known if each.ref == row]
        if not found:
            raise ProcessNotFound(f"no process {row} is registered, or it has ended")
        return found
    return _with_pid(estate, known, pid or 0)


def _with_pid(estate: Estate, known: Sequence[Process], pid: int) -> list[Process]:
    """The process of that number, on this machine if it is there."""
    found = [each for each in known if each.identity.pid == pid]
    here = estate.processes.myself()
    near = [each for each in found if each.identity.host == here.host]
    found = [each for each in near if each.identity.boot_id == here.boot_id] or near or found
    if not found:
        raise ProcessNotFound(f"no process {pid} belongs to a session")
    if len(found) > 1:
        places = ", ".join(f"{each.session} on {each.identity.host}" for each in found)
        raise InputInvalid(f"{pid} means several processes: {places}", hint="Name the session.")
    return found


def _all(estate: Estate) -> list[Process]:
    registered = estate.ledger.registry.running()
    return [*registered, *named_by_homes(estate, registered)]


def _refuse_kept(processes: Iterable[Process]) -> None:
    """Raise ProcessKept if a person keeps one of them."""
    for each in processes:
        if each.is_kept_by_person:
            raise ProcessKept(f"a person keeps the process {each.identity.pid}")


def _with(done: Sequence[Stopped], kept: Sequence[Stopped]) -> list[Stopped]:
    """What came of all that was meant; one in the tree of another is told of there."""
    told = {each.pid for each in done}
    return [*done, *(each for each in kept if each.pid not in told)]


def _step(each: Stopped, registered_as: str | None) -> Step:
    is_found = each.ending is Ending.FOUND
    more = "" if registered_as is None else f"; registered as: {registered_as}"
    return Step(
        verb="stop" if is_found else each.ending.value,
        what=f"pid {each.pid}: {each.command}",
        why=(each.why or ("asked to end, and killed after the grace" if is_found else "-")) + more,
        spares=not is_found,
    )


def _outcome(asker: Asker, process: Process, done: Sequence[Stopped]) -> said.Outcome:
    is_over = all(each.is_over for each in done)
    return outcome(
        "stop_process",
        (process.home, process.session),
        Result.DONE if is_over else Result.SKIPPED,
        Reason("asked", asker.words),
        ended(done) or "there was nothing to stop",
        target=_on(process),
    )


def _gone(asker: Asker, action: str, process: Process) -> said.Outcome:
    what, why = (process.home, process.session), Reason("asked", asker.words)
    detail = "it has ended meanwhile"
    return outcome(action, what, Result.SKIPPED, why, detail, target=_on(process))


def _ended(process: Process) -> ProcessNotFound:
    return ProcessNotFound(f"the process {process.identity.pid} has ended")


def _on(process: Process) -> str:
    return f"{process.name} on {process.identity.host}"


def _whose(named: Sequence[Process]) -> tuple[str | None, str | None]:
    """The one session that all of them belong to."""
    of = {(each.home, each.session) for each in named}
    return of.pop() if len(of) == 1 else (None, None)
