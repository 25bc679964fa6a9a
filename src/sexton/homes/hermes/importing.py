"""Which of our settings say what a Hermes home's own configuration says, and what has no like?

Values that Hermes itself could not use are not taken over; they are told instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sexton.core.record import record
from sexton.homes.hermes.config_files import ConfigFile, Configuration, counted, mapping
from sexton.homes.hermes.dotenv import OVERRIDES
from sexton.resets.policy import Mode


class Said(NamedTuple):
    """A value for a setting of ours, and which setting of theirs says so."""

    value: Any
    origin: str


class Left(NamedTuple):
    """A setting of theirs that is not taken over, and why."""

    name: str
    where: str
    why: str


class Item(NamedTuple):
    """A rule or a budget of ours, and where it comes from."""

    values: Mapping[str, Any]
    origin: str


@record
class Imported:
    """Our settings, and what is left over of theirs."""

    sections: Mapping[str, Mapping[str, Said]]
    rules: tuple[Item, ...]
    budgets: tuple[Item, ...]
    left: tuple[Left, ...]


class _Import:
    """The walk through their settings; every one is taken or left."""

    def __init__(self, said: Configuration, environ: Mapping[str, str], zone: str) -> None:
        self.config, self.gateway = said.config, said.gateway
        self.said, self.environ, self.zone = said, environ, zone
        self.sections: dict[str, dict[str, Said]] = {}
        self.rules: list[Item] = []
        self.budgets: list[Item] = []
        self.left: list[Left] = []

    def take(self, section: str, name: str, value: Any, origin: str) -> None:
        self.sections.setdefault(section, {})[name] = Said(value, origin)

    def leave(self, file: ConfigFile, path: tuple[str, ...], why: str) -> None:
        self.left.append(Left(".".join(path), file.at(*path), why))

    def all(self) -> Imported:
        self.resets()
        self.retention()
        self.spending()
        self.guardrails()
        for name in ("max_concurrent_sessions", "max_live_sessions"):
            if self.config.values.get(name) is not None:
                self.leave(self.config, (name,), "how many may run at once is Hermes's own affair")
        return Imported(
            sections=self.sections,
            rules=tuple(self.rules),
            budgets=tuple(self.budgets),
            left=tuple(self.left),
        )

    def resets(self) -> None:
        """The general policy, then those for platforms and kinds of chat."""
        file, at, policy = self._general()
        taken = dict(self._policy(file, at, policy)) | dict(self._overrides())
        if taken:
            taken.setdefault("timezone", Said(self.zone, "the time of this machine"))
        for name, said in taken.items():
            self.take("reset", name, said.value, said.origin)
        self._of_processes(file, at, policy)
        for section, ours in (("reset_by_type", "chat_types"), ("reset_by_platform", "sources")):
            self._exceptions(section, ours)
        if self.gateway.values.get("session_store_max_age_days") is not None:
            why = "a conversation is never forgotten here without having ended"
            self.leave(self.gateway, ("session_store_max_age_days",), why)

    def _overrides(self) -> Iterator[tuple[str, Said]]:
        for variable, name in OVERRIDES.items():
            value = self.said.variable(variable) or self.environ.get(variable, "")
            number = counted(value)
            if _fits(name, number):
                yield name, Said(number, variable)
            elif value:
                self.left.append(Left(variable, str(self.said.dotenv), "it is no usable number"))

    def _exceptions(self, section: str, ours: str) -> None:
        said = mapping(self.gateway.values.get(section))
        for name in sorted(said):  # by name alone: what it says may be nested without end
            path, one = (section, name), said[name]
            values = {key: each.value for key, each in self._policy(self.gateway, path, one)}
            if values:
                self.rules.append(Item({ours: [name], **values}, ".".join(path)))

    def _general(self) -> tuple[ConfigFile, tuple[str, ...], Mapping[Any, Any]]:
        values, nested = self.config.values, mapping(self.config.values.get("gateway"))
        if "session_reset" in values:
            return self.config, ("session_reset",), mapping(values["session_reset"])
        if mapping(nested.get("session_reset")):
            return self.config, ("gateway", "session_reset"), mapping(nested["session_reset"])
        older = mapping(self.gateway.values.get("default_reset_policy"))
        return self.gateway, ("default_reset_policy",), older

    def _policy(
        self, file: ConfigFile, at: tuple[str, ...], policy: Any
    ) -> Iterator[tuple[str, Said]]:
        for name in ("mode", "idle_minutes", "at_hour"):
            value = mapping(policy).get(name)
            if value is not None and _fits(name, value):
                yield name, Said(value, ".".join((*at, name)))
            elif value is not None:
                self.leave(file, (*at, name), "Hermes can not use this value either")

    def _of_processes(
        self, file: ConfigFile, at: tuple[str, ...], policy: Mapping[Any, Any]
    ) -> None:
        hours = policy.get("bg_process_max_age_hours")
        origin = (*at, "bg_process_max_age_hours")
        if _is_count(hours) and hours:
            self.take("processes", "ttl", f"{hours}h", ".".join(origin))
        elif hours is not None:
            self.leave(file, origin, "no process may hold a reset back for ever")
        if policy.get("notify") is False:
            events = ["limit", "dead_letter", "held", "process", "budget", "disk"]
            self.take("notify", "events", events, ".".join((*at, "notify")))
        if policy.get("notify_exclude_platforms") is not None:
            why = "who is told is said for all sources alike, in 'notify'"
            self.leave(file, (*at, "notify_exclude_platforms"), why)

    def retention(self) -> None:
        """When old rows go."""
        sessions = mapping(self.config.values.get("sessions"))
        days = sessions.get("retention_days")
        if sessions.get("auto_prune") is True and (days is None or (_is_count(days) and days)):
            origin = "sessions.retention_days"
            self.take("retention", "rows", "archive", "sessions.auto_prune")
            self.take("retention", "rows_max_age", f"{days or 90}d", origin)
        elif days is not None:
            unusable = sessions.get("auto_prune") is True
            why = "Hermes would delete what just ended" if unusable else "auto_prune is off"
            self.leave(self.config, ("sessions", "retention_days"), why)
        for name, why in (
            ("vacuum_after_prune", "a database that others hold is never rewritten"),
            ("min_interval_hours", "a keeper sweeps every minute, and little at a time"),
            ("write_json_snapshots", "'retention.max_age' says how long such files are kept"),
        ):
            if sessions.get(name) is not None:
                self.leave(self.config, ("sessions", name), why)

    def spending(self) -> None:
        """How much a turn may do."""
        limits: tuple[tuple[tuple[str, str], dict[str, Any]], ...] = (
            (("agent", "max_turns"), {}),
            (("delegation", "max_iterations"), {"sources": ["subagent"], "name": "subagents"}),
        )
        for at, extra in limits:
            value = mapping(self.config.values.get(at[0])).get(at[1])
            if _is_count(value) and value:
                budget = {"scope": "turn", "iterations": value, "action": "pause", **extra}
                self.budgets.append(Item(budget, ".".join(at)))
            elif value is not None:
                self.leave(self.config, at, "a turn without any limit is not offered")
        for section, name, why in (
            ("goals", "max_turns", "a goal is Hermes's own; a session has 'budgets'"),
            ("agent", "gateway_timeout", "a turn that stalls is shown and not ended"),
        ):
            if mapping(self.config.values.get(section)).get(name) is not None:
                self.leave(self.config, (section, name), why)
        if self.config.values.get("session_token_hard_stop") is not None:
            why = "Hermes does not read it; 'budgets' has tokens"
            self.leave(self.config, ("session_token_hard_stop",), why)

    def guardrails(self) -> None:
        """When tools that fail are warned of and stopped."""
        rails = mapping(self.config.values.get("tool_loop_guardrails"))
        warn, stop = (mapping(rails.get(name)) for name in ("warn_after", "hard_stop_after"))
        steps = sorted(
            {step for step in (warn.get("same_tool_failure", 3), stop.get("same_tool_failure", 8))
             if _is_count(step) and step}
        )  # fmt: skip
        if rails.get("hard_stop_enabled") is True and steps:
            origin = "tool_loop_guardrails.*.same_tool_failure"
            self.take("breaker", "warn_at", steps, origin)
        elif rails.get("hard_stop_enabled") is not None:
            why = "the last of 'breaker.warn_at' always stops; the default is the ninth failure"
            self.leave(self.config, ("tool_loop_guardrails", "hard_stop_enabled"), why)
        if rails.get("warnings_enabled") is False:
            self.leave(
                self.config, ("tool_loop_guardrails", "warnings_enabled"),
                "a model is told before its tools stop",
            )  # fmt: skip
        for section, values in (("warn_after", warn), ("hard_stop_after", stop)):
            for name in sorted(values.keys() - {"same_tool_failure"}, key=str):
                path = ("tool_loop_guardrails", section, str(name))
                self.leave(self.config, path, "one ladder holds for every kind of repetition")


def import_settings(said: Configuration, environ: Mapping[str, str], zone: str) -> Imported:
    """Our settings for what a home's configuration says. Changes nothing."""
    return _Import(said, environ, zone).all()


def _fits(name: str, value: Any) -> bool:
    match name:
        case "mode":
            return value in [each.value for each in Mode]
        case "idle_minutes":
            return _is_count(value) and value > 0
        case _:
            return _is_count(value) and value < 24


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000
