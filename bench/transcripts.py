"""What do sessions of agents look like that are put away? Needs Python only.

An agent that works on source code: it is asked, it thinks aloud, it reads the same few files
again and again, searches them and runs tests. The files are those of Python itself, which
everybody has.
"""

from __future__ import annotations

import json
import os
import random
import re
from functools import cache
from pathlib import Path

Said = list[tuple[str, str]]


def transcript(seed: int, size: int = 100_000) -> Said:
    """Roles and texts of one session, at least that long together."""
    chance = random.Random(seed)
    work = chance.sample(range(len(_sources())), 3)
    said: Said = []
    total = 0
    while total < size:
        turn = _turn(chance, chance.choice(work))
        said += turn
        total += sum(len(text) for _, text in turn)
    return said


def _turn(chance: random.Random, work: int) -> Said:
    name, lines = _sources()[work]
    begin = chance.randrange(len(lines) - 20)
    end = begin + chance.randint(20, 150)
    kind = chance.random()
    call = {
        "thought": chance.choice(_prose())[: chance.randint(100, 600)],
        "tool": "read_file",
        "arguments": {"path": f"src/{name}", "offset": begin, "limit": end - begin},
        "id": f"call_{chance.getrandbits(64):016x}",
    }
    asked = [("user", chance.choice(_prose())[: chance.randint(60, 400)])] if kind < 0.2 else []
    if kind < 0.6:
        result = "".join(f"{at:5}|{line}" for at, line in enumerate(lines[begin:end], begin))
    elif kind < 0.8:
        tests = range(chance.randint(5, 40))
        result = "".join(
            f"tests/test_{name}::test_{at} PASSED {chance.random():.3f}s\n" for at in tests
        )
    else:
        found = sorted(chance.sample(range(len(lines)), chance.randint(5, 40)))
        result = "".join(f"src/{name}:{at}: {lines[at]}" for at in found)
    return [*asked, ("assistant", json.dumps(call)), ("tool", result)]


@cache
def _sources() -> list[tuple[str, list[str]]]:
    files = sorted(Path(os.__file__).parent.glob("*.py"))
    chosen = [each for each in files if 20_000 < each.stat().st_size < 200_000]
    return [
        (each.name, each.read_text(encoding="utf-8").splitlines(keepends=True)) for each in chosen
    ]


@cache
def _prose() -> list[str]:
    whole = "".join("".join(lines) for _, lines in _sources())
    found = re.findall(r'"""(.+?)"""', whole, re.DOTALL)
    return [" ".join(text.split()) for text in found if 80 < len(text) < 1500]
