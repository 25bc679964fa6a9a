"""Which policies are in force, and which of them applies to a session?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sexton.core.codec import plain, restored
from sexton.core.record import made, record, replace
from sexton.core.schedule import Schedule
from sexton.core.session import Session
from sexton.core.setting import setting
from sexton.liveness.policy import LivenessPolicy
from sexton.processes.handling import ProcessPolicy
from sexton.resets.policy import ResetPolicy, schedule
from sexton.spending.policy import SpendRules

if TYPE_CHECKING:
    from sexton.finalizers.policy import Owing
    from sexton.retention.policy import Retention


@record
class ResetRule:
    """A reset policy for the sessions that match; an empty tuple matches any."""

    sources: tuple[str, ...] = setting(
        default=(),
        match=True,
        about="The sources whose sessions the rule is for: where a conversation takes place, like "
        "`telegram`.",
        change="Name the sources whose conversations end sooner or later than others.",
    )
    chat_types: tuple[str, ...] = setting(
        default=(),
        match=True,
        about="The types of chat that the rule is for, like `group` or `dm`.",
        change="Name `group` where groups need another reset than direct messages.",
    )
    keys: tuple[str, ...] = setting(
        default=(),
        kind="pattern",
        match=True,
        about="Patterns of session keys that the rule is for, with `*` and `?`.",
        change="Name single conversations or those of one agent, like `agent:main:*`.",
    )
    policy: ResetPolicy

    def specificity(self, session: Session) -> tuple[int, int, int, int] | None:
        """How closely the rule names the session, or None if it does not match.

        A key pattern outranks a source, a source outranks a chat type; of two key patterns the
        one with more literal characters wins.
        """
        if self.sources and session.source not in self.sources:
            return None
        if self.chat_types and session.chat_type not in self.chat_types:
            return None
        literal = max(
            (_literal(key) for key in self.keys if _matches(session.key or "", key)),
            default=None,
        )
        if self.keys and literal is None:
            return None
        return (
            int(bool(self.keys)),
            literal or 0,
            int(bool(self.sources)),
            int(bool(self.chat_types)),
        )


@record
class Rulebook:
    """Everything that decides, as one value."""

    reset: ResetPolicy = made(ResetPolicy)
    reset_rules: tuple[ResetRule, ...] = ()
    liveness: LivenessPolicy = made(LivenessPolicy)
    finalizers: tuple[Owing, ...] = ()
    processes: ProcessPolicy = made(ProcessPolicy)
    spend: SpendRules = made(SpendRules)
    retention: Retention = made(lambda: _retention(None))

    def reset_rule(self, session: Session) -> ResetRule | None:
        """The most specific rule for a session; of equals the later one; None means the default."""
        matches = [
            (rank, place)
            for place, rule in enumerate(self.reset_rules)
            if (rank := rule.specificity(session)) is not None
        ]
        return self.reset_rules[max(matches)[1]] if matches else None

    def schedule(self, session: Session, serial: int) -> Schedule:
        """When the policies next have something to say about a session."""
        return bounded(
            schedule(session, self.reset_policy(session), serial), session, self.liveness
        )

    def has_clock(self, session: Session) -> bool:
        """Whether time alone can end the session."""
        bound = self.liveness.bound(session.source)
        return bound is not None or self.reset_policy(session).has_clock

    def reset_policy(self, session: Session) -> ResetPolicy:
        """The reset policy of a session."""
        rule = self.reset_rule(session)
        return rule.policy if rule else self.reset


def bounded(planned: Schedule, session: Session, policy: LivenessPolicy) -> Schedule:
    """The schedule, brought forward to when the session's silence would count as death."""
    bound = policy.bound(session.source)
    if bound is None:
        return planned
    silent = session.rests_since + bound
    return replace(planned, at=silent if planned.at is None else min(planned.at, silent))


@record(kw_only=False)
class InForce:
    """The rulebook in force and the version it was published under."""

    serial: int
    digest: str
    rules: Rulebook


def encode(rules: Rulebook) -> str:
    """The rulebook as text that is the same for the same rules."""
    import json  # noqa: PLC0415  # slow to load, and only stored rules are text

    return json.dumps(rules, sort_keys=True, separators=(",", ":"), default=_plain)


def decode(text: str) -> Rulebook:
    """The rulebook that `encode` wrote; what a newer Sexton added is ignored."""
    import json  # noqa: PLC0415  # slow to load, and only stored rules are text

    stored = json.loads(text)
    rules = Rulebook(
        reset=restored(ResetPolicy, stored["reset"]),
        reset_rules=tuple(restored(ResetRule, rule) for rule in stored["reset_rules"]),
        liveness=restored(LivenessPolicy, stored["liveness"]),
        finalizers=_finalizers(stored),
    )
    if "processes" in stored:
        rules = replace(rules, processes=restored(ProcessPolicy, stored["processes"]))
    if "spend" in stored:
        rules = replace(rules, spend=restored(SpendRules, stored["spend"]))
    if "retention" in stored:
        rules = replace(rules, retention=_retention(stored["retention"]))
    return rules


def owings(text: str) -> tuple[Owing, ...]:
    """The finalizers of stored rules; text that holds no rules has none."""
    import json  # noqa: PLC0415  # slow to load, and only stored rules are text

    try:
        stored = json.loads(text)
    except ValueError:
        return ()
    return _finalizers(stored) if isinstance(stored, dict) else ()


def digest(text: str) -> str:
    """The hash by which equal rulebooks are recognised."""
    import hashlib  # noqa: PLC0415  # an agent that only writes needs none

    return hashlib.sha256(text.encode()).hexdigest()


def _matches(key: str, pattern: str) -> bool:
    from fnmatch import fnmatchcase  # noqa: PLC0415  # few rules name a key

    return fnmatchcase(key, pattern)


def _retention(stored: Mapping[str, Any] | None) -> Retention:
    from sexton.retention.policy import Retention  # noqa: PLC0415  # for keepers

    return restored(Retention, stored or {})


def _finalizers(stored: Mapping[str, Any]) -> tuple[Owing, ...]:
    if not stored.get("finalizers"):
        return ()
    from sexton.finalizers.policy import Owing  # noqa: PLC0415  # most agents owe nothing

    return tuple(restored(Owing, each) for each in stored["finalizers"])


_LATER = ("processes", "spend", "retention")


def _literal(pattern: str) -> int:
    return sum(character not in "*?[]" for character in pattern)


def _plain(value: object) -> float | dict[str, Any]:
    fields = plain(value)
    if isinstance(value, Rulebook) and isinstance(fields, dict):
        # the usual rules take no room, and are the same text in every version
        usual = {"finalizers": (), **{name: getattr(Rulebook(), name) for name in _LATER}}
        return {name: said for name, said in fields.items() if usual.get(name) != said}
    return fields
