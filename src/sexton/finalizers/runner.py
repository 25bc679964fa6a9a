"""Does end-of-session work: each piece has one owner at a time, and is retried until it is done.

An effect may run more than once if its keeper dies in the middle; it has the same key each time.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from datetime import datetime, timedelta
from functools import partial

from sexton.core.machine_ports import Clock
from sexton.core.message import Message, one_line
from sexton.core.record import made, record
from sexton.core.session import Session
from sexton.core.troubles import Troubles
from sexton.errors import LedgerError, SextonError
from sexton.finalizers.job import (
    ClaimLost,
    Effect,
    EffectFailed,
    EffectPostponed,
    Job,
    Stoppable,
)
from sexton.finalizers.model import Finalization, FinalizationState, Wanted
from sexton.finalizers.policy import MOST_CRASHES, Rate, RetryPolicy, is_excused, next_try
from sexton.finalizers.throttle import Pace
from sexton.store.ledger import Ledger

SHORTEST_WAIT = timedelta(seconds=2)
"""What has to wait is not looked at again before."""

Report = Callable[[], object]
Transcript = Callable[[Session, int, int], Iterator[Message]]
"""The messages of a session after one number, up to another."""


@record
class Duty:
    """How one finalizer's work is done, and how much of it at once."""

    effect: Effect
    concurrency: int = 4
    rate: Rate | None = None
    daily_calls: int | None = None
    retry: RetryPolicy = made(RetryPolicy)


