"""Programs that carry out an effect and are killed meanwhile."""

from __future__ import annotations

import os
import resource
import signal
import sys
from datetime import timedelta
from pathlib import Path

from sexton.core.clock import SystemClock
from sexton.finalizers.effects.chat import ChatPlan
from sexton.finalizers.effects.command_effect import Command, CommandPlan
from sexton.finalizers.effects.memory_effect import Memory, MemoryPlan
from sexton.finalizers.effects.memory_file import MemoryFile
from sexton.finalizers.job import EffectFailed
from tests.kit.nursery import Report
from tests.scenario.effects_desk import Desk, message

STEPS = {"open", "os.rename", "os.remove", "os.mkdir", "fcntl.flock", "socket.connect"}


def command(report: Report, place: str, *arguments: str) -> None:
    """Run a program."""
    plan = CommandPlan(command=arguments, timeout=timedelta(minutes=10))
    report.tell("begins")
    Command(plan, SystemClock(), os.environ).carry_out(Desk(Path(place)).job())


def memory(report: Report, place: str, url: str, steps: str) -> None:
    """Remember a conversation of three parts, and die before a certain step of the work."""
    effect = memory_of(Path(place), url)
    left = int(steps)

    def fall(event: str, details: tuple[object, ...]) -> None:
        nonlocal left
        if event in STEPS and (event != "open" or place in str(details[0])):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(fall)
    report.tell("said", effect.carry_out(long_talk(Path(place)).job()))


def remember(report: Report, place: str, trouble: str) -> None:
    """Add to a memory file on a disk with little room, or while somebody else edits it."""
    file = Path(place, "MEMORY.md")

    def edit(event: str, details: tuple[object, ...]) -> None:
        if event != "open" or not str(details[0]).endswith(".new"):
            return
        if trouble == "edited" or file.stat().st_size < 10:
            with file.open("a", encoding="utf-8") as opened:
                opened.write("a person's words\n")

    if trouble == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
    else:
        sys.addaudithook(edit)
    try:
        MemoryFile(file, SystemClock()).append("key", "heading", "x" * 20_000)
    except EffectFailed as problem:
        report.tell(problem)


def memory_of(place: Path, url: str) -> Memory:
    plan = MemoryPlan(
        chat=ChatPlan(base_url=url, model="m"), file=place / "kept" / "MEMORY.md", context_tokens=1
    )
    return Memory(plan, SystemClock(), {})


def long_talk(place: Path) -> Desk:
    """A conversation of three parts, if a part has a thousand bytes."""
    return Desk(place, said=lambda: (message(n, "user", f"{n}" * 900) for n in range(3)))
