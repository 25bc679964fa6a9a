"""What have the sweeps of the keeper in this process done?"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sexton.core.plan import ArchiveSession, RemoveFiles, Result, TrashSession
from sexton.keeper.swept import Sweep

Observe = Callable[[float], None]


@dataclass(slots=True)
class Sweeps:
    """Counted as they are told; read by the metrics.

    How long sweeps and reaps took is handed on to whoever wants to know.
    """

    count: int = 0
    last_seconds: float = 0.0
    actions: Counter[tuple[str, str]] = field(default_factory=Counter)
    reclaimed_bytes: int = 0
    troubles: int = 0
    took: list[Observe] = field(default_factory=list)
    reaped: list[Observe] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, sweep: Sweep) -> None:
        """Count what a sweep did."""
        with self._lock:
            self.count += 1
            self.last_seconds = sweep.seconds
            self.troubles += len(sweep.troubles)
            for outcome in sweep.outcomes:
                action = outcome.action
                self.actions[action.kind, outcome.result.value] += 1
                if outcome.result is not Result.DONE:
                    continue
                if isinstance(action, TrashSession | ArchiveSession | RemoveFiles):
                    self.reclaimed_bytes += action.size
        for observe in self.took:
            observe(sweep.seconds)
        for observe in self.reaped:
            for latency in sweep.latencies:
                observe(latency)
