"""Do the other settings of a home do what they seem to say? Retention, fallbacks, the API key."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from typing import Any

from sexton.homes.hermes.config_files import ConfigFile, Configuration, mapping, plain
from sexton.homes.hermes.dotenv import whole
from sexton.homes.hermes.findings.config_names import Known
from sexton.homes.hermes.findings.finding import Finding, Level, Names

TRUE_WORDS = ("1", "true", "yes", "on")
PLACEHOLDERS = frozenset({
    "*", "**", "***", "changeme", "your_api_key", "your_api_key_here", "your-api-key",
    "placeholder", "example", "dummy", "null", "none",
})  # fmt: skip
SHORTEST_KEY = 16
_EDIT = "edit {}"


_BOUNDS = {"SESSION_IDLE_MINUTES": (1, math.inf, 1440), "SESSION_RESET_HOUR": (0, 23, 4)}
HARD_STOP = "session_token_hard_stop"
MOST_TOLD = 100


def unusable_findings(said: Configuration, names: Names) -> Iterator[Finding]:
    """Files that can not be used at all."""
    for file in (said.config, said.gateway):
        if file.trouble is not None:
            line = "" if file.trouble.line is None else f":{file.trouble.line}"
            yield Finding(
                code="config.unreadable",
                level=Level.GRAVE,
                words=f"{file.path.name} can not be used: {file.trouble.words}",
                cost="Hermes goes on with its defaults and says so only in its log",
                repair=names.hermes("config", "edit") if file is said.config
                else f"edit {file.path}",
                where=f"{file.path}{line}",
            )  # fmt: skip


def retention_findings(said: Configuration, names: Names) -> Iterator[Finding]:
    """Whether `sessions` would remove what it should keep, or nothing at all."""
    config = said.config
    sessions = config.values.get("sessions")
    if sessions is not None and not isinstance(sessions, dict):
        yield _finding(
            config, ("sessions",), "is not a mapping", "Hermes goes on with its defaults",
            _EDIT.format(config.at("sessions")),
        )  # fmt: skip
        return
    prune, days = mapping(sessions).get("auto_prune"), mapping(sessions).get("retention_days")
    if isinstance(prune, str):
        off = prune.strip().lower() not in TRUE_WORDS
        yield _finding(
            config, ("sessions", "auto_prune"), f"is the text '{prune[:20]}', which counts as on",
            "old sessions are removed although it says not to" if off else "it works by accident",
            names.hermes("config", "set", "sessions.auto_prune", "false" if off else "true"),
            Level.GRAVE if off else Level.HINT,
        )  # fmt: skip
    if days is not None and not _is_count(days):
        cost = "old sessions are not removed, and nothing says why"
        yield _finding(
            config, ("sessions", "retention_days"), "is not a whole number of days", cost,
            names.hermes("config", "set", "sessions.retention_days", "90"),
        )  # fmt: skip
    hours = mapping(sessions).get("min_interval_hours")
    if hours is not None and not _is_count(hours):
        yield _finding(
            config, ("sessions", "min_interval_hours"), "is not a whole number of hours",
            "old sessions are not removed, and nothing says why",
            names.hermes("config", "set", "sessions.min_interval_hours", "24"),
        )  # fmt: skip
    if days is not None and _is_count(days) and int(days) <= 0:
        when = "at the next start" if prune else "as soon as auto_prune is switched on"
        yield _finding(
            config, ("sessions", "retention_days"), f"is {int(days)}",
            f"every ended session is deleted {when}, also one that ended a second ago",
            names.hermes("config", "set", "sessions.retention_days", "90"), Level.GRAVE,
        )  # fmt: skip


def variable_findings(said: Configuration) -> Iterator[Finding]:
    """Whether a variable that overrides a reset is a number at all."""
    for name, (least, most, usual) in _BOUNDS.items():
        value = said.variable(name)
        number = whole(value)
        if not value or (number is not None and least <= number <= most):
            continue
        unusable = f"Hermes takes {usual} instead and says so only in its log"
        yield Finding(
            code=f"config.{name.lower()}",
            level=Level.COSTLY,
            words=f"{name} is not a whole number"
            if number is None
            else f"{name} is {number}, which can not be meant",
            cost="Hermes ignores it without a word" if number is None else unusable,
            repair=f"edit {said.place(name)}",
            where=said.place(name),
        )


def repeated_findings(said: Configuration) -> Iterator[Finding]:
    """Names that are set twice: the first setting has no effect."""
    config = said.config
    for path in config.twice[:MOST_TOLD]:
        where = config.at(*path)
        yield Finding(
            code="config.repeated",
            level=Level.COSTLY,
            words=f"{'.'.join(map(str, path))} is set more than once, and only the last one holds",
            cost="what the earlier ones say is ignored without a word",
            repair=f"edit {where}",
            where=where,
        )


def inert_findings(said: Configuration, known: Known | None) -> Iterator[Finding]:
    """Settings that people were told of and that Hermes reads nowhere."""
    if known and known.mentions(HARD_STOP):
        return
    values = said.config.values
    sections = [(name,) for name in values if isinstance(name, str) and mapping(values[name])]
    for at in ((), *sections):
        holder = mapping(values.get(at[0])) if at else values
        if holder.get(HARD_STOP) is not None:
            where = said.config.at(*at, HARD_STOP)
            yield Finding(
                code="config.inert",
                level=Level.COSTLY,
                words=f"{'.'.join((*at, HARD_STOP))} has no effect: Hermes does not read it",
                cost="no session ever stops at a number of tokens",
                repair=f"edit {where}: 'budgets' in sexton.yaml stop a session by its tokens",
                where=where,
            )


def fallback_findings(said: Configuration, names: Names) -> Iterator[Finding]:
    """Whether the other providers would be used when the first one fails."""
    config = said.config
    for name in ("fallback_providers", "fallback_model"):
        value = config.values.get(name)
        if value in (None, "", [], {}):
            continue
        if not isinstance(value, list | dict):
            shape = "is a single word instead of a list of {provider, model}"
            yield _fallback(config, (name,), shape, names)
            continue
        for place, entry in enumerate(value if isinstance(value, list) else [value]):
            path = (name, place) if isinstance(value, list) else (name,)
            wrong = _entry(entry)
            if wrong:
                yield _fallback(config, path, wrong, names)


def server_findings(said: Configuration) -> Iterator[Finding]:
    """Whether the API server has a key that can not be guessed."""
    platform = mapping(mapping(said.config.values.get("platforms")).get("api_server"))
    extra = mapping(platform.get("extra"))
    key = said.variable("API_SERVER_KEY") or plain(extra.get("key") or platform.get("key") or "")
    asked = said.variable("API_SERVER_ENABLED").strip().lower() in TRUE_WORDS
    if not (asked or key or platform.get("enabled") is True):
        return
    cleaned = key.strip()
    if len(cleaned) >= SHORTEST_KEY and cleaned.lower() not in PLACEHOLDERS:
        return
    variable = said.variables.get("API_SERVER_KEY")
    line = f":{variable.line}" if variable else ""
    file = shlex.quote(str(said.dotenv))
    how = "too short to be a secret" if cleaned else "not set"
    yield Finding(
        code="config.api_server_key",
        level=Level.GRAVE,
        words=f"the API server is switched on, but API_SERVER_KEY is {how}",
        cost="newer releases refuse to start it; older ones let anybody run commands through it",
        # Of two settings the later one holds; the file need not end with a new line.
        repair=f"""printf '\\nAPI_SERVER_KEY=%s\\n' "$(openssl rand -hex 32)" >> {file}""",
        where=f"{said.dotenv}{line}",
    )


def _entry(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "is not a mapping with provider and model"
    missing = [name for name in ("provider", "model") if not plain(entry.get(name) or "").strip()]
    return f"has no {' and no '.join(missing)}" if missing else None


def _fallback(config: ConfigFile, path: tuple[str | int, ...], wrong: str, names: Names) -> Finding:
    return _finding(
        config, path, wrong, "it is left out silently: when the first provider fails, work stops",
        names.hermes("fallback", "add"),
    )  # fmt: skip


def _finding(
    config: ConfigFile,
    path: tuple[str | int, ...],
    wrong: str,
    cost: str,
    repair: str,
    level: Level = Level.COSTLY,
) -> Finding:
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)[1:]
    return Finding(
        code=f"config.{path[0] if path[0] != 'sessions' else path[-1]}",
        level=level,
        words=f"{shown} {wrong}",
        cost=cost,
        repair=repair,
        where=config.at(*path),
    )


def _is_count(value: Any) -> bool:
    try:
        int(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
