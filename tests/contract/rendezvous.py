"""Races on PostgreSQL that come out the same way each time.

A job of a race stops after a chosen statement and before each commit. The next job starts, or a
stopped one goes on, only when every other job has stopped, has ended or waits for a lock. So a job
whose lock is missing certainly goes on with what was true before another one's commit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import psycopg
import pytest

from sexton.store.postgres import PostgresDatabase, PostgresTransaction

T = TypeVar("T")
PATIENCE, PAUSE = 240.0, 0.002
TOGETHER = 8  # a ledger lends 16 connections
NEVER_CUT = "options=-c%20idle_in_transaction_session_timeout%3D0"
IS_BLOCKED = "SELECT cardinality(pg_blocking_pids(%s)) > 0"


class Runner:
    """A job of a race in a thread of its own."""

    def __init__(self) -> None:
        self.future: Future[Any]
        self.backend = 0
        self.is_stopped = self.is_about_to_commit = False
        self._may_go_on = threading.Semaphore(0)

    def stop(self, *, before_commit: bool) -> None:
        self.is_about_to_commit = before_commit
        self.is_stopped = True
        if not self._may_go_on.acquire(timeout=PATIENCE):
            raise TimeoutError("nobody let this job go on")

    def go_on(self) -> None:
        self.is_stopped = False
        self._may_go_on.release()


class Rendezvous:
    """Runs races in four orders, one after the other.

    Each second race starts with the last job. In two of four, all jobs come to their commits before
    the first of them commits. In the other two, the job that started last goes on to its end first.
    """

    def __init__(self, watcher: psycopg.Connection[Any], statement: str) -> None:
        self._watcher = watcher
        self._statement = statement
        self._mine = threading.local()
        self._races = 0

    def install(self, patch: pytest.MonkeyPatch, module: Any) -> None:
        """Let the races of a module of the contract run here, and every transaction stop."""
        write, call, run = PostgresDatabase.write, PostgresDatabase._call, PostgresTransaction.all

        def stop_before_commit(database: Any, job: Callable[[Any], T], **options: Any) -> T:
            def stopping(tx: Any) -> T:
                result = job(tx)
                self._stop(before_commit=True)
                return result

            return write(database, stopping, **options)

        def tell_backend(database: Any, job: Callable[[Any], T], **options: Any) -> T:
            def telling(connection: Any) -> T:
                if (runner := self._runner()) is not None:
                    runner.backend = connection.info.backend_pid
                return job(connection)

            return call(database, telling, **options)

        def stop_after_statement(tx: Any, name: str, /, **values: Any) -> Any:
            rows = run(tx, name, **values)
            if name == self._statement:
                self._stop(before_commit=False)
            return rows

        patch.setattr(PostgresDatabase, "write", stop_before_commit)
        patch.setattr(PostgresDatabase, "_call", tell_backend)
        patch.setattr(PostgresTransaction, "all", stop_after_statement)
        patch.setattr(module, "race", self.race, raising=False)

    def race(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """The results of the jobs, in their order."""
        runners = [Runner() for _ in jobs]
        waiting = list(zip(runners, jobs, strict=True))
        if self._races % 2:
            waiting.reverse()
        last_goes_on_first = self._races % 4 > 1
        self._races += 1
        started: list[Runner] = []
        with ThreadPoolExecutor(len(jobs)) as pool:
            while waiting or started:
                if waiting and len(started) < TOGETHER:
                    runner, job = waiting.pop(0)
                    runner.future = pool.submit(self._run, runner, job)
                    started.append(runner)
                else:
                    stopped = [runner for runner in started if runner.is_stopped]
                    if last_goes_on_first:
                        stopped[-1].go_on()
                    else:
                        min(stopped, key=lambda runner: runner.is_about_to_commit).go_on()
                self._settle(started)
        return [runner.future.result() for runner in runners]

    def _run(self, runner: Runner, job: Callable[[], T]) -> T:
        self._mine.runner = runner
        return job()

    def _runner(self) -> Runner | None:
        return getattr(self._mine, "runner", None)

    def _stop(self, *, before_commit: bool) -> None:
        if (runner := self._runner()) is not None:
            runner.stop(before_commit=before_commit)

    def _settle(self, started: list[Runner]) -> None:
        """Wait until each job has stopped, has ended or waits for one that has stopped."""
        until = time.monotonic() + PATIENCE
        while started and not (
            all(self._stands(runner) for runner in started)
            and any(runner.is_stopped for runner in started)
        ):
            if time.monotonic() > until:
                raise TimeoutError("the jobs wait for each other")
            time.sleep(PAUSE)
            started[:] = [runner for runner in started if not runner.future.done()]

    def _stands(self, runner: Runner) -> bool:
        if runner.is_stopped:
            return True
        found = self._watcher.execute(IS_BLOCKED, [runner.backend]).fetchone()
        return found == (True,)
