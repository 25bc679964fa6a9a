"""Which settings are there, what are their defaults, and why?

The defaults are those of the values they become; the descriptions are the reasons that
docs/defaults.md shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from sexton.liveness.policy import LivenessPolicy
from sexton.resets.policy import Mode, ResetPolicy
from sexton.settings import vocabulary, work_vocabulary
from sexton.settings.disk_fields import (
    ArchiveFields,
    ClassFields,
    DiskFields,
    GcFields,
    RetentionFields,
    TrashFields,
)
from sexton.settings.fields import Duration, Limit, Listing, Names, Section, Spans, Strict
from sexton.settings.finalizer_fields import FinalizerFields, NotifyFields
from sexton.settings.home_fields import HomeFields
from sexton.settings.kinds import Kind
from sexton.settings.process_fields import ProcessFields
from sexton.settings.serve_fields import ServeFields
from sexton.settings.settings_problems import Path
from sexton.settings.settings_values import KeeperSettings
from sexton.settings.spend_fields import BreakerFields, BudgetFields, PricesFields, RunawayFields

_RESET: Final = ResetPolicy()
_LIVENESS: Final = LivenessPolicy()
_KEEPER: Final = KeeperSettings()


def _without_defaults(schema: dict[str, Any]) -> None:
    """What a rule leaves out it inherits, so an editor must not offer a default for it."""
    for described in schema["properties"].values():
        described.pop("default", None)


class PolicyFields(Strict):
    """When a session is over."""

    mode: Annotated[Mode, vocabulary.MODE] = Field(
        default=_RESET.mode,
        description="Which clocks end a session. A conversation that vanishes by itself surprises "
        "people, so none does unless it is asked for; the limits below hold in every mode.",
    )
    idle_minutes: Annotated[int, vocabulary.MINUTES] = Field(
        default=_RESET.idle_minutes,
        description="In the modes idle and both. A day, so that who comes back the next morning "
        "finds the conversation where it was.",
    )
    at_hour: Annotated[int, vocabulary.HOUR] = Field(
        default=_RESET.at_hour,
        description="In the modes daily and both. The hour in which the fewest people are in the "
        "middle of something.",
    )
    timezone: Annotated[str, vocabulary.ZONE] = Field(
        default=_RESET.timezone,
        description="The zone of at_hour. The same for every keeper of a ledger, whatever the "
        "clocks of their machines say.",
    )
    max_age: Annotated[timedelta | None, vocabulary.DURATION.or_null()] = Field(
        default=_RESET.max_age,
        description="Age alone harms nobody; a long conversation is bounded by its size.",
    )
    max_messages: Limit = Field(
        default=_RESET.max_messages,
        description="A session ends at this number of messages. A conversation that becomes "
        "empty by itself surprises people, so nothing ends by size unless a limit is set.",
    )
    max_bytes: Annotated[int | None, vocabulary.SIZE.or_null()] = Field(
        default=_RESET.max_bytes,
        description="A session ends at this size. Nothing ends by size unless a limit is set.",
    )
    max_turns: Limit = Field(
        default=_RESET.max_turns,
        description="Turns differ too much in length for a number that suits everyone. A native "
        "session counts those that its agent runs in `session.turn()`.",
    )
    warn_at: Annotated[float, vocabulary.SHARE] = Field(
        default=_RESET.warn_at,
        description="The share of a limit at which a session is warned once, early enough to "
        "bring its work to an end.",
    )
    warn_messages: Limit = Field(
        default=_RESET.warn_messages,
        description="Where max_messages is not set: the number of messages at which a session is "
        "warned once. Beyond it, a loop is likelier than a conversation; nothing ends.",
    )
    warn_bytes: Annotated[int | None, vocabulary.SIZE.or_null()] = Field(
        default=_RESET.warn_bytes,
        description="Where max_bytes is not set: the size at which a session is warned once. It is "
        "more text than any model reads at once; nothing ends.",
    )


class RuleFields(PolicyFields):
    """A reset policy for some sessions; what it does not set it inherits from `reset`."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    sources: Names = Field(
        default_factory=list,
        min_length=1,
        description="Where the conversation takes place, like telegram; left out, it matches any.",
    )
    chat_types: Names = Field(
        default_factory=list,
        min_length=1,
        description="Like group or dm; left out, it matches any.",
    )
    keys: list[Annotated[str, vocabulary.PATTERN]] = Field(
        default_factory=list,
        min_length=1,
        description="Patterns of session keys, with * and ?; left out, it matches any.",
    )


class ResetFields(PolicyFields):
    """When a session is over, for all sessions and by rules for some."""

    rules: Listing[RuleFields] = Field(
        default_factory=list,
        description="Exceptions for some sessions. The most specific one wins: a key pattern "
        "outranks a source, a source outranks a chat type, and of equals the later one wins.",
    )


class LivenessFields(Strict):
    """How the death of a process is noticed, and what it means for its sessions."""

    dies_with_owner: Names = Field(
        default_factory=lambda: list(_LIVENESS.dies_with_owner),
        description="The sources whose sessions end when their last process leaves: nobody can "
        "come back to them. All other sessions wait for the next message.",
    )
    beat_every: Duration = Field(
        default=_LIVENESS.beat_every,
        description="How often a process shows that it lives: one row each time, whatever the "
        "number of its sessions.",
    )
    ttl: Duration = Field(
        default=_LIVENESS.ttl,
        description="How long a process on another machine may be silent. Six beats, so that a "
        "slow network buries nobody; on the same machine the kernel's word counts instead. "
        "Half of it without a beat, and a process asks before it writes.",
    )
    lock_delay: Duration = Field(
        default=_LIVENESS.lock_delay,
        description="What is waited beyond the TTL before silence counts as death: time for a "
        "process that has just woken up to notice and to stop writing.",
    )
    stall_after: Duration = Field(
        default=_LIVENESS.stall_after,
        description="A turn of a live process without progress for so long is shown as stalled. "
        "Longer than tools and models usually take; nothing is ended for it.",
    )
    inactivity_bound: Section[Spans] = Field(
        default_factory=lambda: dict(_LIVENESS.inactivity_bound),
        description="By source: silence after which a session counts as dead although nothing is "
        "known of its owner. Silence alone proves nothing, so no source has one by itself.",
    )


