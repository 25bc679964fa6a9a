"""How does a program do end-of-session work? At least once with the same key, one at a time.

It reads the document on its standard input and finds the key in SEXTON_IDEMPOTENCY_KEY. Exit
code 0 means done, any other that it shall be tried again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import timedelta

from sexton.core.machine_ports import Clock
from sexton.core.message import one_line
from sexton.core.record import record
from sexton.finalizers.effects.fork_safety import opened
from sexton.finalizers.effects.job_processes import LAST_WAIT, VARIABLE, stop, tag_of
from sexton.finalizers.effects.payload import document
from sexton.finalizers.effects.program_talk import Talk
from sexton.finalizers.job import EffectFailed, EffectPostponed, Job, shortage

KEY_VARIABLE = "SEXTON_IDEMPOTENCY_KEY"
LAST_WORDS = 800
"""So much of what a program said last is kept: errors stand at the end."""


@record
class CommandPlan:
    """Which program to run, and how long it may take; `grace` lies between asking and killing."""

    command: tuple[str, ...]
    timeout: timedelta = timedelta(minutes=5)
    cwd: str | None = None
    grace: timedelta = timedelta(seconds=5)


class Command:
    """Runs a program in a session of its own."""

    def __init__(self, plan: CommandPlan, clock: Clock, environ: Mapping[str, str]) -> None:
        self._plan = plan
        self._clock = clock
        self._environ: dict[str, str | bytes] = {**environ}
        self._running: set[str] = set()
        self._is_stopped = False

    def check(self) -> None:
        """Raise EffectFailed if there is no such program here."""
        program = self._plan.command[0]
        path = str(self._environ.get("PATH", os.defpath))
        if os.sep in program:
            program = os.path.join(self._plan.cwd or "", program)
        if shutil.which(program, path=path) is None:
            raise EffectFailed(f"there is no program {program}")

    def carry_out(self, job: Job) -> str:
        tag = tag_of(job.key)
        if not stop(tag, self._clock, self._plan.grace):
            raise EffectFailed("a process of an earlier attempt can not be stopped")
        self._running.add(tag)
        try:
            return self._run(job, tag)
        except EffectFailed:
            if self._is_stopped:
                raise EffectPostponed("its keeper was stopped", self._clock.now()) from None
            raise
        finally:
            self._running.discard(tag)

    def stop(self) -> None:
        """Stop every program: its keeper ends, and nobody else would."""
        self._is_stopped = True
        rest = [
            threading.Thread(target=stop, args=(tag, self._clock, self._plan.grace), daemon=True)
            for tag in tuple(self._running)
        ]
        for each in rest:
            each.start()
        for each in rest:
            each.join()

    def _run(self, job: Job, tag: str) -> str:
        # The time runs from before the start: whatever the program does, its deadline is set.
        end = self._clock.monotonic() + self._plan.timeout.total_seconds()
        process = self._start(job.key, tag)
        code = None
        with ExitStack() as pipes:
            try:
                talk = pipes.enter_context(Talk(process, document(job)))
                code = talk.until_exit(self._clock, end)
            finally:
                if code is None:  # the pipes stay open: the program may write as it tidies up
                    self._end(process, tag)
        if code is None:
            seconds = f"{self._plan.timeout.total_seconds():g} s"
            raise EffectFailed(f"stopped after {seconds}", said=_quoted(talk.tail))
        if code != 0:
            raise EffectFailed(_ending(code), said=_quoted(talk.tail))
        return "exit code 0"

    def _start(self, key: str, tag: str) -> subprocess.Popen[bytes]:
        tagged: dict[str, str | bytes] = {VARIABLE: tag, KEY_VARIABLE: key.encode()}

        def begin() -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                self._plan.command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=self._plan.cwd,
                env=self._environ | tagged,
                start_new_session=True,
            )

        try:
            return opened(begin, _pipes)
        except OSError as problem:
            where, after = problem.filename or self._plan.command[0], shortage(problem)
            why = f"can not be started: {where}: {problem.strerror}"
            raise EffectFailed(why, after=after) from None

    def _end(self, process: subprocess.Popen[bytes], tag: str) -> None:
        """Stop the program and all that it started."""
        stopped = stop(tag, self._clock, self._plan.grace)
        # Not collected yet, so the group still is the program's own; some shed their environment.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            process.wait(LAST_WAIT)
        except subprocess.TimeoutExpired:
            stopped = False
        if not stopped:
            raise EffectFailed("the program ran out of time and can not be stopped")


def _pipes(process: subprocess.Popen[bytes]) -> list[int]:
    return [pipe.fileno() for pipe in (process.stdin, process.stdout) if pipe]


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"ended by signal {-code}"


def _quoted(tail: bytes) -> str:
    """The program's last words."""
    words = one_line(tail.decode("utf-8", "replace"))
    return words if len(words) <= LAST_WORDS else f"…{words[-LAST_WORDS:]}"
