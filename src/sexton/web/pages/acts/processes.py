"""How is a background process stopped, or kept from being stopped, from a page?"""

from __future__ import annotations

from starlette.responses import Response

from sexton.engine.apply import new_receipt
from sexton.engine.process_stops import as_they_run, outcome, stop_processes, would_stop
from sexton.errors import ProcessNotFound
from sexton.model.plan import Reason
from sexton.model.process import Process
from sexton.model.record import replace
from sexton.ports import Entry
from sexton.ports.processes import Ending
from sexton.web.desk import Desk
from sexton.web.pages.acts.proposal import Proposal, Step, done, proposed
from sexton.web.pages.deeds import Deed, Deeds

ASKED = "asked for on the dashboard"


def stopping(desk: Desk, ref: int) -> Response:
    """What a stop would end: the process and all that it started, each with what it runs now."""
    estate, process = desk.lookout.fresh(), _running(desk, ref)
    shown = as_they_run(estate, [process])
    found = would_stop(estate, shown, confirmed=True)
    steps = [
        Step(
            kind="stop" if each.ending is Ending.FOUND else "kept",
            verb="stop" if each.ending is Ending.FOUND else each.ending.value,
            what=f"pid {each.pid}: {each.command}",
            why=each.why or "asked to end, and killed after the grace",
        )
        for each in found
    ]
    return proposed(
        desk,
        "processes",
        Proposal(
            title=f"Stop {process.name}",
            says="It and all that it started. One that runs something else by then is left alone.",
            steps=steps,
            verb="Stop",
            undoing="This can not be undone.",
            action="/act/stop",
            back="/processes",
            fields=(("ref", str(ref)), ("command", shown[0].command)),
            grave=True,
        ),
    )


def stop(desk: Desk, deeds: Deeds, ref: int, command: str) -> Response:
    """Stop what was shown, if that is what it still runs."""
    process, receipt = _running(desk, ref), new_receipt()
    shown = replace(process, command=command)
    gone = stop_processes(desk.lookout.fresh(), [shown], receipt, confirmed=True, asked=ASKED)
    stays = [each for each in gone if not each.is_over]
    words = outcome(gone) or "there was nothing to stop"
    return done(deeds, receipt, Deed(words=words, tone="bad" if stays else "good"))


def keeping(desk: Desk, ref: int, *, kept: bool) -> Response:
    """What it means to keep a process, or to let go of it."""
    process = _running(desk, ref)
    act = "keep" if kept else "release"
    does = (
        "it runs on when its session ends, and no policy stops it"
        if kept
        else "policies may stop it again when its session has ended"
    )
    return proposed(
        desk,
        "processes",
        Proposal(
            title=f"{act.capitalize()} {process.name}",
            says=process.shown,
            steps=[Step(kind=f"{act}_process", verb=act, what=process.shown, why=does)],
            verb=act.capitalize(),
            undoing="Can be undone at any time.",
            action=f"/act/{act}",
            back="/processes",
            fields=(("ref", str(ref)),),
        ),
    )


def keep(desk: Desk, deeds: Deeds, ref: int, *, kept: bool) -> Response:
    """Keep a process from being stopped by policy, or do so no more."""
    process, receipt = _running(desk, ref), new_receipt()
    act, other = ("keep", "release") if kept else ("release", "keep")
    entry = Entry(
        actor=desk.house.actor,
        receipt=receipt,
        home=process.home,
        session=process.session,
        action=f"{act}_process",
        result="done",
        reason=Reason("asked", f"{process.name}: {ASKED}"),
    )
    if not desk.house.ledger.registry.keep(ref, kept, desk.house.clock.now(), entry):
        raise ProcessNotFound(f"the process {process.identity.pid} has ended")
    said = "is kept from being stopped by policy" if kept else "may be stopped by policy again"
    deed = Deed(words=f"{process.name} {said}", undo=f"/act/{other}?ref={ref}")
    return done(deeds, receipt, deed)


def _running(desk: Desk, ref: int) -> Process:
    found = (each for each in desk.house.ledger.registry.running() if each.ref == ref)
    process = next(found, None)
    if process is None:
        raise ProcessNotFound("that process has ended")
    return process
