"""Finds everything that is wrong with settings, in one go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sexton.liveness.policy import LivenessPolicy
from sexton.retention.policy import Fate, RetentionClass
from sexton.settings.budget_entries import wrong_budgets
from sexton.settings.building import retention_of
from sexton.settings.finalizer_settings import wrong_finalizers
from sexton.settings.quantities import show_duration
from sexton.settings.sections import FILE, SECTIONS
from sexton.settings.settings_problems import Complaint, Found, Path, dotted, entries

_MATCHES = ("sources", "chat_types", "keys")
_ELSEWHERE = {
    name: dotted((*path, name))
    for path, section in reversed(list(SECTIONS.items()))
    for name in section.fields
}

LEAST_BEATS = 2
"""A process asks before it writes once half the TTL has passed without a beat."""


def read(values: Any) -> tuple[dict[str, Any], list[Complaint]]:
    """The values of a settings file or of an override as they are used, and what is wrong."""
    found = Found(_ELSEWHERE)
    written = FILE.read({} if values is None else values, (), found)
    related = (*_unlimited_rules(values), *wrong_finalizers(values), *wrong_budgets(values))
    return written, [*found.complaints, *related]


def contradictions(values: Mapping[str, Any]) -> Iterator[Complaint]:
    """What is wrong with settings that are sound one by one; told of one that was written down.

    Sections with a mistake of their own are passed over.
    """
    written, wrong = read(values)
    wrong_sections = {complaint.path[0] for complaint in wrong}
    sound = {name: section for name, section in written.items() if name not in wrong_sections}
    liveness = sound.get("liveness", {})
    policy = LivenessPolicy(**liveness)
    if policy.ttl < LEAST_BEATS * policy.beat_every:
        name, other = ("ttl", "beat_every") if "ttl" in liveness else ("beat_every", "ttl")
        yield Complaint(
            ("liveness", name),
            f"the ttl must be at least {LEAST_BEATS} beats, or every late one looks like a death: "
            f"{name} is {show_duration(getattr(policy, name))}, "
            f"{other} is {show_duration(getattr(policy, other))}",
        )
    if "liveness" not in wrong_sections:
        yield from _wrong_retention(sound.get("retention", {}), policy.dies_with_owner)


def _unlimited_rules(values: Any) -> Iterator[Complaint]:
    """Rules that match every session: they would take the place of the default unseen."""
    for place, rule in entries(values, "reset", "rules"):
        if not any(match in rule for match in _MATCHES):
            yield Complaint(
                ("reset", "rules", place),
                "the rule matches every session; add sources, chat_types or keys, "
                "or set this in reset itself",
            )


def _wrong_retention(
    written: Mapping[str, Any], unattended: Collection[str]
) -> Iterator[Complaint]:
    """What is wrong with retention that is sound setting by setting."""
    retention = retention_of(written)
    yield from _ageless(("retention",), written, retention.general)
    if retention.general.rows is Fate.REMOVE and not retention.allow_remove_all:
        yield Complaint(
            ("retention", "rows"),
            "this removes the messages of every session in the end; name the sources it is for "
            "in classes, or set allow_remove_all: true",
        )
    for place, policy in enumerate(retention.classes):
        here: Path = ("retention", "classes", place)
        yield from _ageless(here, written["classes"][place], policy)
        for source in () if policy.after_delivery is Fate.KEEP else policy.sources:
            if source not in unattended:
                yield Complaint(
                    (*here, "after_delivery"),
                    f"sessions of '{source}' wait for the next message, so nothing is delivered "
                    f"when they end; liveness.dies_with_owner does not name '{source}'",
                )


def _ageless(here: Path, written: Mapping[str, Any], policy: RetentionClass) -> Iterator[Complaint]:
    """Records that are to go, but nobody said when."""
    if policy.rows is not Fate.KEEP and policy.rows_max_age is None:
        name = next((name for name in ("rows", "rows_max_age") if name in written), None)
        if name is not None:
            yield Complaint((*here, name), f"rows: {policy.rows} needs an age in rows_max_age")
