"""Does a program get its work, end in time, and never run twice at once?"""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from sexton.core.clock import SystemClock
from sexton.core.message import Message
from sexton.finalizers.effects.command_effect import Command, CommandPlan
from sexton.finalizers.effects.job_processes import VARIABLE, carriers, stop, tag_of
from sexton.finalizers.effects.program_talk import Talk
from sexton.finalizers.job import EffectFailed, EffectPostponed
from tests.golden import golden
from tests.kit.nursery import Nursery
from tests.scenario.effects_desk import SECRET, Desk, message

PATIENCE = 240.0
KEY = f"native/s1/2/notes-{os.getpid()}"
"""Of this process only: tests that run beside it must not stop its programs."""
TAG = tag_of(KEY)
OK = "exit code 0"


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test left running ends with it."""
    monkeypatch.setenv("DESK_KEY", KEY)
    yield
    assert stop(TAG, SystemClock(), timedelta())


def command(
    *arguments: str,
    timeout: float = PATIENCE,
    grace: float = PATIENCE,
    cwd: str | None = None,
    is_late: Callable[[], bool] = lambda: False,
) -> Command:
    plan = CommandPlan(
        command=arguments,
        timeout=timedelta(seconds=timeout),
        grace=timedelta(seconds=grace),
        cwd=cwd,
    )
    return Command(plan, Leaping(is_late), os.environ)


class Leaping(SystemClock):
    """A clock that leaps over every deadline once a condition is true.

    Only when it is asked again: what was said before that has been heard.
    """

    def __init__(self, is_late: Callable[[], bool]) -> None:
        self._is_late = is_late
        self._was_late = False

    def monotonic(self) -> float:
        leap = 10 * PATIENCE if self._was_late else 0.0
        self._was_late = self._was_late or self._is_late()
        return super().monotonic() + leap


def shell(script: str, is_late: Callable[[], bool] = lambda: False) -> Command:
    return command("sh", "-c", script, is_late=is_late)


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether the condition comes true soon."""
    for _ in range(int(PATIENCE * 50)):
        if condition():
            return True
        time.sleep(0.02)
    return False


