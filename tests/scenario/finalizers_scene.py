"""A house whose sessions owe work, an endpoint that takes its time, and what came of it."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sexton.core.machine_ports import Clock, ProcessTable
from sexton.finalizers.model import Finalization, Wanted
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import load_settings
from tests.scenario.effects_server import PATIENCE, Reply, Visit, say

FILE = "memories.md"
ALL = 1_000_000


class Thinking:
    """A reply that takes its time, and knows how many waited for it at once.

    `together` visits are kept until there are as many; those after them are answered at once.
    """

    def __init__(
        self, seconds: float = 0.0, answer: Reply | None = None, *, together: int = 1
    ) -> None:
        self._seconds = seconds
        self._answer = answer or say("- likes the sea")
        self._lock = threading.Lock()
        self._waiting = 0
        self._together = together
        self._met = threading.Event()
        self.most = 0
        self.gate = threading.Event()
        self.gate.set()

    @classmethod
    def held(cls, answer: Reply | None = None) -> Thinking:
        """One that waits until its gate is opened."""
        made = cls(answer=answer)
        made.gate.clear()
        return made

    def __call__(self, visit: Visit) -> None:
        with self._lock:
            self._waiting += 1
            self.most = max(self.most, self._waiting)
            if self._waiting >= self._together:
                self._met.set()
        self._met.wait(PATIENCE)
        self.gate.wait(PATIENCE)
        visit.wait(self._seconds)
        with self._lock:
            self._waiting -= 1
        self._answer(visit)


def memory(url: str, **more: Any) -> dict[str, Any]:
    """A finalizer that asks a model."""
    named = {"name": "memories", "kind": "memory", "base_url": url, "model": "m"}
    return {**named, "file": FILE, **more}


def webhook(url: str, **more: Any) -> dict[str, Any]:
    """A finalizer that posts."""
    return {"name": "hook", "kind": "webhook", "url": url, **more}


def configure(place: Path, *finalizers: dict[str, Any], **sections: Any) -> Path:
    """A settings file with these finalizers."""
    file = place / "sexton.yaml"
    file.write_text(json.dumps({"finalizers": finalizers, **sections}), encoding="utf-8")
    return file


def open_house(
    url: str,
    config: Path,
    clock: Clock | None = None,
    processes: ProcessTable | None = None,
    change: Callable[[Settings], Settings] = lambda settings: settings,
) -> Sexton:
    """A Sexton with those settings in force."""
    settings = load_settings(config, {})
    assert settings is not None
    house = Sexton(open_ledger(url), change(settings), clock=clock, processes=processes)
    house.publish()
    house.rules(None)
    return house


def talk(house: Sexton, *keys: str, count: int = 4, source: str = "telegram") -> list[str]:
    """Sessions in which so much was said, and which have ended; their ids."""
    ids = []
    with house.worker() as worker:
        for key in keys:
            session = worker.session(key, source=source)
            session.append_many({"role": "user", "content": f"{key} {n}"} for n in range(count))
            session.end()
            ids.append(session.id)
    return ids


def owed(house: Sexton, **wanted: Any) -> list[Finalization]:
    """All work that is owed or was done: sessions from the oldest, finalizers by name.

    In which order a session's jobs are queued is not promised.
    """
    jobs = house.ledger.finalizing.page(Wanted(**wanted), None, ALL)[::-1]
    sessions = {job.session: place for place, job in reversed(list(enumerate(jobs)))}
    return sorted(jobs, key=lambda job: (sessions[job.session], job.finalizer))


def states(house: Sexton) -> Counter[str]:
    """How much work stands how."""
    return Counter(str(each.state) for each in owed(house))


def remembered(place: Path) -> list[str]:
    """The keys of the work that the memory file holds, in its order."""
    file = place / FILE
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    return [unquote(each) for each in re.findall("<!-- sexton: (.*) -->", text)]


def wait_until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Look again and again."""
    for _ in range(int(seconds / 0.02)):
        if holds():
            return
        threading.Event().wait(0.02)
    raise AssertionError("it never came true")
