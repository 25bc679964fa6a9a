"""How much is measured?"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """The size of every workload; `growth` are the ledgers between which time may hardly grow.

    Many short rounds are better than few long ones: what else the machine does then hits all alike.
    But threads that have just been started are not yet those that write together.
    """

    rounds: int
    messages: int
    threads: tuple[int, ...]
    each: int
    sessions: int
    store: int
    growth: tuple[int, ...]
    homes: tuple[int, ...]
    starts: int
    times: int
    processes: int
    garbage: int
    removals: int

    @property
    def few(self) -> int:
        """Rounds where a peer takes long."""
        return min(self.rounds, 3)


FULL = Sizes(
    rounds=9,
    messages=720,
    threads=(16, 64),
    each=64,
    sessions=100_000,
    store=100_000,
    growth=(10_000, 100_000, 1_000_000),
    homes=(10_000, 100_000),
    starts=9,
    times=20,
    processes=1_000,
    garbage=100_000,
    removals=2_500,
)
QUICK = Sizes(
    rounds=5,
    messages=120,
    threads=(16, 64),
    each=6,
    sessions=10_000,
    store=5_000,
    growth=(1_000, 10_000),
    homes=(1_000, 10_000),
    starts=3,
    times=10,
    processes=1_000,
    garbage=5_000,
    removals=250,
)
TINY = Sizes(
    rounds=1,
    messages=12,
    threads=(4,),
    each=3,
    sessions=200,
    store=200,
    growth=(200, 400),
    homes=(200, 400),
    starts=1,
    times=2,
    processes=20,
    garbage=300,
    removals=30,
)
