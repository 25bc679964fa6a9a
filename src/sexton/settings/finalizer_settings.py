"""Which finalizers do the settings name, and does each have what its kind needs?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sexton.core.record import replace
from sexton.finalizers.policy import EVERY_SOURCE, Owing
from sexton.settings.finalizer_fields import FinalizerFields
from sexton.settings.home_settings import resolved
from sexton.settings.settings_problems import Complaint
from sexton.settings.settings_values import FinalizerKind, FinalizerSetting, usual

_MEMORY, _COMMAND, _WEBHOOK, _PYTHON = FinalizerKind
_SPARED = {_MEMORY: ("cron",)}
_PATHS = ("cwd", "file")

NEEDED: Mapping[FinalizerKind, tuple[str, ...]] = {
    _MEMORY: ("base_url", "model"),
    _COMMAND: ("command",),
    _WEBHOOK: ("url",),
    _PYTHON: ("entry_point",),
}
"""What a finalizer of a kind can not do without."""

BELONGS: Mapping[str, tuple[FinalizerKind, ...]] = {
    "timeout": (_MEMORY, _COMMAND, _WEBHOOK),
    "command": (_COMMAND,),
    "cwd": (_COMMAND,),
    "url": (_WEBHOOK,),
    "secret_env": (_WEBHOOK,),
    "base_url": (_MEMORY,),
    "model": (_MEMORY,),
    "api_key_env": (_MEMORY,),
    "file": (_MEMORY,),
    "context_tokens": (_MEMORY,),
    "daily_calls": (_MEMORY,),
    "entry_point": (_PYTHON,),
}
"""The settings that not every kind has."""


def finalizer_settings(
    fields: Sequence[FinalizerFields], beside: Path, environ: Mapping[str, str]
) -> tuple[FinalizerSetting, ...]:
    """The finalizers with the defaults of their kinds and absolute paths."""
    return tuple(_setting(each, beside, environ) for each in fields)


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
    listed = values.get("finalizers") if isinstance(values, dict) else None
    named: dict[str, int] = {}
    for place, given in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(given, dict):
            continue
        name, kind = given.get("name"), given.get("kind")
        if isinstance(name, str) and named.setdefault(name, place) != place:
            message = f"finalizers[{named[name]}] has the same name"
            yield Complaint(("finalizers", place, "name"), message)
        if isinstance(kind, str) and kind in set(FinalizerKind):
            yield from _unfit(place, given, FinalizerKind(kind))


def _unfit(place: int, given: Mapping[str, Any], kind: FinalizerKind) -> Iterator[Complaint]:
    for name in NEEDED[kind]:
        if name not in given:
            yield Complaint(("finalizers", place, name), f"is required for kind {kind}")
    for name, kinds in BELONGS.items():
        if name in given and kind not in kinds:
            owners = " or ".join(filter(None, (", ".join(kinds[:-1]), kinds[-1])))
            message = f"belongs to kind {owners}, this is kind {kind}"
            yield Complaint(("finalizers", place, name), message, at_key=True)


def _setting(fields: FinalizerFields, beside: Path, environ: Mapping[str, str]) -> FinalizerSetting:
    written = {name: getattr(fields, name) for name in fields.model_fields_set}
    sources = tuple(fields.sources)
    setting = replace(
        usual(fields.name, fields.kind),
        **written | {"sources": sources, "spared": spared(fields.kind, sources)},
    )
    paths = {name: getattr(setting, name) for name in _PATHS}
    if fields.kind is _COMMAND:
        paths["cwd"] = paths["cwd"] or "."
    return replace(
        setting,
        **{
            name: resolved(str(path), beside, environ)
            for name, path in paths.items()
            if path is not None
        },
    )
