"""Will the resets that a home's configuration asks for happen, and does the gateway start?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any

from sexton.core.record import record
from sexton.homes.hermes.config_files import ConfigFile, Configuration, counted, mapping, plain
from sexton.homes.hermes.findings.finding import Finding, Level, Names, many, number
from sexton.homes.hermes.generations import resets_removed, usual_mode
from sexton.homes.hermes.inherited import MOST_RULES
from sexton.resets.policy import Mode

POLICY_NAMES = (
    "mode", "at_hour", "idle_minutes", "notify", "notify_exclude_platforms",
    "bg_process_max_age_hours",
)  # fmt: skip
ONLY_IN_GATEWAY = (
    "default_reset_policy", "reset_by_platform", "reset_by_type", "session_store_max_age_days",
)  # fmt: skip
MODES = tuple(each.value for each in Mode)
_DEFAULTS = {"idle_minutes": 1440, "at_hour": 4, "bg_process_max_age_hours": 24}
_MINUTES = {"h": 60, "d": 1440, "m": 1, "min": 1}
_STOPS = "the gateway fails with a TypeError when it reads it, and does not start"


@record
class Policy:
    """A reset policy as it is written: in which file, where in it, and what it says.

    `general` is the one that Hermes checks when it starts, `usual` what no mode means.
    """

    file: ConfigFile
    at: tuple[str, ...]
    said: Any
    names: Names
    usual: Mode
    general: bool = True

    @property
    def values(self) -> Mapping[Any, Any]:
        return mapping(self.said)

    def name(self, *below: str) -> str:
        return ".".join((*self.at, *below))

    def place(self, *below: str) -> str:
        return self.file.at(*self.at, *below)

    def mend(self, below: str, value: str) -> str:
        """The command that sets it right; for gateway.json there is none."""
        if self.file.path.suffix == ".json":
            return f"edit {self.file.path}"
        return self.names.hermes("config", "set", self.name(below), value)


def reset_findings(said: Configuration, schema: int, names: Names) -> Iterator[Finding]:
    """What is wrong with the reset policies."""
    config, usual = said.config, usual_mode(schema)
    nested = mapping(config.values.get("gateway"))
    at: tuple[str, ...] = ("session_reset",)
    policy = config.values.get("session_reset")
    if "session_reset" in nested and "session_reset" in config.values:
        yield _inert(config, ("gateway", *at), "session_reset is also set at the root, which wins")
    elif "session_reset" in nested:
        at, policy = ("gateway", "session_reset"), nested["session_reset"]
    general = Policy(file=config, at=at, said=policy, names=names, usual=usual)
    yield from _policy_findings(general)
    yield from _misplaced(config)
    yield from _older_findings(said.gateway, names, usual)
    if resets_removed(schema) and general.values.get("mode") in ("idle", "daily", "both"):
        yield Finding(
            code="config.resets_removed",
            level=Level.COSTLY,
            words=f"{general.name()} asks for resets, which this Hermes does not have any more",
            cost="no conversation ever starts afresh by itself",
            repair=names.sexton("apply"),
            where=general.place(),
        )


def _older_findings(gateway: ConfigFile, names: Names, usual: Mode) -> Iterator[Finding]:
    """No more than a gateway can have rules, and then how much there is beyond."""
    policies = _legacy(gateway, names, usual)
    found = chain.from_iterable(map(_policy_findings, islice(policies, MOST_RULES)))
    yield from islice(found, MOST_RULES)
    untold, unseen = sum(1 for _ in found), sum(1 for _ in policies)
    if untold or unseen:
        yield Finding(
            code="config.many",
            level=Level.COSTLY,
            words=f"{many(untold, 'more mistake')} in {gateway.path.name} "
            f"{'is' if untold == 1 else 'are'} not told, and of its policies "
            f"{number(unseen)} were not looked at",
            cost="no gateway needs so many: a program has written them",
            repair=f"edit {gateway.path}",
            where=str(gateway.path),
        )


def _legacy(gateway: ConfigFile, names: Names, usual: Mode) -> Iterator[Policy]:
    """The policies of the older file; those for platforms and chats nobody checks."""
    name = "default_reset_policy"
    said = gateway.values.get(name)
    yield Policy(file=gateway, at=(name,), said=said, names=names, usual=usual)
    for section in ("reset_by_type", "reset_by_platform"):
        for key, said in mapping(gateway.values.get(section)).items():
            at = (section, str(key))
            yield Policy(file=gateway, at=at, said=said, names=names, usual=usual, general=False)


def _policy_findings(policy: Policy) -> Iterator[Finding]:
    if policy.said is None or policy.said == {}:
        return
    if not isinstance(policy.said, dict):
        yield Finding(
            code="config.not_a_mapping",
            level=Level.COSTLY,
            words=f"{policy.name()} is {_kind(policy.said)} instead of a mapping",
            cost="Hermes ignores it without a word, and resets as if it were not there",
            repair=policy.mend("mode", _near(plain(policy.said), MODES) or "idle"),
            where=policy.place(),
        )
        return
    for name, usual in _DEFAULTS.items():
        yield from _number_findings(policy, name, usual)
    yield from _mode_findings(policy)
    yield from _excluded_findings(policy)
    for name in policy.values:
        near = isinstance(name, str) and name not in POLICY_NAMES and _near(name, POLICY_NAMES)
        if near:
            yield Finding(
                code="config.misspelt",
                level=Level.COSTLY,
                words=f"{policy.name(name)} is no setting of Hermes; did you mean {near}?",
                cost="it is ignored without a word",
                repair=f"edit {policy.place(name)}",
                where=policy.place(name),
            )


def _number_findings(policy: Policy, name: str, usual: int) -> Iterator[Finding]:
    value = policy.values.get(name)
    least = 1 if name == "idle_minutes" else 0
    if value is None:
        return
    if not isinstance(value, int | float):
        fails = "every message it applies to fails with a TypeError"
        yield Finding(
            code=f"config.{name}",
            level=Level.GRAVE,
            words=f"{policy.name(name)} is {_kind(value)}, not a number",
            cost=_STOPS if policy.general else fails,
            repair=policy.mend(name, _number(value, usual)),
            where=policy.place(name),
        )
    elif value < least or (name == "at_hour" and value > 23):
        taken = f"Hermes takes {usual} instead and says so only in its log"
        yield Finding(
            code=f"config.{name}",
            level=Level.COSTLY if policy.general else Level.GRAVE,
            words=f"{policy.name(name)} is {value}, which can not be meant",
            cost=taken if policy.general else "every message starts a new conversation",
            repair=policy.mend(name, str(usual)),
            where=policy.place(name),
        )


def _mode_findings(policy: Policy) -> Iterator[Finding]:
    mode = policy.values.get("mode")
    if mode is not None and mode not in MODES:
        yield Finding(
            code="config.mode",
            level=Level.COSTLY,
            words=f"{policy.name('mode')} is '{plain(mode)[:40]}', which Hermes does not know",
            cost="it is accepted silently, and nothing is ever reset",
            repair=policy.mend("mode", _near(plain(mode), MODES) or "idle"),
            where=policy.place("mode"),
        )
    unused = [name for name in ("idle_minutes", "at_hour") if policy.values.get(name) is not None]
    # With a mode of none they are what Hermes writes itself; without any they were meant to work.
    if mode is None and unused and policy.usual is Mode.NONE:
        yield Finding(
            code="config.inert",
            level=Level.HINT,
            words=f"{policy.name(unused[0])} has no effect: without a mode nothing is reset",
            cost="what it asks for does not happen",
            repair=policy.mend("mode", "both" if len(unused) > 1 else _MODE_OF[unused[0]]),
            where=policy.place(unused[0]),
        )


_MODE_OF = {"idle_minutes": "idle", "at_hour": "daily"}


def _excluded_findings(policy: Policy) -> Iterator[Finding]:
    name = "notify_exclude_platforms"
    value = policy.values.get(name)
    if value is not None and not isinstance(value, list | dict):
        broken = not isinstance(value, str)
        yield Finding(
            code=f"config.{name}",
            level=Level.GRAVE if broken else Level.COSTLY,
            words=f"{policy.name(name)} is {_kind(value)} instead of a list",
            cost=_STOPS if broken else "it is read letter by letter and spares no platform",
            repair=f"edit {policy.place(name)}",
            where=policy.place(name),
        )


def _misplaced(config: ConfigFile) -> Iterator[Finding]:
    """Settings that Hermes reads from gateway.json only."""
    nested = mapping(config.values.get("gateway"))
    for name in ONLY_IN_GATEWAY:
        for at, holder in (((name,), config.values), (("gateway", name), nested)):
            if holder.get(name) is not None:
                yield _inert(config, at, "Hermes reads it from gateway.json only")


def _inert(file: ConfigFile, path: tuple[str, ...], why: str) -> Finding:
    return Finding(
        code="config.inert",
        level=Level.HINT,
        words=f"{'.'.join(path)} has no effect: {why}",
        cost="what it asks for does not happen",
        repair=f"edit {file.at(*path)}",
        where=file.at(*path),
    )


def _near(word: str, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(word[:64], list(known), n=1, cutoff=0.6)), None)


def _number(value: Any, usual: int) -> str:
    """The number that a text probably means."""
    text = plain(value).strip().lower()
    for unit, minutes in _MINUTES.items() if usual == _DEFAULTS["idle_minutes"] else ():
        count = counted(text.removesuffix(unit)) if text.endswith(unit) else None
        if count is not None:
            return str(count * minutes)
    count = counted(text)
    return str(usual if count is None else count)


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
