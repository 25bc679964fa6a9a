"""The finalizers that the settings name, with the defaults of their kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sexton.core.record import settings_of
from sexton.finalizers.policy import EVERY_SOURCE, Owing
from sexton.settings.settings_problems import Complaint, entries
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting

_SPARED = {FinalizerKind.MEMORY: ("cron",)}


def finalizer_of(written: Mapping[str, Any]) -> FinalizerSetting:
    """A finalizer as it was written, with its sources and those it leaves out."""
    left_out = spared(written["kind"], written.get("sources", ()))
    return FinalizerSetting(**written, spared=left_out)


def usual(kind: FinalizerKind) -> dict[str, Any]:
    """The defaults that finalizers of a kind have for themselves."""
    settings = settings_of(FinalizerSetting).items()
    return {name: declared.usual[kind] for name, declared in settings if kind in declared.usual}


def owing(setting: FinalizerSetting) -> Owing:
    """Which sessions owe a finalizer's work: the part of it that all keepers share."""
    return Owing(
        name=setting.name,
        sources=setting.sources,
        spared=setting.spared,
        min_messages=setting.min_messages,
    )


def spared(kind: FinalizerKind, sources: Sequence[str]) -> tuple[str, ...]:
    """The sources a finalizer for every source leaves out, unless they are named."""
    if sources and EVERY_SOURCE not in sources:
        return ()
    return tuple(source for source in _SPARED.get(kind, ()) if source not in sources)


def wrong_finalizers(values: Any) -> Iterator[Complaint]:
    """Finalizers of the same name, and what is missing or misplaced in one of its kind."""
    named: dict[str, int] = {}
    for place, entry in entries(values, "finalizers"):
        name, kind = entry.get("name"), entry.get("kind")
        if isinstance(name, str) and named.setdefault(name, place) != place:
            message = f"finalizers[{named[name]}] has the same name"
            yield Complaint(("finalizers", place, "name"), message)
        if isinstance(kind, str) and kind in set(FinalizerKind):
            yield from _unfit(place, entry, kind)


def _unfit(place: int, entry: Mapping[str, Any], kind: str) -> Iterator[Complaint]:
    for name, declared in settings_of(FinalizerSetting).items():
        kinds = declared.belongs
        if declared.needed and kind in kinds and name not in entry:
            yield Complaint(("finalizers", place, name), f"is required for kind {kind}")
        if kinds and kind not in kinds and name in entry:
            owners = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
            message = f"belongs to kind {owners}, this is kind {kind}"
            yield Complaint(("finalizers", place, name), message, at_key=True)