class KeeperFields(Strict):
    """How a keeper works."""

    sweep_every: Duration = Field(
        default=_KEEPER.sweep_every,
        description="Resets are due to the minute, and a sweep that finds nothing due costs next "
        "to nothing.",
    )
    finalizers_at_once: Annotated[int, work_vocabulary.AT_ONCE] = Field(
        default=_KEEPER.finalizers_at_once,
        description="How much end-of-session work a keeper does at the same time, of all "
        "finalizers together: enough that slow endpoints hold up nobody, few enough that a "
        "thousand sessions that end together start no thousand programs.",
    )
    keep_journal: Duration = Field(
        default=_KEEPER.keep_journal,
        description="How long the journal, policies that are not in force any more and the daily "
        "counts are kept. Who asks why something happened asks within a year.",
    )


class SettingsFile(Strict):
    """The settings of Sexton, `sexton.yaml`."""

    homes: Listing[HomeFields] = Field(
        default_factory=list,
        description="The homes of other agents. Sexton looks at nothing it was not pointed to.",
    )
    reset: Section[ResetFields] = Field(default_factory=ResetFields)
    liveness: Section[LivenessFields] = Field(default_factory=LivenessFields)
    processes: Section[ProcessFields] = Field(default_factory=ProcessFields)
    finalizers: Listing[FinalizerFields] = Field(
        default_factory=list,
        description="Work to be done for every session that ends. Programs and servers get to "
        "read what was said, so there is none unless it is asked for.",
    )
    budgets: Listing[BudgetFields] = Field(
        default_factory=list,
        description="What may be spent, beside two budgets that are always there unless one of "
        "the same name takes their place: 200 iterations a turn (turn.iterations) and 5 million "
        "tokens an hour for each tree of sessions (tree.tokens/1h).",
    )
    prices: Section[PricesFields] = Field(default_factory=PricesFields)
    breaker: Section[BreakerFields] = Field(default_factory=BreakerFields)
    runaway: Section[RunawayFields] = Field(default_factory=RunawayFields)
    notify: Section[NotifyFields] = Field(default_factory=NotifyFields)
    retention: Section[RetentionFields] = Field(default_factory=RetentionFields)
    disk: Section[DiskFields] = Field(default_factory=DiskFields)
    archive: Section[ArchiveFields] = Field(default_factory=ArchiveFields)
    trash: Section[TrashFields] = Field(default_factory=TrashFields)
    gc: Section[GcFields] = Field(default_factory=GcFields)
    keeper: Section[KeeperFields] = Field(default_factory=KeeperFields)
    serve: Section[ServeFields] = Field(default_factory=ServeFields)


SECTIONS: Mapping[Path, type[BaseModel]] = {
    (): SettingsFile,
    ("homes",): HomeFields,
    ("reset",): ResetFields,
    ("reset", "rules"): RuleFields,
    ("liveness",): LivenessFields,
    ("processes",): ProcessFields,
    ("finalizers",): FinalizerFields,
    ("budgets",): BudgetFields,
    ("prices",): PricesFields,
    ("breaker",): BreakerFields,
    ("runaway",): RunawayFields,
    ("notify",): NotifyFields,
    ("retention",): RetentionFields,
    ("retention", "classes"): ClassFields,
    ("disk",): DiskFields,
    ("archive",): ArchiveFields,
    ("trash",): TrashFields,
    ("gc",): GcFields,
    ("keeper",): KeeperFields,
    ("serve",): ServeFields,
}
"""Which model describes the settings below a path; places in lists are left out."""


def names_below(path: Path) -> list[str]:
    """The settings known below a path."""
    names = tuple(part for part in path if isinstance(part, str))
    return list(SECTIONS[names].model_fields) if names in SECTIONS else []


def kind_of(field: FieldInfo) -> Kind | None:
    """The kind of value a field has; None for a list or a section."""
    return next((mark for mark in field.metadata if isinstance(mark, Kind)), None)


def default_of(field: FieldInfo) -> object:
    """A field's default as it is written in YAML; None if there is nothing to write."""
    default = field.get_default(call_default_factory=True, validated_data={})
    kind = kind_of(field)
    return kind.show(default) if kind and default is not None else default


def has_default(field: FieldInfo) -> bool:
    """Whether one could write the default; some depend on other settings."""
    kind = kind_of(field)
    if kind is None:
        return not any(getattr(mark, "min_length", 0) for mark in field.metadata)
    return not field.is_required() and kind.takes(default_of(field))


def json_schema() -> dict[str, Any]:
    """The settings as JSON Schema, for editors and for programs that write them."""
    schema = SettingsFile.model_json_schema()
    for model in SECTIONS.values():
        if model in (SettingsFile, RuleFields, ClassFields):
            continue
        described = schema["$defs"][model.__name__]["properties"]
        for name, field in model.model_fields.items():
            described[name].pop("default", None)
            if has_default(field):
                described[name]["default"] = default_of(field)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
