"""How is end-of-session work done, exactly once and without anybody waiting for it?"""

from __future__ import annotations

import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from sexton.errors import LedgerError, SextonError
from sexton.model.finalization import Finalization
from sexton.model.message import Message, one_line
from sexton.model.record import made, record, replace
from sexton.model.session import Session
from sexton.policies.finalizing import Bucket, Rate, RetryPolicy, filled, next_try, take
from sexton.ports import Clock, Ledger
from sexton.ports.finalizing import ClaimLost, Effect, EffectFailed, EffectPostponed, Job

TELL_EVERY = 60.0
"""Seconds between two lines about the same trouble."""

log = logging.getLogger("sexton.finalizers")

Report = Callable[[], object]
Transcript = Callable[[Session, int, int], Iterator[Message]]
"""The messages of a session after one number, up to another."""


@record
class Duty:
    """What a keeper is ready to do for one finalizer, and how much of it at once."""

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
        self._unreported: list[Report] = []
        self._buckets: dict[str, Bucket] = {}
        self._told: dict[str, float] = {}
        self._changed = threading.Event()
        self._stopping = threading.Event()

    def run(self, pause: float = 1.0) -> None:
        """Do what is owed until stopped; looks again when something is finished, or after a pause.

        A ledger that is out of reach is waited for.
        """
        while not self._stopping.is_set():
            try:
                self.begin()
            except LedgerError as trouble:
                self._tell("ledger", "finalizers wait for the ledger: %s", trouble)
            self._changed.wait(pause)
            self._changed.clear()

    def drain(self) -> int:
        """Do everything whose time has come, and what comes due meanwhile; how much was begun."""
        begun = 0
        while not self._stopping.is_set():
            idle = not self._threads and not self._unreported  # asked first: room may open
            more = self.begin()
            begun += more
            if idle and not more:
                break
            self._changed.wait(0.05)
            self._changed.clear()
        return begun

    def stop(self) -> None:
        """Take nothing more on."""
        self._stopping.set()
        self._changed.set()

    def settle(self, patience: float) -> None:
        """Wait a while for what is running, once stopped."""
        deadline = self._clock.monotonic() + patience
        while self._threads and self._clock.monotonic() < deadline:
            self._changed.wait(0.05)
            self._changed.clear()
        self._report_again()

    def begin(self) -> int:
        """Take on as much as there is room for; how much that was."""
        self._report_again()
        begun, at_once = 0, self._at_once
        for name, duty in self._duties.items():
            room = min(duty.concurrency - self._running[name], at_once - self._running.total())
            for taken in self._claim(name, duty, room):
                self._start(taken, duty)
                begun += 1
        return begun

    def _claim(self, name: str, duty: Duty, room: int) -> list[Finalization]:
        """As many as there is room for and the rate allows."""
        now, bucket = self._clock.now(), None
        if duty.rate is not None:
            bucket = self._buckets.get(name) or filled(duty.rate, now)
            bucket, room = take(bucket, duty.rate, max(room, 0), now)
        if room <= 0:
            return []
        taken = self._ledger.finalizing.claim(self._worker(), [name], room, now)
        if bucket is not None:
            self._buckets[name] = replace(bucket, left=bucket.left + room - len(taken))
        return taken

    def _start(self, taken: Finalization, duty: Duty) -> None:
        name = taken.finalizer
        with self._lock:
            self._running[name] += 1
            self._threads += 1
        thread = threading.Thread(
            target=self._carry_out, args=(taken, duty), name=f"sexton-{name}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # at a limit of the system there is none; the claim is ours already
            self._carry_out(taken, duty)

    def _carry_out(self, taken: Finalization, duty: Duty) -> None:
        try:
            try:
                report = self._attempt(taken, duty)
            finally:  # the next may begin while the ledger is told
                with self._lock:
                    self._running[taken.finalizer] -= 1
                self._changed.set()
            self._report(report)
        finally:
            with self._lock:
                self._threads -= 1
            self._changed.set()

    def _attempt(self, taken: Finalization, duty: Duty) -> Report:
        """Do the work; how to tell the ledger what came of it."""
        finalizing, now = self._ledger.finalizing, self._clock.now
        try:
            note = duty.effect.carry_out(self._job(taken, duty))
        except ClaimLost:
            return lambda: None
        except EffectPostponed as later:
            why, until = str(later), later.until
            return lambda: finalizing.put_back(taken, why, until, now(), counted=False)
        except EffectFailed as failure:
            return self._failed(taken, duty, failure)
        except SextonError as trouble:  # a ledger or a home out of reach is not its fault
            again = next_try(0, duty.retry, None, now(), random.random())  # noqa: S311
            why = str(trouble)
            return lambda: finalizing.put_back(taken, why, again, now(), counted=False)
        except Exception as bug:  # noqa: BLE001  # an effect nobody foresaw must not take the keeper down
            words = "the finalizer %s broke down"
            self._tell(taken.finalizer, words, taken.finalizer, exc_info=True)
            return self._failed(taken, duty, EffectFailed(f"broke down: {type(bug).__name__}"))
        return lambda: finalizing.finish(taken, one_line(note), now())

    def _failed(self, taken: Finalization, duty: Duty, failure: EffectFailed) -> Report:
        chance = random.random()  # noqa: S311  # spreads retries, hides nothing
        again = None
        if not failure.hopeless:
            moment = self._clock.now()
            again = next_try(taken.attempts, duty.retry, failure.after, moment, chance)
        fate = "given up" if again is None else "tried again"
        words = "%s failed and is %s: %s"
        self._tell(taken.finalizer, words, one_line(taken.key), fate, failure)
        put_back, now = self._ledger.finalizing.put_back, self._clock.now
        return lambda: put_back(taken, one_line(str(failure)), again, now())

    def _job(self, taken: Finalization, duty: Duty) -> Job:
        finalizing = self._ledger.finalizing
        found = self._ledger.index.find(taken.home, taken.session)
        if not found:
            raise ClaimLost
        session = found[0]

        def memoise(memo: bytes) -> None:
            if not finalizing.memoise(taken, memo):
                raise ClaimLost

        def spend(calls: int) -> bool:
            most = duty.daily_calls
            today = self._clock.now().date()
            return most is None or finalizing.spend(taken.finalizer, today, calls, most)

        return Job(
            key=taken.key,
            finalizer=taken.finalizer,
            session=session,
            since=taken.since,
            through=taken.through,
            attempt=taken.attempts,
            messages=lambda: self._transcript(session, taken.since, taken.through),
            memo=finalizing.memo(taken),
            memoise=memoise,
            spend=spend,
        )

    def _report(self, report: Report) -> None:
        """Tell the ledger; what it can not hear now is told again, for the claim stays ours."""
        try:
            report()
        except LedgerError as trouble:
            self._tell("ledger", "a finalizer's outcome waits for the ledger: %s", trouble)
            with self._lock:
                self._unreported.append(report)

    def _report_again(self) -> None:
        with self._lock:
            waiting, self._unreported = self._unreported, []
        for report in waiting:
            self._report(report)

    def _tell(self, about: str, words: str, *values: object, exc_info: bool = False) -> None:
        """Log a warning, at most one a minute about the same thing."""
        now = self._clock.monotonic()
        with self._lock:
            if now - self._told.get(about, float("-inf")) < TELL_EVERY:
                return
            self._told[about] = now
        log.warning(words, *values, exc_info=exc_info)
