"""Standard streams that are closed or full, as cron, daemons and full disks leave them."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from tests.golden import golden
from tests.surface.program import PATIENCE, Answer, Cli, environment, program

pytestmark = pytest.mark.slow


def redirected(redirection: str, *arguments: str, **changed: str) -> Answer:
    """Run the real program through a shell that redirects its streams."""
    done = subprocess.run(
        f"{shlex.join(program(*arguments))} {redirection}",
        shell=True, env=environment(**changed), stdin=subprocess.DEVNULL, capture_output=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("closing", [">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_a_closed_stream_is_no_reason_to_fail(cli: Cli, closing: str) -> None:
    session = cli.talk("a", "hello")
    for arguments in (["--version"], ["sessions", "show", session, "--ledger", cli.url]):
        answer = redirected(closing, *arguments)
        assert (answer.code, answer.err) == (0, "")
    assert redirected(closing, "why", "nothing", "--ledger", cli.url).code == 20


def test_a_plan_from_a_closed_standard_input_is_none(cli: Cli) -> None:
    answer = redirected("<&-", "apply", "-", "--ledger", cli.url)
    assert answer.code == 40


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_full_disk_behind_the_output_is_told_in_one_line(cli: Cli, unbuffered: str) -> None:
    cli.talk("a", "hello")
    for arguments in (["--version"], ["--help"], ["sessions", "list", "--ledger", cli.url]):
        answer = redirected(">/dev/full", *arguments, PYTHONUNBUFFERED=unbuffered)
        assert (answer.code, len(answer.err.splitlines())) == (74, 1)
        golden("errors", "the output can not be written", answer.err)


def test_a_program_is_told_of_a_full_disk_too(cli: Cli) -> None:
    cli.talk("a", "hello")
    answer = redirected(">/dev/full", "sessions", "list", "--json", "--ledger", cli.url)
    assert answer.code == 74
    assert answer.error()["error"] == "OutputLost"


def test_a_keeper_whose_output_is_full_ends(cli: Cli) -> None:
    answer = redirected(">/dev/full", "keep", "--json", "--ledger", cli.url)
    assert (answer.code, answer.error()["error"]) == (74, "OutputLost")


def test_another_trouble_is_told_even_if_the_output_is_full(cli: Cli) -> None:
    cli.talk("a", "hello")
    answer = redirected(">/dev/full", "why", "nothing", "--ledger", cli.url)
    assert answer.code == 20
    golden("errors", "there is no such session", answer.err)
