"""What do all commands have in common? The same options at every level, examples, late loading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.core import ParameterSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What was asked for by the options every command has."""

    ledger: str | None = None
    config: str | None = None
    json: bool = False
    verbose: int = 0


def shared(ctx: click.Context) -> Shared:
    """The options every command has, wherever on the line they were given."""
    found = ctx.find_root().obj
    return found if isinstance(found, Shared) else Shared()


def _record(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    name = option.name
    if name is None or ctx.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return
    before = shared(ctx)
    if name == "verbose":
        value += before.verbose
    ctx.find_root().obj = replace(before, **{name: value})


SHARED_OPTIONS: tuple[click.Option, ...] = (
    click.Option(
        ["--ledger"],
        metavar="URL",
        callback=_record,
        expose_value=False,
        help="The ledger: a path, sqlite:///path or postgresql://host/database. "
        "[env: SEXTON_LEDGER]",
    ),
    click.Option(
        ["--config"],
        metavar="FILE",
        callback=_record,
        expose_value=False,
        help="The settings file. [env: SEXTON_CONFIG]",
    ),
    click.Option(
        ["--json"],
        is_flag=True,
        callback=_record,
        expose_value=False,
        help="Write JSON for programs instead of text for people.",
    ),
    click.Option(
        ["-v", "--verbose"],
        count=True,
        callback=_record,
        expose_value=False,
        help="Say more on standard error; -vv says everything.",
    ),
)


class Command(click.Command):
    """A command with the shared options and with examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return _with_shared(super().get_params(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _format_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        _format_examples(self.examples, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        from sexton.cli.cli_logs import log_to_terminal

        log_to_terminal(shared(ctx).verbose)
        return super().invoke(ctx)


class Late(NamedTuple):
    """A command that is loaded when it is called, from its module."""

    module: str
    summary: str


class Group(click.Group):
    """A group with the shared options whose commands are loaded late."""

    def __init__(
        self,
        *args: Any,
        late: Mapping[str, Late],
        examples: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **{"no_args_is_help": False, **kwargs})
        self.late = late
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(self.late)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        if cmd_name not in self.late:
            return None
        found = import_module(self.late[cmd_name].module).command
        assert isinstance(found, click.Command)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.late and not args[0].startswith("-"):
            near = get_close_matches(args[0], list(self.late), n=1)
            known = f"Did you mean '{near[0]}'?" if near else f"Known are {', '.join(self.late)}."
            raise click.UsageError(f"there is no command '{args[0]}'. {known}", ctx)
        return super().resolve_command(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return _with_shared(super().get_params(ctx))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, late.summary) for name, late in self.late.items()])

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        _format_options(self, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        _format_examples(self.examples, formatter)


def _with_shared(own: list[click.Parameter]) -> list[click.Parameter]:
    return [*own, *(option for option in SHARED_OPTIONS if option not in own)]


def _format_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    own = [each for each in command.get_params(ctx) if each not in SHARED_OPTIONS]
    for title, options in (("Options", own), ("Options of every command", SHARED_OPTIONS)):
        records = list(_help_records(options, ctx))
        if records:
            with formatter.section(title):
                formatter.write_dl(records)


def _help_records(
    options: Sequence[click.Parameter], ctx: click.Context
) -> Iterator[tuple[str, str]]:
    for option in options:
        record = option.get_help_record(ctx)
        if record is not None:
            yield record


def _format_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")
