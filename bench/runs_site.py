"""A site with a keeper in one process, under load."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from bench.serving import serve
from sexton.core.schedule import Schedule
from sexton.sessions.model import Birth
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.web.access.addresses import address_of
from sexton.web.web_serving import Site, desk_for, listening
from sexton.wiring import Sexton

HOST = "127.0.0.1"
PAUSE = 0.5
"""Seconds from one sweep to the next: a keeper makes far longer ones."""


class SextonSite:
    """What the benchmark asks of a site."""

    def open_site(self, directory: str, sessions: int) -> None:
        """Serve a ledger with so many live sessions."""
        place = Path(directory)
        house = Sexton(open_ledger(str(place / "ledger.db")), Settings())
        worker = house.worker()
        now = house.clock.now()

        def begin(number: int) -> None:
            birth = Birth(
                id=f"s{number:07}",
                key=None,
                source="telegram",
                title=f"Conversation {number}",
                worker=worker.id,
                schedule=Schedule(0),
            )
            assert house.ledger.book.begin(birth, now)

        with ThreadPoolExecutor(32) as pool:
            list(pool.map(begin, range(sessions)))
        opened = listening(HOST, 0)
        self._port = opened.getsockname()[1]
        address = address_of(HOST, self._port, tls=False, public_url=None)
        desk = desk_for(house, address, {}, place / "token", keeping=True)
        self._token = (place / "token").read_text().strip()
        Site(desk, opened).start()
        self._keeper = house.keeper(house.worker(kind="keeper"), watchful=False)
        self._keeper.sweep()

    def load(self, rate: float, seconds: float) -> dict[str, float]:
        """How long sweeps take alone and beside so many requests a second, and how many it were."""
        alone = self._sweeps(until=time.perf_counter() + seconds)
        given = (self._port, self._token, rate, seconds)
        with subprocess.Popen(
            [sys.executable, "-m", "bench.asking", *map(str, given)],
            stdout=subprocess.PIPE,
            text=True,
        ) as asking:
            assert asking.stdout is not None
            asking.stdout.readline()
            beside = self._sweeps(until=time.perf_counter() + seconds)
            found = json.loads(asking.stdout.readline())
        told = found["unchanged"] / found["seconds"]
        return {"alone": median(alone), "beside": median(beside), "rate": told}

    def _sweeps(self, until: float) -> list[float]:
        taken: list[float] = []
        while not taken or time.perf_counter() < until:
            taken.append(self._keeper.sweep().seconds)
            time.sleep(PAUSE)
        return taken


if __name__ == "__main__":
    serve(SextonSite())
