"""What did a sweep see and do?"""

from __future__ import annotations

from dataclasses import dataclass

from sexton.core.plan import Held, Outcome
from sexton.keeper.observe import Observed
from sexton.processes.after_session import Noted
from sexton.spending.model import Freed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What one sweep saw and did; `receipt` names it in the journal if it did anything.

    `latencies` are seconds from the last sign of life of holders to the end of their sessions.
    """

    receipt: str
    observed: tuple[Observed, ...]
    outcomes: tuple[Outcome, ...]
    held: tuple[Held, ...]
    troubles: tuple[str, ...]
    finished: bool
    finalizing: int = 0
    freed: tuple[Freed, ...] = ()
    processes: tuple[Noted, ...] = ()
    seconds: float = 0.0
    latencies: tuple[float, ...] = ()
