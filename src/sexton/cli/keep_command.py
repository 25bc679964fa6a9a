"""`sexton keep`: keep sessions well until stopped."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import click

from sexton.cli.cli_opening import deciding
from sexton.cli.command import Command, shared
from sexton.cli.homes_here import homes_shape, note_homes
from sexton.cli.plan_view import say_outcome, tallied
from sexton.cli.signals import stopped_by_signals
from sexton.cli.streams import OutputLost
from sexton.cli.terminal import json_line, say
from sexton.cli.until_stopped import UntilStopped
from sexton.core.wording import counted, iso
from sexton.errors import SextonError
from sexton.keeper.keeper_log import HeldLines, given_back
from sexton.keeper.services.sd_notify import Supervisor
from sexton.keeper.swept import Sweep
from sexton.operations import values as shapes
from sexton.processes.after_session import Noted
from sexton.processes.stops import STOPPED, session_of
from sexton.sessions.agent_worker import AgentWorker
from sexton.wiring import Sexton

log = logging.getLogger("sexton.keeper")


@click.command(
    "keep",
    cls=Command,
    examples=(
        "sexton keep                          # until Ctrl-C or SIGTERM",
        "sexton keep --once                   # one sweep, as from cron",
        "sexton keep --json                   # one JSON object per sweep and line",
    ),
)
@click.option("--once", is_flag=True, help="Sweep once and end.")
@click.pass_context
def command(ctx: click.Context, once: bool) -> None:
    """Keep sessions well until stopped: observe, plan, apply.

    Puts the given settings in force, then sweeps as often as they say. Any number of keepers may
    work on one ledger. SIGTERM and Ctrl-C let the current action finish; the exit code is 0 then.
    A sweep that fails is told and tried again, except with --once.
    """
    options = shared(ctx)
    supervisor = Supervisor(os.environ)
    asked = UntilStopped(supervisor)
    audience = _Audience(asked.stop)
    with stopped_by_signals(asked.stop), deciding(options) as opened:
        tell = _tell_program(opened) if options.json else _tell_person(opened)
        with registered(opened) as worker, closing(opened.keeper(worker)) as keeper:
            asked.hand_to(keeper)
            if once:
                tell(keeper.once())
            else:
                supervisor.ready()
                keeper.run(lambda sweep: audience.tell(tell, sweep), supervisor.alive)
    if audience.unheard:
        raise audience.unheard


@contextmanager
def registered(opened: Sexton) -> Iterator[AgentWorker]:
    """A keeper's entry among the workers; if the ledger is out of reach at the end, it stays."""
    worker = opened.worker(kind="keeper")
    try:
        yield worker
    finally:
        try:
            worker.leave()
        except SextonError as trouble:  # whoever looks next finds the process dead all the same
            log.warning("the keeper could not sign off: %s", trouble)


class _Audience:
    """Whoever reads what a keeper says; when nobody does any more, it ends as other programs do."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self.unheard: BrokenPipeError | OutputLost | None = None

    def tell(self, tell: Callable[[Sweep], None], sweep: Sweep) -> None:
        """Tell of a sweep."""
        try:
            tell(sweep)
        except (BrokenPipeError, OutputLost) as problem:
            self.unheard = problem
            self._stop()


def _tell_program(opened: Sexton) -> Callable[[Sweep], None]:
    homes: dict[str, Any] = {}
    with suppress(SextonError):  # what can not be reached now is told by each sweep
        homes = homes_shape(opened, opened.estate())
    return lambda sweep: json_line({"at": iso(opened.clock.now()), **homes, **shapes.sweep(sweep)})


def _tell_person(opened: Sexton) -> Callable[[Sweep], None]:
    """Tell of every sweep that did something or is held back anew, and of the first in any case."""
    first, held = True, HeldLines()
    with suppress(SextonError):  # what can not be reached now is told by each sweep
        note_homes(opened, opened.estate())

    def tell(sweep: Sweep) -> None:
        nonlocal first
        parts, news = list(_summary(sweep)), held.news(sweep.held)
        if parts or news or first:
            for outcome in sweep.outcomes:
                say_outcome(outcome)
            for freed in sweep.freed:
                say(given_back(freed))
            for noted in sweep.processes:
                say(_said(noted))
            for line in news:
                say(line)
            if sweep.held:
                parts.append(f"{len(sweep.held)} held back")
            words = "; ".join(parts) or "nothing to do"
            named = f" (receipt {sweep.receipt})" if sweep.outcomes else ""
            say(f"{opened.clock.now():%Y-%m-%d %H:%M:%S} UTC: {words}{named}")
            sys.stdout.flush()
        first = False

    return tell


def _said(noted: Noted) -> str:
    process, session = noted.process, session_of(noted.process)
    if noted.action == STOPPED:
        return f"done: stop {process.name} of {session}: {noted.words}: {process.shown}"
    return f"{session} {noted.words}"


def _summary(sweep: Sweep) -> list[str]:
    parts = [
        f"{each.home}: {counted(each.seen, 'session')} changed, {each.gone} gone"
        for each in sweep.observed
        if each.seen or each.gone
    ]
    if sweep.outcomes:
        parts.append(tallied(sweep.outcomes))
    if sweep.freed:
        parts.append(f"{counted(len(sweep.freed), 'reservation')} of the dead given back")
    stopped = sum(each.action == STOPPED for each in sweep.processes)
    if stopped:
        parts.append(f"{counted(stopped, 'process', 'processes')} stopped")
    if len(sweep.processes) > stopped:
        left = len(sweep.processes) - stopped
        parts.append(f"{counted(left, 'process', 'processes')} told of")
    if sweep.finalizing:
        parts.append(f"{counted(sweep.finalizing, 'piece')} of end-of-session work taken on")
    if not sweep.finished:
        parts.append("stopped before the end")
    return parts
