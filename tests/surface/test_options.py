"""Options, help and versions: what every command has."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import click
import pytest

from sexton.cli import run
from sexton.cli.command import Command, Group
from sexton.cli.root import root
from tests.golden import golden
from tests.surface.program import Cli, call, environment

HEAVY = ("rich", "pydantic", "yaml", "psycopg")


def commands(
    group: click.Command = root, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command, str]]:
    """Every command: how it is called, itself, and what its group says of it."""
    if isinstance(group, Group):
        with click.Context(group) as ctx:
            for name, late in group.late.items():
                found = group.get_command(ctx, name)
                assert found is not None
                yield (*path, name), found, late.summary
                yield from commands(found, (*path, name))


EVERY = list(commands())


@pytest.mark.parametrize(("path", "command", "summary"), EVERY, ids=lambda each: str(each)[:30])
def test_every_command_explains_itself(
    path: tuple[str, ...], command: click.Command, summary: str
) -> None:
    assert isinstance(command, Command | Group)
    help_text = command.help or ""
    first, _, rest = help_text.partition("\n\n")
    assert first == summary
    assert command.name == path[-1]
    assert command.examples
    assert all(f"sexton {path[0]}" in example for example in command.examples[:1])
    if isinstance(command, Command):
        assert len(rest) > 40


@pytest.mark.parametrize("path", [path for path, _, _ in EVERY], ids=" ".join)
def test_every_command_has_help(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*path, "--help"]) == 0
    out = capsys.readouterr().out
    sections = [line for line in out.splitlines() if re.fullmatch(r"\w.*:", line)]
    golden("help", "the last sections of every command", "\n".join(sections[-2:]))
    assert run([*path, "-h"]) == 0
    assert capsys.readouterr().out == out


def read_names(function: Callable[..., object]) -> tuple[set[str], bool]:
    """The names that a function reads, and whether it hands all its keyword arguments on."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    (defined,) = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
    read = {
        each.id
        for statement in defined.body
        for each in ast.walk(statement)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
    rest = defined.args.kwarg
    return read, rest is not None and rest.arg in read


@pytest.mark.parametrize("path", [path for path, _, _ in EVERY], ids=" ".join)
def test_no_command_accepts_an_option_that_it_ignores(path: tuple[str, ...]) -> None:
    (command,) = (each for name, each, _ in EVERY if name == path)
    if isinstance(command, Group):
        return
    assert command.callback is not None
    read, hands_on = read_names(inspect.unwrap(command.callback))
    ignored = {
        each.name
        for each in command.params
        if each.expose_value and each.name not in read and not hands_on
    }
    assert not ignored


PROBE = """
import json, sys
from sexton.cli import run
for arguments in json.loads(sys.argv[1]):
    assert run(arguments) == 0
sys.stderr.write(json.dumps(sorted(sys.modules)))
"""


def modules_after(*calls: list[str]) -> set[str]:
    """The modules that are loaded after some commands have run."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(calls)],
        env=environment(), capture_output=True, check=True, timeout=240,
    )  # fmt: skip
    return set(json.loads(done.stderr))


def test_the_version_is_told_without_loading_anything() -> None:
    loaded = modules_after(["--version"])
    assert not loaded & {*HEAVY, "click", "apsw", "psutil", "sexton.wiring"}


def test_help_loads_no_heavy_library() -> None:
    loaded = modules_after(["--help"], ["--version", "--json"])
    assert not loaded & {*HEAVY, "apsw", "psutil", "sexton.wiring"}
    everything = modules_after(*([*path, "--help"] for path, _, _ in EVERY))
    assert not everything & set(HEAVY)


def test_both_ways_of_asking_for_the_version_agree() -> None:
    assert call("--version").out == call("--version", "--json").out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--ledger", "LEDGER", "--json", "sessions", "list"],
        ["sessions", "--ledger", "LEDGER", "--json", "list"],
        ["sessions", "list", "--json", "--ledger", "LEDGER"],
        ["--json", "sessions", "--ledger=LEDGER", "list", "-v"],
        ["--ledger", "nowhere.db", "sessions", "list", "--json", "--ledger", "LEDGER"],
    ],
    ids=["before", "between", "after", "mixed", "the last one wins"],
)
def test_shared_options_work_at_every_level(
    arguments: list[str], cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    session = cli.talk("a", "hello")
    capsys.readouterr()
    assert run([each.replace("LEDGER", cli.url) for each in arguments]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)["items"]] == [session]


def test_the_environment_names_the_ledger_and_an_option_overrides_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    session = cli.talk("a", "hello")
    monkeypatch.setenv("SEXTON_LEDGER", cli.url)
    capsys.readouterr()
    assert run(["sessions", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"][0]["id"] == session
    assert run(["--ledger", "nowhere.db", "sessions", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["sesions"], "Did you mean 'sessions'?"),
        (["sessions", "lst"], "Did you mean 'list'?"),
        (["sessions", "list", "--limt", "3"], "--limit"),
        (["frobnicate"], "Known are doctor"),
        (["sessions", "list", "--limit", "0"], "--limit"),
        (["sessions", "list", "--after", "x"], "cursor"),
        (["sessions", "list", "--after", "999999999999999999-1"], "cursor"),
        (["sessions", "list", "--state", "opne"], "open"),
        (["sessions", "show"], "SESSION"),
        (["completion", "tcsh"], "bash"),
        (["report", "leaks", "--since", "0d"], "at most 400d"),
        (["report", "leaks", "--since", "401d"], "at most 400d"),
        (["report", "leaks", "-o", "-", "--json"], "standard output"),
        (["--json"], "command"),
    ],
    ids=" ".join,
)
def test_a_misspelt_command_line_exits_2_and_says_what_was_meant(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "--help" in err


def test_a_usage_error_is_json_if_json_was_asked_for(cli: Cli) -> None:
    error = cli("sessions", "list", "--bogus", "--json").error()
    assert error["error"] == "UsageError"
    assert error["exit_code"] == 2
    assert "--bogus" in error["message"]


@pytest.mark.parametrize(
    "arguments", [[], ["sessions"], ["workers"], ["report"], ["config"], ["ledger"]], ids=str
)
def test_a_group_alone_shows_its_help(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 0
    assert "Commands:" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["completion", shell]) == 0
    assert "_SEXTON_COMPLETE" in capsys.readouterr().out


@pytest.mark.slow
def test_a_shell_completes_commands_options_and_sessions(cli: Cli) -> None:
    session = cli.talk("a", "hello")

    def completed(line: str) -> str:
        words = line.split(" ")
        return call(
            _SEXTON_COMPLETE="bash_complete",
            COMP_WORDS=line,
            COMP_CWORD=str(len(words) - 1),
            SEXTON_LEDGER=cli.url,
        ).out

    assert "plain,sessions" in completed("sexton se")
    assert "plain,--ledger" in completed(" ".join(("sexton", "sessions", "list", "--l")))
    assert f"plain,{session}" in completed(f"sexton why {session[:4]}")


def test_what_nobody_foresaw_is_one_line_and_a_traceback_only_with_v(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fall(*_: object) -> None:
        raise RuntimeError("the sky \x1b[31mfell")

    cli.talk("a", "hello")
    monkeypatch.setattr("sexton.sessions.index.LedgerIndex.page", fall)
    answer = cli("sessions", "list")
    assert answer.code == 70
    assert answer.err.splitlines()[0] == "sexton: RuntimeError: the sky [31mfell"
    assert "-v" in answer.err
    assert "Traceback" not in answer.err
    assert "Traceback" in cli("-v", "sessions", "list").err
    assert cli("sessions", "list", "--json").error()["error"] == "Unexpected"


def test_an_interrupt_exits_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    cli.talk("a", "hello")
    monkeypatch.setattr("sexton.sessions.index.LedgerIndex.page", interrupt)
    assert cli("sessions", "list").code == 130