class Runner:
    """Takes finalizations on and carries them out, each in a thread of its own.

    The threads are daemons: a program that ends does not wait for a slow effect, whose claim is
    free for others as soon as this process is gone.
    """

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        duties: Mapping[str, Duty],
        worker: Callable[[], str],
        transcript: Transcript,
        at_once: int = 32,
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._duties = duties
        self._worker = worker
        self._transcript = transcript
        self._at_once = at_once
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()
        self._threads = 0
        self._in_hand: dict[int, Finalization] = {}
        self._unreported: list[Report] = []
        self._paces = {name: Pace(duty.rate, clock) for name, duty in duties.items()}
        self._order = list(duties)
        self._tell = Troubles("sexton.finalizers", clock.monotonic, traced=True)
        self._unseen = Unseen(ledger, clock)
        self._changed = threading.Event()
        self._stopping = threading.Event()

    def run(self, pause: float = 1.0) -> None:
        """Do what is owed until stopped; looks again when something is finished, or after a pause.

        A ledger that is out of reach is waited for, and nothing else ends it either.
        """
        while not self._stopping.is_set():
            try:
                self.begin()
            except LedgerError as trouble:
                self._tell("ledger", "finalizers wait for the ledger", trouble)
            except Exception as trouble:  # noqa: BLE001  # sessions would owe for ever
                self._tell("runner", "the finalizers broke down and go on", trouble)
            self._changed.wait(pause)
            self._changed.clear()

    def drain(self, patience: float = 0.0) -> int:
        """Do all whose time has come or comes meanwhile; settle if stopped. How much was begun."""
        begun = 0
        while not self._stopping.is_set():
            idle = not self._threads and not self._unreported  # asked first: room may open
            more = self.begin()
            begun += more
            if idle and not more:
                break
            self._changed.wait(0.05)
            self._changed.clear()
        else:
            self.settle(patience)
        return begun

    def stop(self) -> None:
        """Take nothing more on."""
        self._stopping.set()
        self._changed.set()

    def settle(self, patience: float) -> None:
        """Once stopped, wait a while for what is running, stop it, and give it back."""
        self._wait(patience)
        if self._threads:
            for duty in self._duties.values():
                if isinstance(duty.effect, Stoppable):
                    duty.effect.stop()
            self._wait(patience)
        self._report_again()
        with self._lock:
            left = tuple(self._in_hand.values())
        for taken in left:
            self._report(taken, self._later(taken, "its keeper was stopped"))

    def _wait(self, patience: float) -> None:
        deadline = self._clock.monotonic() + patience
        while self._threads and self._clock.monotonic() < deadline:
            self._changed.wait(0.05)
            self._changed.clear()

    def begin(self) -> int:
        """Take on as much as there is room for; how much that was."""
        self._report_again()
        for lost in self._unseen.of(self._worker(), self._known):
            self._report(lost, self._later(lost, "its keeper did not hear that it had it"))
        begun, at_once = 0, self._at_once
        for name in tuple(self._order):
            duty = self._duties[name]
            room = min(duty.concurrency - self._running[name], at_once - self._running.total())
            claimed = self._claim(name, room)
            if claimed:  # the others come first next time, so that nobody starves
                self._order.remove(name)
                self._order.append(name)
            for taken in claimed:
                self._start(taken, duty)
            begun += len(claimed)
        return begun

    def _claim(self, name: str, room: int) -> list[Finalization]:
        """As many as there is room for and the pace allows."""
        pace, now = self._paces[name], self._clock.now()
        allowed = pace.take(room)
        if not allowed:
            return []
        taken = self._ledger.finalizing.claim(self._worker(), [name], allowed, now)
        pace.give_back(allowed - len(taken))
        return taken

    def _start(self, taken: Finalization, duty: Duty) -> None:
        name = taken.finalizer
        with self._lock:
            self._running[name] += 1
            self._threads += 1
            self._in_hand[taken.ref] = taken
        try:
            threading.Thread(
                target=self._carry_out, args=(taken, duty), name=f"sexton-{name}", daemon=True
            ).start()
        except (
            RuntimeError,
            MemoryError,
        ):  # at a limit of the system there is none; the claim is ours already
            self._carry_out(taken, duty)

    def _carry_out(self, taken: Finalization, duty: Duty) -> None:
        try:
            try:
                report = self._attempt(taken, duty)
            except BaseException as bug:  # noqa: BLE001  # of an effect: it must not take the keeper down
                self._tell(taken.finalizer, f"the finalizer {taken.finalizer} broke down", bug)
                failure = EffectFailed(f"broke down: {type(bug).__name__}")
                report = self._failed(taken, duty, failure)
            finally:  # the next may begin while the ledger is told
                with self._lock:
                    self._running[taken.finalizer] -= 1
                self._changed.set()
            self._report(taken, report)
        finally:
            with self._lock:
                self._threads -= 1
                self._in_hand.pop(taken.ref, None)
            self._changed.set()

    def _attempt(self, taken: Finalization, duty: Duty) -> Report:
        """Do the work; how to tell the ledger what came of it."""
        finalizing, now = self._ledger.finalizing, self._clock.now
        if taken.crashes >= MOST_CRASHES:
            failure = EffectFailed(f"{taken.crashes} keepers died while doing it", hopeless=True)
            return self._failed(taken, duty, failure)
        heard = Heard(expected=taken.through - taken.since)
        try:
            note = duty.effect.carry_out(self._job(taken, duty, heard))
        except ClaimLost:
            return lambda: None
        except EffectPostponed as later:
            return self._later(taken, str(later), later.until)
        except EffectFailed as failure:
            return self._failed(taken, duty, failure)
        except SextonError as trouble:  # a ledger or a home out of reach is not its fault
            again = next_try(0, duty.retry, None, now(), random.random())  # noqa: S311
            return self._later(taken, str(trouble), again)
        self._paces[taken.finalizer].recover()
        words = one_line(f"{note}{heard.lack}")
        return lambda: finalizing.finish(taken, words, now())

    def _failed(self, taken: Finalization, duty: Duty, failure: EffectFailed) -> Report:
        now = self._clock.now
        is_wish = not failure.hopeless and is_excused(failure.after, taken.owed_at, now())
        if failure.outage:
            self._paces[taken.finalizer].rest(failure.after)
        chance = random.random()  # noqa: S311  # spreads retries, hides nothing
        again = None
        if not failure.hopeless:
            tries = 0 if is_wish else taken.attempts + 1
            again = next_try(tries, duty.retry, failure.after, now(), chance)
        fate = "given up" if again is None else "tried again"
        words = f"{one_line(taken.key)} failed and is {fate}: {failure.for_logs}"
        self._tell(taken.finalizer, words)
        put_back, why = self._ledger.finalizing.put_back, str(failure)
        return lambda: put_back(taken, one_line(why), again, now(), counted=not is_wish)

    def _later(self, taken: Finalization, why: str, until: datetime | None = None) -> Report:
        """What is not the fault of the work does not count as a try."""
        now = self._clock.now
        again = max(until or now(), now() + SHORTEST_WAIT)
        put_back = self._ledger.finalizing.put_back
        return lambda: put_back(taken, one_line(why), again, now(), counted=False)

    def _job(self, taken: Finalization, duty: Duty, heard: Heard) -> Job:
        finalizing, pace = self._ledger.finalizing, self._paces[taken.finalizer]
        found = self._ledger.index.find(taken.home, taken.session)
        if not found:
            raise ClaimLost
        session = found[0]

        def memoise(memo: bytes) -> None:
            if not finalizing.memoise(taken, memo):
                raise ClaimLost

        prepaid = [1]  # by the claim

        def spend(calls: int) -> bool:
            most = duty.daily_calls
            for _ in range(calls - (prepaid.pop() if prepaid else 0)):
                pace.take_call()
            today = self._clock.now().date()
            return most is None or finalizing.spend(taken.finalizer, today, calls, most)

        return Job(
            key=taken.key,
            finalizer=taken.finalizer,
            session=session,
            since=taken.since,
            through=taken.through,
            attempt=taken.attempts + 1,
            messages=lambda: heard(self._transcript(session, taken.since, taken.through)),
            memo=finalizing.memo(taken),
            memoise=memoise,
            spend=spend,
        )

    def _report(self, taken: Finalization, report: Report, *, is_last: bool = False) -> None:
        """Tell the ledger; what it can not hear now is told again, for the claim stays ours."""
        try:
            report()
        except LedgerError as trouble:
            self._tell("ledger", "a finalizer's outcome waits for the ledger", trouble)
            with self._lock:
                self._unreported.append(partial(self._report, taken, report, is_last=is_last))
        except Exception as bug:  # noqa: BLE001  # nobody else may touch the work while we live
            self._tell("outcome", f"the outcome of {one_line(taken.key)} can not be stored", bug)
            if not is_last:
                failure = EffectFailed(f"its outcome can not be stored: {type(bug).__name__}")
                failed = self._failed(taken, self._duties[taken.finalizer], failure)
                self._report(taken, failed, is_last=True)

    def _known(self) -> frozenset[int] | None:
        """What is in hand; not known while an outcome waits to be told."""
        with self._lock:
            return None if self._unreported else frozenset(self._in_hand)

    def _report_again(self) -> None:
        with self._lock:
            waiting, self._unreported = self._unreported, []
        for report in waiting:
            report()


