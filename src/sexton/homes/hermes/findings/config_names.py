"""Is a name in the configuration a slip? Told as a question, and only if Hermes never reads it.

Plain values at the root may be anybody's: Hermes hands them on as environment variables. So a name
is asked about only if it is very like a known one that is not set itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Protocol

from sexton.homes.hermes.config_files import Configuration, mapping
from sexton.homes.hermes.findings.finding import Finding, Level

CLOSE = 0.85
SECTIONS: Mapping[str, frozenset[str]] = {
    "session_reset": frozenset(),  # has its own check
    "sessions": frozenset({
        "auto_prune", "retention_days", "vacuum_after_prune", "min_interval_hours",
        "write_json_snapshots",
    }),
    "agent": frozenset({"max_turns", "gateway_timeout", "api_max_retries"}),
    "compression": frozenset({"enabled", "threshold", "target_ratio", "in_place"}),
    "tool_loop_guardrails": frozenset({
        "warnings_enabled", "hard_stop_enabled", "warn_after", "hard_stop_after",
    }),
    "delegation": frozenset({"max_iterations", "max_concurrent_children", "max_spawn_depth"}),
    "cron": frozenset({"output_retention", "max_parallel_jobs"}),
    "gateway": frozenset({"write_sessions_json"}),
    "checkpoints": frozenset({"auto_prune", "retention_days"}),
    "goals": frozenset({"max_turns"}),
}  # fmt: skip
"""What sessions depend on, for homes whose Hermes is not found here."""
OTHERS = frozenset({"fallback_providers", "fallback_model", "max_concurrent_sessions"})


class Known(Protocol):
    """What an installed Hermes knows."""

    @property
    def sections(self) -> Mapping[str, frozenset[str]]: ...

    def mentions(self, word: str) -> bool: ...


def name_findings(said: Configuration, known: Known | None) -> Iterator[Finding]:
    """Names that are probably slips."""
    values = said.config.values
    sections = known.sections if known and known.sections else {}
    roots = {*SECTIONS, *OTHERS, *sections}
    for path, near in _slips((), values, roots):
        # A plain value is no section, and may well be meant for somebody else.
        stray = near in SECTIONS and not isinstance(values[path[0]], dict | list)
        if not stray and not (known and known.mentions(path[-1])):
            yield _question(said, path, near)
    for section, few in SECTIONS.items():
        there = few | sections.get(section, frozenset())
        for path, near in _slips((section,), mapping(values.get(section)), there):
            if few and not (known and known.mentions(path[-1])):
                yield _question(said, path, near)


def _slips(
    at: tuple[str, ...], values: Mapping[object, object], known: set[str] | frozenset[str]
) -> Iterator[tuple[tuple[str, ...], str]]:
    for name in values:
        if not isinstance(name, str) or name in known or name.startswith("_") or name.isupper():
            continue
        near = next(iter(get_close_matches(name[:64], known, n=1, cutoff=CLOSE)), None)
        if near is not None and near not in values:
            yield (*at, name), near


def _question(said: Configuration, path: tuple[str, ...], near: str) -> Finding:
    where = said.config.at(*path)
    return Finding(
        code="config.misspelt",
        level=Level.HINT,
        words=f"{'.'.join(path)}: did you mean {near}?",
        cost="a name that Hermes does not know is ignored without a word",
        repair=f"edit {where}",
        where=where,
    )
