"""How is it shown what is wrong with settings and what they do?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sexton.cli.terminal import Column, document, say, table
from sexton.core.wording import iso, stamp

if TYPE_CHECKING:
    from sexton.settings.effect import RuleEffect
    from sexton.settings.lint import Finding
    from sexton.settings.settings_problems import Problem

_COLUMNS = (
    Column("RULE"),
    Column("FOR", cut=True),
    Column("OPEN", right=True),
    Column("ENDS NOW"),
    Column("HELD BACK"),
    Column("PROTECTS", right=True),
    Column("NEXT END"),
)
_CLASSES = (
    Column("CLASS"),
    Column("FOR", cut=True),
    Column("OVER", right=True),
    Column("GOES NOW"),
    Column("STAYS", right=True),
)

_NO_FILE = (
    "there is no settings file: a ledger keeps the policies it has, a new one gets the defaults"
)


def write(
    file: Path | None,
    problems: Sequence[Problem],
    findings: Sequence[Finding],
    effects: Sequence[RuleEffect] | None,
) -> None:
    """Everything as one JSON document; `effect` is null unless it was asked for."""
    document(
        {
            "file": None if file is None else str(file),
            "problems": [asdict(each) for each in problems],
            "inert": [asdict(each) for each in findings],
            "effect": None
            if effects is None
            else [{**asdict(each), "next_due": iso(each.next_due)} for each in effects],
        }
    )


def show(
    file: Path | None, findings: Sequence[Finding], effects: Sequence[RuleEffect] | None
) -> None:
    """What was found in settings that can be used."""
    say(f"{file}: no mistakes" if file else _NO_FILE)
    for finding in findings:
        say(f"no effect: {finding}")
    if effects is not None:
        say()
        table(_COLUMNS, (_row(each) for each in effects if not _is_class(each)))
        say()
        table(_CLASSES, (_class_row(each) for each in effects if _is_class(each)))


def _is_class(effect: RuleEffect) -> bool:
    return effect.where.startswith("retention")


def _row(effect: RuleEffect) -> tuple[str, ...]:
    return (
        effect.where,
        effect.matches,
        str(effect.governs),
        _counted(effect.over),
        _counted(effect.held),
        str(effect.protects),
        stamp(effect.next_due),
    )


def _class_row(effect: RuleEffect) -> tuple[str, ...]:
    facts = str(effect.governs), _counted(effect.over), str(effect.protects)
    return effect.where, effect.matches, *facts


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {code}" for code, count in sorted(counts.items())) or "-"
