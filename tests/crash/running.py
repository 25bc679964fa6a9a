"""How a campaign runs: rounds that can be repeated, figures, and what never came up."""

from __future__ import annotations

import os
import random
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.kit.postgres_server import PostgresServer

ENGINES = ("sqlite", "postgres")
TOLD_EVERY = 10
LONGER = 4
"""So many times as long as asked for it goes on at most, until everything rare has come up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What the environment asks for: N, SEED, and one ROUND on one ENGINE to repeat."""

    number: int
    seed: int
    only: int | None = None
    engines: Sequence[str] = ENGINES


def order(*, full: int, ci: int) -> Order:
    """The order of the environment, with these numbers where it names none."""
    given, only, engine = (os.environ.get(name) for name in ("N", "ROUND", "ENGINE"))
    if engine is not None and engine not in ENGINES:
        sys.exit(f"ENGINE={engine}: there are {' and '.join(ENGINES)}")
    return Order(
        number=int(given or (ci if os.environ.get("CI") else full)),
        seed=int(os.environ.get("SEED") or random.SystemRandom().randrange(1_000_000)),
        only=None if only is None else int(only),
        engines=ENGINES if engine is None else (engine,),
    )


class Place:
    """Ledgers of one engine, one after the other."""

    def __init__(self, directory: Path, server: PostgresServer | None) -> None:
        self._directory = directory
        self._server = server
        self._number = 0
        self._url: str | None = None

    def another(self) -> str:
        """The address of a ledger that does not exist yet; others stay."""
        self._number += 1
        if self._server is None:
            return f"sqlite:///{self._directory / f'{self._number}.db'}"
        return self._server.create_database()

    def fresh(self) -> str:
        """The same, and the one before it is removed."""
        if self._server is None:
            for path in self._directory.glob("*"):
                path.unlink()
        elif self._url is not None:
            self._server.drop_database(self._url)
        self._url = self.another()
        return self._url


MEMORY = Path("/dev/shm")


@contextmanager
def places(*, in_memory: bool = False) -> Iterator[dict[str, Place]]:
    """A place for the ledgers of each engine; no process that dies takes memory files with it."""
    with ExitStack() as stack:
        root = MEMORY if in_memory and os.access(MEMORY, os.W_OK) else None
        made = tempfile.TemporaryDirectory(prefix="sexton-crash-", dir=root)
        directory = Path(stack.enter_context(made))
        server = stack.enter_context(PostgresServer())
        yield {"sqlite": Place(directory, None), "postgres": Place(directory, server)}


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came up on one engine, and what went wrong."""

    module: str
    engine: str
    seed: int
    number: int
    counted: str
    rare: Sequence[str] = ()
    events: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    rounds: int = 0

    def run(self, only: int | None, act: Callable[[random.Random, int], None]) -> None:
        """Rounds until nothing is left, each with chances of its own; or that one only."""
        while self.left and (only is None or not self.rounds):
            at = self.rounds if only is None else only
            self.rounds += 1
            try:
                act(random.Random(f"{self.seed} {self.engine} {at}"), at)
            except AssertionError:
                self.failures.append(f"{traceback.format_exc()}again with: {self._replay(at)}")
                self.events[self.counted] += 1  # a round that fails at once must not go on for ever
            if self.rounds % TOLD_EVERY == 0:
                self._tell_progress()

    @property
    def left(self) -> int:
        """How many are to come: as many as asked for, then one more while something is missing."""
        done = self.events[self.counted]
        if done < self.number:
            return self.number - done
        return int(bool(self.never) and done < self.number * LONGER)

    @property
    def never(self) -> list[str]:
        """What should have come up and did not."""
        return [f"{event} ({self.engine})" for event in self.rare if not self.events[event]]

    def tell(self) -> None:
        """Print the figures."""
        for event, times in sorted(self.events.items()):
            print(f"  {self.engine:9} {times:7} {event}", flush=True)
        for failure in self.failures:
            print(f"FAILED on {self.engine}: {failure}", flush=True)

    def _tell_progress(self) -> None:
        done = f"{self.events[self.counted]} of {self.number} {self.counted}"
        print(f"  {self.engine:9} {done}", file=sys.stderr, flush=True)

    def _replay(self, at: int) -> str:
        return f"SEED={self.seed} ENGINE={self.engine} ROUND={at} python -m {self.module}"


def verdict(tallies: Sequence[Tally], wanted: Order, forbidden: Sequence[str] = ()) -> int:
    """Print how it went as a whole; what a shell takes for success or failure.

    Of one repeated round no rare event is asked for.
    """
    never = [each for tally in tallies for each in tally.never] if wanted.only is None else []
    for event in never:
        print(f"never came up: {event}")
    for kind in forbidden:
        print(f"not possible on this machine: {kind}")
    failed = sum(len(tally.failures) for tally in tallies)
    passed = sum(tally.events[tally.counted] for tally in tallies) - failed
    print(f"SEED={wanted.seed}\n{passed} {tallies[0].counted} passed, {failed} failed", flush=True)
    return 1 if never or failed else 0
