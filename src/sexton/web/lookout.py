"""What does the web know of who lives? It listens to beats as a keeper does."""

from __future__ import annotations

import threading
from dataclasses import replace

import sexton.wiring.loaded  # noqa: F401  # the thread loads nothing itself
from sexton.core.troubles import Troubles
from sexton.keeper.keeper_context import Estate
from sexton.liveness.missed_heartbeats import Watch, listen
from sexton.wiring import Sexton

LISTEN_EVERY = 5.0
LONGEST_GAP = 20.0
FRESH = 2.0
"""Seconds for which one look at the machine and the homes answers every question."""


class Lookout:
    """An estate for questions, not older than a moment; whoever changes something takes a new one.

    Who is silent on another machine is known after it was listened to for a while.
    """

    def __init__(self, house: Sexton) -> None:
        self._house = house
        self._lock = threading.Lock()
        self._watch = Watch()
        self._estate: Estate | None = None
        self._made = 0.0
        self._stopped = threading.Event()
        self._troubles = Troubles("sexton.web", traced=True)
        self._thread = threading.Thread(target=self._listen, name="sexton-lookout", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def stop(self) -> None:
        """Stop listening."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def estate(self) -> Estate:
        """What is known now, or was a moment ago."""
        with self._lock:
            now = self._house.clock.monotonic()
            if self._estate is None or now - self._made > FRESH:
                self._estate = replace(self._house.estate(), watch=self._watch)
                self._made = now
            return self._estate

    def watch(self) -> Watch:
        """What was heard of heartbeats."""
        return self._watch

    def _listen(self) -> None:
        while not self._stopped.wait(LISTEN_EVERY):
            try:
                self._hear()
            except Exception as trouble:  # noqa: BLE001  # who lives would not be known any more
                self._troubles("beats", "heartbeats were not read", trouble)

    def _hear(self) -> None:
        estate = self._house.estate()
        beats = {worker.id: worker.beat for worker in estate.ledger.reaping.suspects()}
        ttl = estate.rules(None).rules.liveness.ttl.total_seconds()
        self._watch = listen(self._watch, beats, estate.look(), min(LONGEST_GAP, ttl))
