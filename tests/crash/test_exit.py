"""What is acknowledged while the interpreter goes down is durable too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sexton.store.opening import open_ledger
from tests.contract.ledger_contract_samples import everything, heard
from tests.crash.checking import ask
from tests.kit.nursery import Nursery
from tests.scenario.finalizers_scene import wait_until

UNTIL_THE_END = """
import atexit, os, sys, threading

def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

enough = threading.Semaphore(0)

def say(text):
    tell(session.append(role="user", content=text), text)
    enough.release()

atexit.register(say, "after-everything-else")
import sexton
if len(sys.argv) > 2:
    from tests.crash.appending import fold_often
    fold_often()
from sexton.wiring import Sexton
from sexton.store.opening import open_ledger
from sexton.settings.settings_values import Settings
sexton_ = Sexton(open_ledger(sys.argv[1], patience=240), Settings())
worker = sexton_.worker()
session = worker.session("talk", source="chat")
atexit.register(say, "before-everything-else")

def talk(number):
    for turn in range(1_000_000):
        say(f"{number}-{turn}")

for number in range(5):
    threading.Thread(target=talk, args=(number,), daemon=True).start()
for _ in range(20):
    enough.acquire()
"""

OTHERS = """
SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""

EVERYTHING_AT_EXIT = """
import atexit, sys

def live(text):
    import sexton
    with sexton.open(sys.argv[1]) as sexton_, sexton_.worker() as worker:
        print(worker.session("talk", source="chat").append(role="user", content=text), text)

atexit.register(live, "second")
import sexton.wiring
atexit.register(live, "first")
"""

CLI = """
import os, sys
import sexton
sexton_ = sexton.open(sys.argv[1])
worker = sexton_.worker()
session = worker.session("talk", source="cli")
print(session.append(role="user", content="hello"), "hello", flush=True)
if len(sys.argv) > 2:
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        print(session.append(role="user", content="still-open"), "still-open", flush=True)
    else:
        print(session.append(role="user", content="child"), "child", flush=True)
"""


def run(program: str, *arguments: str) -> list[tuple[int, str]]:
    """Run a program to its end; the numbers and texts of what it had acknowledged."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        check=False, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    pairs = [line.split() for line in done.stdout.splitlines()]
    return [(int(seq), text) for seq, text in pairs]


def stored(url: str) -> dict[int, str]:
    """The messages of the one session there is."""
    if not url.startswith("sqlite"):  # a server ends what its client asked for before it went
        wait_until(lambda: ask(url, OTHERS) == [(0,)])
    ledger = open_ledger(url)
    [session] = everything(ledger)
    found = {message.seq: message.content for message in heard(ledger, session)}
    assert session.message_count == len(found) == max(found)
    ledger.close()
    return found


@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("folding", [[], ["folding"]])
def test_daemon_threads_and_exit_handlers_write_to_the_very_end(
    engine_url: str, folding: list[str], attempt: int
) -> None:
    acknowledged = run(UNTIL_THE_END, engine_url, *folding)
    texts = {text for _, text in acknowledged}
    assert {"before-everything-else", "after-everything-else"} <= texts
    assert len(texts) == len(acknowledged) > 10
    assert dict(acknowledged).items() <= stored(engine_url).items()


def test_the_last_words_are_kept_while_another_process_holds_the_lock_again_and_again(
    nursery: Nursery, engine_url: str
) -> None:
    rival = nursery.start("tests.crash.appending:append", engine_url, "threads", "rival")
    rival.wait_for(lambda lines: len(lines) > 10)
    acknowledged = run(UNTIL_THE_END, engine_url)
    rival.kill()
    ledger = open_ledger(engine_url)
    [session] = [each for each in everything(ledger) if each.key == "talk"]
    found = {message.seq: message.content for message in heard(ledger, session)}
    assert dict(acknowledged).items() <= found.items()
    ledger.close()


def test_a_ledger_may_be_opened_for_the_first_time_at_exit(engine_url: str) -> None:
    assert run(EVERYTHING_AT_EXIT, engine_url) == [(1, "first"), (2, "second")]
    assert stored(engine_url) == {1: "first", 2: "second"}


def test_a_program_that_ends_without_a_word_has_left_its_sessions(engine_url: str) -> None:
    run(CLI, engine_url)
    ledger = open_ledger(engine_url)
    [session] = everything(ledger)
    assert (session.end_reason, session.holders) == ("closed", ())
    assert ledger.workers.all() == []
    ledger.close()


def test_the_exit_of_a_forked_child_does_not_end_the_sessions_of_its_parent(
    engine_url: str,
) -> None:
    acknowledged = run(CLI, engine_url, "fork")
    assert acknowledged == [(1, "hello"), (2, "child"), (3, "still-open")]
    assert stored(engine_url) == dict(acknowledged)
