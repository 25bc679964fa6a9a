"""What reaches a terminal, a pipe, or nobody."""

from __future__ import annotations

import errno
import os
import pty
import re
import select
import subprocess
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from sexton.cli.terminal import Column, cells, fitting, plain_table
from sexton.core.wording import ago, ahead, counted, share, size
from tests.golden import golden
from tests.surface.program import PATIENCE, ROOT, Cli, environment, program

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31m\u202eevil\u2066\x9b5m\r\n\b[bold]x[/bold]\x00\x7f"
STYLE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """The real program on a terminal of its own."""

    def __init__(self, *arguments: str, **changed: str) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            program(*arguments),
            env=environment(TERM="xterm", COLUMNS="100", **changed),
            stdin=slave, stdout=slave, stderr=slave,
        )  # fmt: skip
        os.close(slave)
        self.shown = ""

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while words not in self.shown and self._read():
            assert time.monotonic() < deadline, self.shown
        assert words in self.shown

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def finish(self) -> int:
        deadline = time.monotonic() + PATIENCE
        while self._read():
            assert time.monotonic() < deadline, self.shown
        os.close(self._master)
        return self._process.wait(PATIENCE)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        assert ready, self.shown
        try:
            part = os.read(self._master, 65536)
        except OSError as end:
            if end.errno == errno.EIO:  # how Linux says that nobody has the terminal open any more
                return False
            raise
        self.shown += part.decode()
        return bool(part)


@pytest.fixture
def hostile(cli: Cli) -> str:
    """A session whose every text tries to act on a terminal."""
    evil = HOSTILE.replace("\x00", "")
    return cli.talk(evil, HOSTILE, title=evil, chat_type=evil, job=evil, source=f"x{evil}")


def acting(text: str) -> set[str]:
    """The characters of a text that do something to a terminal."""
    return {character for character in text if not character.isprintable()} - {"\n"}


@pytest.mark.parametrize(
    "command",
    [["sessions", "list"], ["sessions", "show"], ["why"], ["journal", "--session"], ["doctor"],
     ["sessions", "export", "--format", "markdown"], ["sessions", "export"]],
    ids=" ".join,
)  # fmt: skip
def test_hostile_text_does_nothing(cli: Cli, hostile: str, command: list[str]) -> None:
    named = [] if command[-1] in ("list", "doctor") else [hostile]
    if command[0] == "journal":
        cli.ok("sessions", "end", hostile, "--reason", "x\x1b[31m\u202e", "--yes")
    for more in ([], ["--json"]):
        answer = cli(*command, *named, *more)
        assert answer.code == 0
        assert acting(answer.out + answer.err) == set()


def test_hostile_arguments_do_nothing_in_errors(cli: Cli) -> None:
    cli.talk("a", "hello")
    for arguments in (
        ["why", "x\x1b[31m"],
        ["x\x1b[31m"],
        ["why", "--x\x1b[31m"],
        ["doctor", "\x1b[2J"],
    ):
        answer = cli(*arguments)
        assert answer.code != 0
        assert acting(answer.err) == set()


def test_a_terminal_gets_a_table_that_fits_and_styles_of_ours_only(cli: Cli, hostile: str) -> None:
    terminal = Terminal("sessions", "list", "--ledger", cli.url)
    assert terminal.finish() == 0
    assert hostile in terminal.shown
    assert set(STYLE.findall(terminal.shown)) == {"\x1b[1m", "\x1b[0m"}
    plain = STYLE.sub("", terminal.shown).replace("\r\n", "\n")
    assert acting(plain) == set()
    assert max(cells(line) for line in plain.splitlines()) <= 100


@pytest.mark.slow
def test_no_color_means_no_styles_at_all(cli: Cli) -> None:
    cli.talk("a", "hello")
    terminal = Terminal("doctor", "--ledger", cli.url, NO_COLOR="1")
    assert terminal.finish() == 0
    assert not STYLE.findall(terminal.shown.split("native:")[1])


