"""Do turns of a home run where the plugin's budgets and breaker cannot see them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sexton.homes.hermes.config_files import Configuration, mapping
from sexton.homes.hermes.findings.finding import Finding, Level, Names

CODEX = "codex_app_server"
"""The runtime of Hermes that hands a whole turn to another program."""
ELIGIBLE = ("", "auto", "openai", "openai-codex")
"""The providers with which Hermes honours `model.openai_runtime`, named or found by itself."""
PLUGIN = "sexton"
Path = tuple[str | int, ...]


def runtime_findings(said: Configuration, names: Names) -> Iterator[Finding]:
    """A runtime whose calls pass no hook, in a home that has the plugin."""
    values = said.config.values
    enabled = mapping(values.get("plugins")).get("enabled")
    if not isinstance(enabled, list) or PLUGIN not in enabled:
        return
    for path in _handed_over(values):
        name = ".".join(map(str, path))
        is_simple = path == ("model", "openai_runtime")
        yield Finding(
            code="budgets.unguarded",
            level=Level.COSTLY,
            words=f"{name} is {CODEX}: Codex makes the calls of such a turn, and they pass no hook",
            cost="no budget and no breaker stops such a turn; its tokens are counted afterwards",
            repair=names.hermes("config", "set", name, "auto")
            if is_simple
            else f"edit {said.config.at(*path)}",
            where=said.config.at(*path),
        )


def _handed_over(values: Any) -> Iterator[Path]:
    model = mapping(values.get("model"))
    if _word(model.get("provider")) in ELIGIBLE and _is_codex(model.get("openai_runtime")):
        yield ("model", "openai_runtime")
    yield from _modes(("model",), model)
    for name, entry in mapping(values.get("providers")).items():
        yield from _modes(("providers", name), entry)
    custom = values.get("custom_providers")
    for place, entry in enumerate(custom if isinstance(custom, list) else []):
        yield from _modes(("custom_providers", place), entry)


def _modes(at: Path, entry: object) -> Iterator[Path]:
    for name in ("api_mode", "transport"):
        if _is_codex(mapping(entry).get(name)):
            yield (*at, name)


def _is_codex(value: object) -> bool:
    return _word(value) == CODEX


def _word(value: object) -> str:
    return value.strip().lower() if isinstance(value, str) else ""
