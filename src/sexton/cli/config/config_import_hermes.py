"""`sexton config import-hermes`: which settings of ours say what Hermes's own say?"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sexton.cli.arguments import force_file_option
from sexton.cli.cli_files import private_file
from sexton.cli.command import Command, Shared, shared
from sexton.cli.homes_here import the_home
from sexton.cli.terminal import document, note, say, write
from sexton.core.message import one_line
from sexton.core.zone import local_zone
from sexton.wiring.places import default_settings

if TYPE_CHECKING:
    from sexton.homes.hermes.importing import Imported, Item

_ORDER = ("reset", "processes", "breaker", "retention", "notify")


@click.command(
    "import-hermes",
    cls=Command,
    examples=(
        "sexton config import-hermes -o -                 # only show it",
        "sexton config import-hermes                      # write it where settings belong",
        "sexton config import-hermes ~/.hermes -o sexton.yaml --force",
    ),
)
@click.argument("home", metavar="[HOME]", required=False, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write it there; '-' is standard output.",
)
@force_file_option
@click.pass_context
def command(ctx: click.Context, home: Path | None, output: Path | None, force: bool) -> None:
    """Write settings that say what a Hermes home's own say.

    Takes over resets, retention, budgets and guardrails from config.yaml, the older gateway.json
    and the variables in .env, each with where it comes from, and lists what has no equivalent and
    why. Only reads the home; an existing settings file is replaced with --force only. Nothing is
    put in force: 'sexton config check' and 'sexton plan' show what it would do.
    """
    from sexton.homes.hermes.config_files import read_configuration
    from sexton.homes.hermes.importing import import_settings

    options = shared(ctx)
    place = the_home(home, "sexton config import-hermes")
    zone = local_zone(os.environ)
    found = import_settings(read_configuration(place), os.environ, zone)
    text = "".join(f"{line}\n" for line in _lines(place, found))
    if options.json:
        _write_document(text, found)
        return
    if output is not None and str(output) == "-":
        write(text)
    else:
        file = output or _usual(options)
        file.parent.mkdir(parents=True, exist_ok=True)
        with private_file(file, force=force, ledger=None) as stream:
            stream.write(text)
        say(f"written to {file}")
    for each in found.left:
        note(f"not taken over: {each.name} ({each.where}): {each.why}")


def _usual(options: Shared) -> Path:
    named = options.config or os.environ.get("SEXTON_CONFIG")
    return Path(named or default_settings(os.environ)).expanduser()


def _lines(home: Path, found: Imported) -> Iterator[str]:
    shown = one_line(str(home))
    yield f"# Taken over from {shown}; 'sexton config check --effect' shows what it does."
    yield "homes:"
    yield f"  - path: {_quoted(str(home))}"
    for section in _ORDER:
        said = found.sections.get(section, {})
        rules = found.rules if section == "reset" else ()
        if said or rules:
            yield f"{section}:"
        for name, each in said.items():
            yield f"  {name}: {_quoted(each.value)}  # {one_line(each.origin)}"
        if rules:
            yield "  rules:"
            yield from (f"    {line}" for rule in rules for line in _item(rule))
    if found.budgets:
        yield "budgets:"
        yield from (f"  {line}" for budget in found.budgets for line in _item(budget))


def _item(item: Item) -> Iterator[str]:
    for place, (name, value) in enumerate(item.values.items()):
        origin = "" if place else f"  # {one_line(item.origin)}"
        yield f"{'  ' if place else '- '}{name}: {_quoted(value)}{origin}"


def _quoted(value: Any) -> str:
    """A value in plain letters; YAML would take a pair of JSON's escapes for two characters."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[^ -~]", lambda found: f"\\U{ord(found[0]):08x}", text)


def _write_document(text: str, found: Imported) -> None:
    import yaml

    told: dict[str, Any] = {
        "settings": yaml.safe_load(text),
        "left": [each._asdict() for each in found.left],
    }
    document(told)