@pytest.mark.parametrize(("word", "code", "state"), [("y", 0, "ended"), ("n", 130, "open")])
@pytest.mark.slow
def test_a_person_is_asked_before_a_session_is_ended(
    cli: Cli, word: str, code: int, state: str
) -> None:
    session = cli.talk("a", "hello")
    terminal = Terminal("sessions", "end", session, "--ledger", cli.url)
    terminal.wait_for(session)
    terminal.type(f"{word}\n")
    assert terminal.finish() == code
    assert cli("sessions", "show", session, "--json").json()["state"] == state


@pytest.mark.slow
def test_whoever_stops_reading_is_not_told_of_it(cli: Cli) -> None:
    for number in range(30):
        cli.talk(f"k{number}", "hello " * 50)
    for arguments in ("sessions list", "sessions list --json", "journal", "config schema"):
        done = subprocess.run(
            f'{" ".join(program())} {arguments} --ledger "{cli.url}" | head -1',
            shell=True, env=environment(), capture_output=True, timeout=PATIENCE, check=True,
        )  # fmt: skip
        assert b"Broken" not in done.stderr
        assert b"Traceback" not in done.stderr


def test_output_that_is_closed_early_exits_141(cli: Cli) -> None:
    cli.talk("a", "hello")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        program("sessions", "list", "--json", "--ledger", cli.url),
        env=environment(), stdout=writer, stderr=subprocess.PIPE, timeout=PATIENCE, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_terminal_without_unicode_shows_codes_instead_of_failing(cli: Cli) -> None:
    cli.talk("a", "hello", title="漢字")
    done = subprocess.run(
        program("sessions", "list", "--ledger", cli.url),
        env=environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0"),
        capture_output=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert b"\\u6f22\\u5b57" in done.stdout


def test_the_program_is_the_same_as_the_module(cli: Cli) -> None:
    assert (ROOT / "src" / "sexton" / "__main__.py").exists()
    cli.talk("a", "hello")
    done = subprocess.run(
        program("sessions", "show", "nothing", "--ledger", cli.url),
        env=environment(), capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 20


def lines(columns: Sequence[Column], *rows: Sequence[str]) -> list[str]:
    return list(plain_table(columns, rows))


def test_wide_and_combining_characters_keep_columns_aligned() -> None:
    shown = lines([Column("A"), Column("B")], ["漢字", "x"], ["e\u0301e", "y"])
    assert [cells(line[: line.index(end)]) for line, end in zip(shown, "Bxy", strict=True)] == [
        6
    ] * 3


def test_numbers_stand_on_the_right() -> None:
    assert lines([Column("N", right=True), Column("X")], ["1", "a"], ["1000", "b"]) == [
        "   N  X",
        "   1  a",
        "1000  b",
    ]


def test_a_narrow_terminal_loses_spare_columns_first_and_then_cuts() -> None:
    columns = [Column("ID"), Column("BY", spare=True), Column("TEXT", cut=True)]
    wishes = [10, 20, 60]
    assert fitting(columns, wishes, 200) == {0: 10, 1: 20, 2: 60}
    assert fitting(columns, wishes, 60) == {0: 10, 1: 20, 2: 24}
    assert fitting(columns, wishes, 40) == {0: 10, 2: 26}
    assert fitting(columns, wishes, 10) == {0: 10, 2: 10}


def test_a_clock_that_is_ahead_by_seconds_does_not_read_as_the_future() -> None:
    now = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    spans = (timedelta(seconds=seconds) for seconds in (-59, 0, 59, 60, -60, -7200))
    told = [*(ago(now - span, now) for span in spans), ahead(now + timedelta(seconds=30), now)]
    golden("values", "moments", "\n".join(told))


def test_sizes_shares_and_counts_read_well() -> None:
    assert [size(n) for n in (0, 999, 1000, 9_999_999, 10_000_000, 10**15)] == [
        "0 B", "999 B", "1.0 KB", "10.0 MB", "10 MB", "1000 TB",
    ]  # fmt: skip
    shares = [share(0, 10), share(1, 1000), share(29, 100), share(0, 0)]
    counts = [counted(1, "session"), counted(12345, "session")]
    golden("values", "shares and counts", "\n".join((*shares, *counts)))
