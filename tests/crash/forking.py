"""Programs that fork while they use a ledger."""

from __future__ import annotations

import multiprocessing
import os
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from sexton import wiring
from sexton.sessions.agent_session import OpenSession
from tests.crash.appending import Token, fold_often
from tests.kit.nursery import Report

PER_CHILD = 4


def fork_while_busy(report: Report, url: str, rounds: str) -> None:
    """Fork again and again while other threads read and write; children write too."""
    with wiring.open(url) as sexton, sexton.worker() as worker:
        session = worker.session("talk", source="cli")
        with _busy_threads(report, session):
            for number in range(int(rounds)):
                pid = os.fork()
                if pid == 0:
                    _be_a_child(report, session, f"child{number}")
                say(report, session, "parent", number)
                _, status = os.waitpid(pid, 0)
                assert status == 0, f"child {number} ended with {status}"
        say(report, session, "parent", int(rounds))
    report.tell("finished")


def fork_while_folding(report: Report, url: str, rounds: str) -> None:
    """The same while whoever writes copies the log into the file, over and over."""
    fold_often()
    fork_while_busy(report, url, rounds)


def fork_while_opening(report: Report, url: str, rounds: str) -> None:
    """Fork while another thread opens and closes the same ledger; children write."""
    with wiring.open(url) as sexton, sexton.worker() as worker:
        session = worker.session("talk", source="chat")
        with _repeating(lambda: wiring.open(url).close()):
            for number in range(int(rounds)):
                pid = os.fork()
                if pid == 0:
                    _open_as_a_child(report, url, f"child{number}")
                say(report, session, "parent", number)
                _, status = os.waitpid(pid, 0)
                assert status == 0, f"child {number} ended with {status}"
    report.tell("finished")


def fork_with_multiprocessing(report: Report, url: str, rounds: str) -> None:
    """The same through multiprocessing, with children at the same time."""
    fork = multiprocessing.get_context("fork")
    with wiring.open(url) as sexton, sexton.worker() as worker:
        session = worker.session("talk", source="cli")
        for number in range(int(rounds)):
            say(report, session, "parent", number)
            children = [
                fork.Process(target=_say_some, args=(report, session, f"child{number}.{n}"))
                for n in range(2)
            ]
            for child in children:
                child.start()
            for child in children:
                child.join()
                assert child.exitcode == 0
        assert worker.resume(session.id).epoch == session.epoch
    report.tell("finished")


def outlive_the_parent(report: Report, url: str) -> None:
    """The parent closes everything and ends; its child goes on writing."""
    sexton = wiring.open(url)
    session = sexton.worker().session("talk", source="chat")
    say(report, session, "parent", 0)
    parent = os.getpid()  # asked by the child it might be somebody else by then
    if os.fork() == 0:
        for turn in count():
            say(report, session, "child", turn)
            if os.getppid() != parent and turn > 50:
                break
        report.tell("finished")
        os._exit(0)
    for turn in range(1, 20):
        say(report, session, "parent", turn)
    sexton.close()


def say(report: Report, session: OpenSession, who: str, turn: int) -> int:
    """Append one message and tell so; its number."""
    token = Token(who, turn, 1)
    last = session.append(role="user", content=token.texts()[0], turn=turn)
    report.tell("done", session.id, last, who, turn, 1)
    return last


def _be_a_child(report: Report, session: OpenSession, who: str) -> None:
    """Write and read through what was inherited, then exit."""
    code = 1
    try:
        last = _say_some(report, session, who)
        seqs = [message.seq for message in session.messages(after=last - 5)]
        assert seqs[:5] == list(range(last - 4, last + 1))
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def _open_as_a_child(report: Report, url: str, who: str) -> None:
    """Open the ledger anew beside what was inherited, write, then exit."""
    code = 1
    try:
        with wiring.open(url) as sexton, sexton.worker() as worker:
            _say_some(report, worker.session(who, source="chat"), who)
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def _say_some(report: Report, session: OpenSession, who: str) -> int:
    """Append a few messages; the number of the last one."""
    return [say(report, session, who, turn) for turn in range(PER_CHILD)][-1]


@contextmanager
def _busy_threads(report: Report, session: OpenSession) -> Iterator[None]:
    """Two threads that write and two that read."""
    left, right, last = count(), count(), [0]

    def write(who: str, turns: Iterator[int]) -> None:
        last[0] = say(report, session, who, next(turns))

    def read() -> None:
        list(session.messages(after=max(last[0] - 20, 0)))

    with (
        _repeating(lambda: write("left", left)),
        _repeating(lambda: write("right", right)),
        _repeating(read),
        _repeating(read),
    ):
        yield


@contextmanager
def _repeating(act: Callable[[], object]) -> Iterator[None]:
    """Do something over and over in a thread until the block ends."""
    stop = threading.Event()

    def loop() -> None:
        while not stop.is_set():
            act()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
