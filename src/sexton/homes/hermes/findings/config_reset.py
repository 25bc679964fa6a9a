"""Will the resets that a home's configuration asks for happen, and does the gateway start?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from sexton.homes.hermes.config_files import ConfigFile, Configuration, mapping
from sexton.homes.hermes.findings.finding import Finding, Level, Names
from sexton.policies.reset import Mode

POLICY_NAMES = (
    "mode", "at_hour", "idle_minutes", "notify", "notify_exclude_platforms",
    "bg_process_max_age_hours",
)  # fmt: skip
ONLY_IN_GATEWAY = (
    "default_reset_policy", "reset_by_platform", "reset_by_type", "session_store_max_age_days",
)  # fmt: skip
RESETS_REMOVED = 30
"""From this schema on Hermes resets nothing by the clock."""
_DEFAULTS = {"idle_minutes": 1440, "at_hour": 4, "bg_process_max_age_hours": 24}
_STOPS = "the gateway fails with a TypeError when it reads it, and does not start"


def reset_findings(said: Configuration, schema: int, names: Names) -> Iterator[Finding]:
    """What is wrong with the reset policies."""
    config = said.config
    nested = mapping(config.values.get("gateway"))
    at: tuple[str, ...] = ("session_reset",)
    if "session_reset" not in config.values and "session_reset" in nested:
        at = ("gateway", "session_reset")
    elif "session_reset" in config.values and "session_reset" in nested:
        yield _inert(
            config, ("gateway", "session_reset"),
            "session_reset is also set at the root, which wins", names,
        )  # fmt: skip
    policy = nested.get("session_reset") if len(at) > 1 else config.values.get("session_reset")
    yield from _policy(config, at, policy, names)
    yield from _misplaced(config, names)
    yield from _legacy(said.gateway, names)
    if schema >= RESETS_REMOVED and mapping(policy).get("mode") in ("idle", "daily", "both"):
        yield Finding(
            code="config.resets_removed",
            level=Level.COSTLY,
            words=f"{'.'.join(at)} asks for resets, which this Hermes does not have any more",
            cost="no conversation ever starts afresh by itself",
            repair=names.sexton("apply"),
            where=config.at(*at),
        )


def _policy(file: ConfigFile, at: tuple[str, ...], policy: Any, names: Names) -> Iterator[Finding]:
    if policy is None or policy == {}:
        return
    if not isinstance(policy, dict):
        yield Finding(
            code="config.not_a_mapping",
            level=Level.COSTLY,
            words=f"{'.'.join(at)} is {_kind(policy)} instead of a mapping",
            cost="Hermes ignores it without a word: nothing is ever reset",
            repair=names.hermes("config", "set", f"{'.'.join(at)}.mode", _meant(policy)),
            where=file.at(*at),
        )
        return
    yield from _numbers(file, at, policy, names)
    yield from _mode(file, at, policy, names)
    yield from _excluded(file, at, policy)
    for name in policy:
        near = isinstance(name, str) and name not in POLICY_NAMES and _near(name, POLICY_NAMES)
        if near:
            yield _misspelt(file, (*at, name), near)


def _numbers(
    file: ConfigFile, at: tuple[str, ...], policy: Mapping[Any, Any], names: Names
) -> Iterator[Finding]:
    checked = "default_reset_policy" in at or "session_reset" in at
    for name, usual in _DEFAULTS.items():
        value = policy.get(name)
        if value is None:
            continue
        path, least = (*at, name), 1 if name == "idle_minutes" else 0
        if not isinstance(value, int | float):
            yield Finding(
                code=f"config.{name}",
                level=Level.GRAVE,
                words=f"{'.'.join(path)} is {_kind(value)}, not a number",
                cost=_STOPS if checked else "every message it applies to fails with a TypeError",
                repair=_mend(file, path, _number(value, usual), names),
                where=file.at(*path),
            )
        elif value < least or (name == "at_hour" and value > 23):
            taken = f"Hermes takes {usual} instead and says so only in its log"
            yield Finding(
                code=f"config.{name}",
                level=Level.COSTLY if checked else Level.GRAVE,
                words=f"{'.'.join(path)} is {value}, which can not be meant",
                cost=taken if checked else "every message starts a new conversation",
                repair=_mend(file, path, str(usual), names),
                where=file.at(*path),
            )


def _mode(
    file: ConfigFile, at: tuple[str, ...], policy: Mapping[Any, Any], names: Names
) -> Iterator[Finding]:
    mode = policy.get("mode")
    modes = [each.value for each in Mode]
    if mode is not None and mode not in modes:
        near = _near(str(mode), modes) or "idle"
        yield Finding(
            code="config.mode",
            level=Level.COSTLY,
            words=f"{'.'.join(at)}.mode is '{str(mode)[:40]}', which Hermes does not know",
            cost="it is accepted silently, and nothing is ever reset",
            repair=_mend(file, (*at, "mode"), near, names),
            where=file.at(*at, "mode"),
        )
    if mode in (None, "none"):
        unused = [name for name in ("idle_minutes", "at_hour") if policy.get(name) is not None]
        # Hermes writes both beside a mode it was told; without one they were meant to work.
        if unused and mode is None:
            yield _inert(
                file, (*at, unused[0]), f"{'.'.join(at)} has no mode, which means none", names
            )


def _excluded(
    file: ConfigFile, at: tuple[str, ...], policy: Mapping[Any, Any]
) -> Iterator[Finding]:
    value = policy.get("notify_exclude_platforms")
    path = (*at, "notify_exclude_platforms")
    if value is not None and not isinstance(value, list | dict):
        broken = not isinstance(value, str)
        yield Finding(
            code="config.notify_exclude_platforms",
            level=Level.GRAVE if broken else Level.COSTLY,
            words=f"{'.'.join(path)} is {_kind(value)} instead of a list",
            cost=_STOPS if broken else "it is read letter by letter and spares no platform",
            repair=f"edit {file.at(*path)}",
            where=file.at(*path),
        )


def _misplaced(config: ConfigFile, names: Names) -> Iterator[Finding]:
    """Settings that Hermes reads from gateway.json only."""
    nested = mapping(config.values.get("gateway"))
    for name in ONLY_IN_GATEWAY:
        for at in ((name,), ("gateway", name)):
            holder = config.values if len(at) == 1 else nested
            if holder.get(name) is not None:
                why = "Hermes reads it from gateway.json only"
                yield _inert(config, at, why, names)


def _legacy(gateway: ConfigFile, names: Names) -> Iterator[Finding]:
    values = gateway.values
    default = values.get("default_reset_policy")
    yield from _policy(gateway, ("default_reset_policy",), default, names)
    for section in ("reset_by_type", "reset_by_platform"):
        for name, policy in mapping(values.get(section)).items():
            yield from _policy(gateway, (section, str(name)), policy, names)


def _inert(file: ConfigFile, path: tuple[str, ...], why: str, names: Names) -> Finding:
    return Finding(
        code="config.inert",
        level=Level.HINT,
        words=f"{'.'.join(path)} has no effect: {why}",
        cost="what it asks for does not happen",
        repair=f"edit {file.at(*path)}" if "no mode" not in why
        else names.hermes("config", "set", f"{'.'.join(path[:-1])}.mode", "both"),
        where=file.at(*path),
    )  # fmt: skip


def _misspelt(file: ConfigFile, path: tuple[str, ...], near: str) -> Finding:
    return Finding(
        code="config.misspelt",
        level=Level.COSTLY,
        words=f"{'.'.join(path)} is no setting of Hermes; did you mean {near}?",
        cost="it is ignored without a word",
        repair=f"edit {file.at(*path)}",
        where=file.at(*path),
    )


def _mend(file: ConfigFile, path: tuple[str, ...], value: str, names: Names) -> str:
    """The command that sets it right; for gateway.json there is none."""
    if file.path.suffix == ".json":
        return f"edit {file.path}"
    return names.hermes("config", "set", ".".join(path), value)


def _near(word: str, known: Any) -> str | None:
    return next(iter(get_close_matches(word[:64], list(known), n=1, cutoff=0.6)), None)


def _meant(value: Any) -> str:
    return _near(str(value), [each.value for each in Mode]) or "idle"


def _number(value: Any, usual: int) -> str:
    """The number that a text probably means."""
    text = str(value).strip().lower()
    units = {"h": 60, "d": 1440, "m": 1, "min": 1}
    for unit, minutes in units.items() if usual == _DEFAULTS["idle_minutes"] else ():
        count = text.removesuffix(unit)
        if count != text and count.isascii() and count.isdecimal():
            return str(int(count) * minutes)
    return text if text.isascii() and text.isdecimal() else str(usual)


def _kind(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the text '{value[:40]}'"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return f"of the kind {type(value).__name__}"