def lives(pid: int) -> bool:
    """Whether a process exists and has not exited; whoever has to collect it may be late."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_it_reads_one_object_and_knows_its_key(tmp_path: Path) -> None:
    script = f'cat > {tmp_path}/in; echo "$SEXTON_IDEMPOTENCY_KEY $SEXTON_FINALIZATION_TAG" > env'
    desk = Desk(tmp_path, title="A \U0001f600 title")
    run = command("sh", "-c", script, cwd=str(tmp_path))
    assert run.carry_out(desk.job()) == OK
    told = json.loads((tmp_path / "in").read_bytes())
    ended = "2026-01-01T12:00:00.000000Z"
    assert told == {
        "idempotency_key": KEY,
        "finalizer": "notes",
        "home": "native",
        "session": {
            "id": "s1", "key": "k", "source": "cli", "started_at": ended, "ended_at": ended,
            "end_reason": "idle", "message_count": 2, "title": "A \U0001f600 title",
            "parent": None, "relation": None,
        },
        "end_reason": "idle",
        "since": 0,
        "through": 2,
        "attempt": 1,
        "messages": [
            {"seq": 1, "at": ended, "role": "user", "content": f"hello, {SECRET}", "extra": {}},
            {"seq": 2, "at": ended, "role": "assistant",
             "content": [{"type": "text", "text": "good day"}], "extra": {}},
        ],
    }  # fmt: skip
    assert (tmp_path / "env").read_text(encoding="utf-8") == f"{KEY} {TAG}\n"


def test_a_session_without_messages_is_an_object_as_well(tmp_path: Path) -> None:
    desk = Desk(tmp_path, said=lambda: iter(()))
    shell(f"cat > {tmp_path}/in").carry_out(desk.job())
    assert json.loads((tmp_path / "in").read_bytes())["messages"] == []


def test_ten_megabytes_of_any_text_arrive_as_they_were(tmp_path: Path) -> None:
    def said() -> Iterator[Message]:
        yield message(0, "user", "\ud800 \0 \u2028 é " * 400_000)
        yield from (message(seq, "tool", {"n": seq, "text": "x" * 50_000}) for seq in range(1, 60))

    shell(f"cat > {tmp_path}/in").carry_out(Desk(tmp_path, said=said).job())
    assert (tmp_path / "in").stat().st_size > 10_000_000
    told = json.loads((tmp_path / "in").read_bytes())
    assert [each["content"] for each in told["messages"]] == [each.content for each in said()]


def test_a_program_need_not_read_and_may_close_its_input(tmp_path: Path) -> None:
    desk = Desk(tmp_path, said=lambda: (message(n, "user", "x" * 100_000) for n in range(100)))
    assert command("true").carry_out(desk.job()) == OK
    assert shell("exec <&-; sleep 0.2").carry_out(desk.job()) == OK


@pytest.mark.parametrize("code", [1, 75])
def test_another_exit_code_is_a_failure_with_the_last_words(code: int, tmp_path: Path) -> None:
    script = f"seq 100000; echo on stdout; echo on stderr >&2; exit {code}"
    with pytest.raises(EffectFailed) as caught:
        shell(script).carry_out(Desk(tmp_path).job())
    assert re.findall(r"\d+", caught.value.for_logs) == [f"{code}"]
    assert str(caught.value).endswith("100000 on stdout on stderr")
    assert len(str(caught.value)) < 2100
    assert not caught.value.hopeless
    assert SECRET not in str(caught.value)


def test_what_a_program_said_last_is_heard_after_its_end() -> None:
    with subprocess.Popen(
        ["echo", "goodbye"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        with Talk(process, iter([b"hello"])) as talk:
            clock = SystemClock()
            assert talk.until_exit(clock, clock.monotonic() + PATIENCE) == 0
        assert talk.tail == b"goodbye\n"


def test_a_program_that_dies_of_a_signal_has_failed(tmp_path: Path) -> None:
    with pytest.raises(EffectFailed) as caught:
        shell("kill -9 $$").carry_out(Desk(tmp_path).job())
    golden("effects", "command: died of a signal", str(caught.value))


def test_a_program_that_can_not_be_started_is_named(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("text", encoding="utf-8")
    nowhere = str(tmp_path / "nowhere")
    for name, effect, error in (
        ("missing", command(str(tmp_path / "missing")), errno.ENOENT),
        ("plain", command(str(tmp_path / "plain")), errno.EACCES),
        ("nowhere", command("true", cwd=nowhere), errno.ENOENT),
    ):
        with pytest.raises(EffectFailed) as caught:
            effect.carry_out(Desk(tmp_path).job())
        assert str(caught.value).endswith(f"{tmp_path / name}: {os.strerror(error)}")


def test_it_leads_a_session_of_its_own(tmp_path: Path) -> None:
    script = "import os; assert os.getsid(0) == os.getpgid(0) == os.getpid()"
    command(sys.executable, "-c", script).carry_out(Desk(tmp_path).job())


def test_only_the_program_is_waited_for_not_who_holds_its_pipes(tmp_path: Path) -> None:
    assert shell("sleep 600 & echo left").carry_out(Desk(tmp_path).job()) == OK
    assert eventually(lambda: len(carriers(TAG)) == 1)  # one that is just starting shows no tag


def test_what_an_attempt_left_behind_is_stopped_before_the_next(tmp_path: Path) -> None:
    with pytest.raises(EffectFailed):
        shell("sleep 600 & exit 1").carry_out(Desk(tmp_path).job())
    assert eventually(lambda: len(carriers(TAG)) == 1)
    (left,) = carriers(TAG)
    shell("true").carry_out(Desk(tmp_path).job())
    assert not lives(left)


FORKS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(2):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        break
print("still here", flush=True)  # heard before it is late, which it is when all files are there
open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
while True:
    print("still here", flush=True)
    time.sleep(0.05)
"""


