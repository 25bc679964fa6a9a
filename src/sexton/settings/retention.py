"""How long do the settings say that sessions are kept, and do they mean it?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from sexton.core.record import names, replace
from sexton.retention.policy import Fate, Retention, RetentionClass
from sexton.settings.disk_fields import ArchiveFields, ClassFields, KeepingFields, RetentionFields
from sexton.settings.home_settings import resolved
from sexton.settings.settings_problems import Complaint
from sexton.settings.settings_problems import Path as SettingPath
from sexton.settings.settings_values import ArchiveSettings

_KNOWN = frozenset(names(RetentionClass))


def retention_of(fields: RetentionFields) -> Retention:
    """What is kept how long, with all that classes inherit."""
    general = _class(RetentionClass(), fields)
    return Retention(
        general=general,
        classes=tuple(_class(general, each) for each in fields.classes),
        allow_remove_all=fields.allow_remove_all,
    )


def archive_of(fields: ArchiveFields, beside: Path, environ: Mapping[str, str]) -> ArchiveSettings:
    """The archive with an absolute directory."""
    place = None if fields.directory is None else resolved(fields.directory, beside, environ)
    return ArchiveSettings(format=fields.format, directory=place, max_age=fields.max_age)


def wrong_retention(fields: RetentionFields, unattended: Collection[str]) -> Iterator[Complaint]:
    """What is wrong with retention that is sound setting by setting.

    Told of a setting that was written down: a file and the environment may say it together.
    """
    retention = retention_of(fields)
    yield from _ageless(("retention",), fields, retention.general)
    if retention.general.rows is Fate.REMOVE and not retention.allow_remove_all:
        yield Complaint(
            ("retention", "rows"),
            "this removes the messages of every session in the end; name the sources it is for "
            "in classes, or set allow_remove_all: true",
        )
    for place, each in enumerate(fields.classes):
        here: SettingPath = ("retention", "classes", place)
        yield from _ageless(here, each, retention.classes[place])
        if each.after_delivery is Fate.KEEP:
            continue
        for source in each.sources:
            if source not in unattended:
                yield Complaint(
                    (*here, "after_delivery"),
                    f"sessions of '{source}' wait for the next message, so nothing is delivered "
                    f"when they end; liveness.dies_with_owner does not name '{source}'",
                )


def _ageless(
    here: SettingPath, fields: KeepingFields, policy: RetentionClass
) -> Iterator[Complaint]:
    """Records that are to go, but nobody said when."""
    if policy.rows is not Fate.KEEP and policy.rows_max_age is None:
        name = next((n for n in ("rows", "rows_max_age") if n in fields.model_fields_set), None)
        if name is not None:
            yield Complaint((*here, name), f"rows: {policy.rows} needs an age in rows_max_age")


def _class(inherited: RetentionClass, fields: KeepingFields) -> RetentionClass:
    """The inherited class with what was set instead."""
    written: dict[str, Any] = {
        name: getattr(fields, name) for name in fields.model_fields_set & _KNOWN
    }
    written |= {name: tuple(each) for name, each in written.items() if isinstance(each, list)}
    if isinstance(fields, ClassFields):
        written.setdefault("after_delivery", fields.after_delivery)
    return replace(inherited, **written)