class Heard:
    """Counts the messages that are read: a foreign home may have dropped some since."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._found = expected

    def __call__(self, messages: Iterable[Message]) -> Iterator[Message]:
        """The messages; where none is left there is nothing to be done, now or later."""
        found = 0
        for message in messages:
            found += 1
            yield message
        self._found = found
        if not found:
            raise EffectFailed("its home holds none of its messages any more", hopeless=True)

    @property
    def lack(self) -> str:
        """What to add to a note, if some were gone."""
        if self._found >= self._expected:
            return ""
        return f"; its home held only {self._found} of {self._expected} messages"


LOOK_EVERY = 60.0
MOST = 1000


class Unseen:
    """Looks now and then for jobs that are ours by the ledger and in nobody's hands here.

    A ledger that breaks off while it is asked for jobs may have given them all the same, and
    nobody else takes on what belongs to a worker that lives.
    """

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock
        self._looked = clock.monotonic()

    def of(self, worker: str, in_hand: Callable[[], Set[int] | None]) -> list[Finalization]:
        """Such work; none while it is not known what is in hand (None), which is asked last."""
        now = self._clock.monotonic()
        if now - self._looked < LOOK_EVERY:
            return []
        running = self._ledger.finalizing.page(Wanted(state=FinalizationState.RUNNING), None, MOST)
        self._looked, known = now, in_hand()
        if known is None:
            return []
        return [each for each in running if each.worker == worker and each.ref not in known]
