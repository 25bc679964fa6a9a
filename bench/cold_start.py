"""What does a program pay for starting Sexton?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.figures import OURS, Row, Series, Unit, against, at_most, growth
from bench.install import HERMES, python_of
from bench.process import environment
from bench.scene import Scene

NAME = "cold_start"
PYTHON = "bare python"
EMBED = "import sexton; sexton.open"
IMPORTING = f"""import time
before = time.process_time()
{EMBED}
print(1000 * (time.process_time() - before))"""
TIMES_BARE = 8  # 120 ms where Python alone takes 15
IMPORT_MS = 40


def run(scene: Scene) -> Iterator[Row]:
    """Processor time of whole processes, which a busy machine hardly changes."""
    commands = {
        OURS: [sys.executable, "-m", "sexton", "--version"],
        "hermes": [str(python_of(HERMES).with_name("hermes")), "--version"],
        PYTHON: [sys.executable, "-c", "pass"],
        EMBED: [sys.executable, "-c", EMBED],
    }
    scene.say(f"{NAME}: processes that start and end")
    found: dict[str, list[float]] = {name: [] for name in commands}
    importing: list[float] = []
    for _ in range(scene.sizes.starts + 1):
        for name, command in commands.items():
            found[name].append(_cpu_ms(command, scene.place, own=name != "hermes"))
        importing.append(_importing_ms(scene.place))
    # The first start compiles and fills the caches; it is nobody's usual one.
    rounds = {name: taken[1:] for name, taken in found.items()}
    yield against(Series(NAME, "sexton --version", Unit.CPU, rounds), "hermes", 3)
    bare = Series(NAME, PYTHON, Unit.CPU, {OURS: rounds[PYTHON]})
    yield growth(bare, Series(NAME, "sexton --version", Unit.CPU, {OURS: rounds[OURS]}), TIMES_BARE)
    yield growth(bare, Series(NAME, EMBED, Unit.CPU, {OURS: rounds[EMBED]}))
    alone = Series(NAME, f"{EMBED}, by itself", Unit.CPU, {OURS: importing[1:]})
    yield at_most(alone, IMPORT_MS)


def _importing_ms(place: Path) -> float:
    """Processor time from before the import until after it, in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING],
        cwd=place,
        env=environment(place, own=True),
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return float(done.stdout)


def _cpu_ms(command: list[str], place: Path, *, own: bool) -> float:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=place,
        env=environment(place, own=own),
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return 1000 * (used.ru_utime + used.ru_stime)
