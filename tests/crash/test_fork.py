"""What is acknowledged stays, on both sides of a fork."""

from __future__ import annotations

import pytest

from tests.crash.checking import Promises, check
from tests.kit.nursery import Nursery


def keeps_its_promises(nursery: Nursery, program: str, *arguments: str) -> Promises:
    """Run a program to its end and check its ledger; what it had acknowledged."""
    child = nursery.start(f"tests.crash.forking:{program}", *arguments)
    assert child.wait() == 0
    assert "finished" in child.lines()
    promises = Promises()
    promises.hear(child.lines())
    assert check(arguments[0], promises) == 0
    return promises


@pytest.mark.parametrize("program", ["fork_while_busy", "fork_while_folding"])
def test_parent_and_children_write_while_other_threads_read_and_write(
    nursery: Nursery, engine_url: str, program: str
) -> None:
    promises = keeps_its_promises(nursery, program, engine_url, "50")
    [said] = promises.kept.values()
    assert sum(token.who.startswith("child") for token in said.values()) == 200
    assert sum(token.who == "parent" for token in said.values()) == 51


def test_a_ledger_may_be_opened_in_another_thread_at_the_moment_of_the_fork(
    nursery: Nursery, engine_url: str
) -> None:
    keeps_its_promises(nursery, "fork_while_opening", engine_url, "30")


def test_children_of_multiprocessing_write_through_the_session_they_inherit(
    nursery: Nursery, engine_url: str
) -> None:
    promises = keeps_its_promises(nursery, "fork_with_multiprocessing", engine_url, "8")
    [said] = promises.kept.values()
    assert len(said) == 8 * (1 + 2 * 4)


@pytest.mark.parametrize("attempt", range(3))
def test_a_child_goes_on_writing_after_its_parent_closed_the_ledger_and_ended(
    nursery: Nursery, engine_url: str, attempt: int
) -> None:
    keeps_its_promises(nursery, "outlive_the_parent", engine_url)
