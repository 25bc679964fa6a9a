"""Runs the tests again and again and prints each failure: is any of them left to chance?

N is how often (10; with ONLY, 100). ONLY names tests as pytest does: files, or file::test,
separated by spaces. LOAD=1 keeps two busy loops per core beside every run; LOAD=half does so in
every second run. The first run is in this machine's time zone, each other one in a zone of its own.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUSY = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000): pass
"""
LOOPS_PER_CORE = 2
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
LOADS = ("", "0", "1", "half")


@contextmanager
def load(is_wanted: bool) -> Iterator[None]:
    """Two busy loops per core, if they are wanted; they end with us however we end."""
    loops = [
        subprocess.Popen([sys.executable, "-c", BUSY])
        for _ in range(LOOPS_PER_CORE * (os.cpu_count() or 1) if is_wanted else 0)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def zone(turn: int) -> dict[str, str]:
    """Another hour of the day in each run: no test may depend on when it is run."""
    return {"TZ": f"Etc/GMT{(turn * 5) % 24 - 12:+d}"} if turn > 1 else {}


def run(only: list[str], log: Path, environ: dict[str, str]) -> int:
    """One run, its output in a file; the exit code of pytest."""
    workers = os.environ.get("WORKERS") or "4"
    command = [
        *(sys.executable, "-m", "pytest", "-n", workers, "--dist", "worksteal"),
        *("-p", "no:cacheprovider", *only),
    ]
    with log.open("wb") as out:
        return subprocess.run(
            command, cwd=ROOT, env={**os.environ, **environ}, stdin=subprocess.DEVNULL,
            stdout=out, stderr=out, check=False,
        ).returncode  # fmt: skip


def main() -> int:
    """Run them all; 0 if none has failed."""
    only = (os.environ.get("ONLY") or "").split()
    number = int(os.environ.get("N") or (100 if only else 10))
    loaded = os.environ.get("LOAD") or ""
    if loaded not in LOADS or number < 1:
        sys.exit("flake: LOAD is 1 or half, N is at least 1")
    logs = ROOT / ".venvs" / "flake"
    logs.mkdir(parents=True, exist_ok=True)
    failures, red = Counter[str](), 0
    for turn in range(1, number + 1):
        is_loaded = loaded == "1" or (loaded == "half" and turn % 2 == 0)
        log, began = logs / f"{turn}.log", time.monotonic()
        with load(is_loaded):
            code = run(only, log, zone(turn))
        text = log.read_text(errors="replace")
        failed = FAILED.findall(text)
        failures.update(failed)
        red += code != 0
        last = next(iter(reversed(text.strip().splitlines())), "")
        beside = " beside a load" if is_loaded else ""
        word = "passed" if code == 0 else f"FAILED with {code}"
        print(f"run {turn} of {number}{beside}: {word} in {time.monotonic() - began:.0f} s: {last}")
        for name in failed:
            print(f"  {name}  ({log.relative_to(ROOT)})", flush=True)
        sys.stdout.flush()
    print(f"{number - red} of {number} runs passed")
    for name, times in failures.most_common():
        print(f"  failed {times} times: {name}")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
