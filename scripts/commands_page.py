"""Write docs/reference/commands.md: every command, its options, examples, and all exit codes.

`--check` changes nothing and fails if the page is not what the commands say.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from sexton import errors
from sexton.cli.command import SHARED_OPTIONS, Command, Group
from sexton.cli.root import root

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "commands.md"

INTRODUCTION = """# Commands

<!-- Written by scripts/commands_page.py from src/sexton/cli. -->

Options of every command are accepted before and after it, at any level; the last one wins.
Commands that ask take an existing ledger as it is. `plan`, `apply` and `keep` make the ledger if
need be. `apply` and `keep` put the given settings in force for all users of the ledger; `plan` only
plans with them. `doctor` and `sessions list --home` make the ledger to hold what they saw.
"""

OTHER_CODES = (
    (0, "", "Done; also a keeper that was asked to stop."),
    (2, "UsageError", "The command line is not understood, or nobody is there to be asked."),
    (70, "Unexpected", "A mistake in Sexton; `-v` shows where."),
    (74, "OutputLost", "The output can not be written, as on a full disk."),
    (130, "", "Interrupted, or a person said no."),
    (141, "", "Whoever read the output has stopped reading."),
)


def main(arguments: list[str]) -> int:
    """Write the page, or with --check compare it; the exit code."""
    text = page()
    if arguments == ["--check"]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current == text:
            return 0
        sys.stderr.write(f"{PAGE.relative_to(ROOT)} is out of date: run 'make docs'\n")
        return 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    return 0


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, "## Options of every command\n", *_options(SHARED_OPTIONS), ""]
    with root.make_context("sexton", [], resilient_parsing=True) as ctx:
        parts += _group(root, ctx)
    parts += ["## Exit codes\n", *_exit_codes(), ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def _group(group: Group, ctx: click.Context) -> Iterator[str]:
    for word in group.list_commands(ctx):
        found = group.get_command(ctx, word)
        assert isinstance(found, Command | Group)
        below = click.Context(found, info_name=word, parent=ctx)
        yield from _command(found, below)
        if isinstance(found, Group):
            yield from _group(found, below)


def _command(command: Command | Group, ctx: click.Context) -> Iterator[str]:
    name = ctx.command_path
    yield f"## {name}\n"
    yield f"{inspect.cleandoc(command.help or '')}\n"
    yield f"```\n{name} {' '.join(command.collect_usage_pieces(ctx))}\n```\n"
    own = [each for each in command.params if isinstance(each, click.Option)]
    if own:
        yield from _options(own)
        yield ""
    yield "```sh"
    yield from command.examples
    yield "```\n"


def _options(options: list[click.Option] | tuple[click.Option, ...]) -> Iterator[str]:
    yield "| option | meaning |"
    yield "| --- | --- |"
    for option in options:
        with click.Context(root) as ctx:
            record = option.get_help_record(ctx)
        assert record is not None
        names, meaning = (_cell(text) for text in record)
        yield f"| `{names}` | {meaning} |"


def _exit_codes() -> Iterator[str]:
    yield "| code | error | meaning |"
    yield "| --- | --- | --- |"
    kinds = [(name, getattr(errors, name)) for name in errors.__all__]
    found = [(kind.exit_code, name, inspect.getdoc(kind) or "") for name, kind in kinds]
    for code, name, meaning in sorted([*OTHER_CODES, *found], key=lambda each: each[:2]):
        error = f"`{name}`" if name else ""
        yield f"| {code} | {error} | {_cell(meaning)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