def test_a_program_that_forks_and_hangs_is_stopped_with_all_it_started(tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    program = (sys.executable, "-c", FORKS, str(tmp_path / "pids"))

    def all_are_here() -> bool:
        return len(list((tmp_path / "pids").iterdir())) == 3

    with pytest.raises(EffectFailed) as caught:
        command(*program, grace=0.2, is_late=all_are_here).carry_out(Desk(tmp_path).job())
    golden("effects", "command: out of time", caught.value.for_logs)
    assert "still here" in str(caught.value)
    pids = [int(each.name) for each in (tmp_path / "pids").iterdir()]
    assert len(pids) == 3
    assert not any(map(lives, pids))
    assert not carriers(TAG)


TIDY = """
import pathlib, signal, sys
def tidy(*_):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # who is told twice dies at once
    signal.sigtimedwait([], 0.3)
    print("tidying up", flush=True)
    pathlib.Path(sys.argv[1], "tidied").touch()
    sys.exit()
signal.signal(signal.SIGTERM, tidy)
pathlib.Path(sys.argv[1], "ready").touch()  # from now on it is late
while True:  # each line makes the other side look at its clock
    print("ready", flush=True)
    signal.sigtimedwait([], 0.05)
"""


def test_a_program_that_is_out_of_time_may_tidy_up(tmp_path: Path) -> None:
    program = (sys.executable, "-c", TIDY, str(tmp_path))
    ready = (tmp_path / "ready").exists
    with pytest.raises(EffectFailed) as caught:
        command(*program, is_late=ready).carry_out(Desk(tmp_path).job())
    golden("effects", "command: out of time", caught.value.for_logs)
    assert "ready" in str(caught.value)
    assert (tmp_path / "tidied").exists()


def test_a_program_that_shed_its_environment_is_stopped_as_well(tmp_path: Path) -> None:
    loop = "while :; do echo here; sleep 0.05; done"
    script = f"echo $$ > {tmp_path}/pid; exec env -i PATH={os.defpath} sh -c '{loop}'"
    note = tmp_path / "pid"

    def has_begun() -> bool:
        return note.exists() and note.read_text(encoding="ascii").endswith("\n")

    with pytest.raises(EffectFailed) as caught:
        shell(script, has_begun).carry_out(Desk(tmp_path).job())
    golden("effects", "command: out of time", caught.value.for_logs)
    assert not lives(int(note.read_text(encoding="ascii")))


def test_a_stranger_with_another_tag_lives_on(tmp_path: Path) -> None:
    environ = os.environ | {VARIABLE: tag_of("other work"), "OTHER": TAG}
    with subprocess.Popen(["sleep", "600"], env=environ) as stranger:
        shell("true").carry_out(Desk(tmp_path).job())
        assert stranger.poll() is None
        stranger.kill()


class _Unreadable(Exception):
    pass


def test_if_the_messages_can_not_be_read_the_program_is_stopped(tmp_path: Path) -> None:
    def said() -> Iterator[Message]:
        yield message(1, "user", "x")
        raise _Unreadable

    with pytest.raises(_Unreadable):
        shell("cat; sleep 600").carry_out(Desk(tmp_path, said=said).job())
    assert not carriers(TAG)


def test_a_child_that_is_forked_meanwhile_does_not_keep_the_input_open(tmp_path: Path) -> None:
    script = f"touch {tmp_path}/begun; cat > /dev/null"
    children: list[int] = []

    def said() -> Iterator[Message]:
        assert eventually((tmp_path / "begun").exists)
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        children.append(child)
        yield message(1, "user", "hello")

    try:
        assert shell(script).carry_out(Desk(tmp_path, said=said).job()) == OK
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_what_is_stopped_with_its_keeper_is_postponed(tmp_path: Path) -> None:
    doing = shell(f"touch {tmp_path}/begun; sleep 600")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(doing.carry_out, Desk(tmp_path).job())
        assert eventually((tmp_path / "begun").exists)
        doing.stop()
        with pytest.raises(EffectPostponed):
            running.result(PATIENCE)
    assert not carriers(TAG)


def test_a_shortage_of_this_machine_is_not_the_programs_fault(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    doing, job = shell("true"), Desk(tmp_path).job()
    spare = os.open(os.devnull, os.O_RDONLY)
    resource.setrlimit(resource.RLIMIT_NOFILE, (spare, limits[1]))
    try:
        with pytest.raises(EffectFailed) as caught:
            doing._start(job.key, TAG)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        os.close(spare)
    assert os.strerror(errno.EMFILE) in str(caught.value)
    assert caught.value.after == timedelta(minutes=1)


def test_what_a_killed_keeper_left_running_is_stopped_before_a_rerun(tmp_path: Path) -> None:
    script = f"cat > /dev/null; echo $$ > {tmp_path}/pid; sleep 600"
    with Nursery("tests.scenario.effects_victims") as nursery:
        keeper = nursery.start(
            "tests.scenario.effects_victims:command", str(tmp_path), "sh", "-c", script
        )
        assert eventually((tmp_path / "pid").exists)
        keeper.kill()
    assert eventually(lambda: len(carriers(TAG)) == 2)
    pid = (tmp_path / "pid").read_text(encoding="ascii").strip()
    alone = f"! grep -q '^State:.[^Z]' /proc/{pid}/status"
    assert shell(alone).carry_out(Desk(tmp_path).job()) == OK
    assert not carriers(TAG)
