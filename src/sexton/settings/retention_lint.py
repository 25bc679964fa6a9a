"""Which settings of retention and disk have no effect, and which classes can never fire?"""

from __future__ import annotations

from collections.abc import Iterator

from sexton.core.record import replace
from sexton.retention.policy import Fate, Retention, RetentionClass
from sexton.settings.settings_values import Settings

Note = tuple[str, str]


def idle_classes(settings: Settings) -> Iterator[Note]:
    """What was written down about retention and disk and can be left out."""
    retention = settings.rulebook.retention
    yield from _never(retention)
    yield from _useless("retention", retention.general, settings)
    for place, each in enumerate(retention.classes):
        yield from _useless(_name(place), each, settings)
    if not settings.disk.is_set and "disk.warn_at" in settings.places:
        yield "disk.warn_at", "has no effect without max_use or keep_free"


def _never(retention: Retention) -> Iterator[Note]:
    """Classes that later ones leave no source to, and those that change nothing."""
    for place, each in enumerate(retention.classes):
        later = [
            next(
                (at for at in _later(retention, place) if source in retention.classes[at].sources),
                None,
            )
            for source in each.sources
        ]
        if None not in later:
            by = " or ".join(_name(at) for at in dict.fromkeys(later) if at is not None)
            yield _name(place), f"never applies: {by} always wins over it"
        elif _changes_nothing(retention, place):
            yield _name(place), "changes nothing: its sources are kept the same without it"


def _later(retention: Retention, place: int) -> range:
    return range(len(retention.classes) - 1, place, -1)


def _changes_nothing(retention: Retention, place: int) -> bool:
    classes = retention.classes
    without = replace(retention, classes=classes[:place] + classes[place + 1 :])
    return all(
        _plain(without.of(source)) == _plain(retention.of(source))
        for source in classes[place].sources
    )


def _plain(policy: RetentionClass) -> RetentionClass:
    return replace(policy, sources=())


def _useless(here: str, policy: RetentionClass, settings: Settings) -> Iterator[Note]:
    """What a class says that something else in it makes void."""
    written = settings.places
    heirs = [policy]
    if here == "retention":
        heirs += settings.rulebook.retention.classes
    if f"{here}.rows_max_age" in written and all(each.rows is Fate.KEEP for each in heirs):
        yield f"{here}.rows_max_age", "has no effect: rows are kept"
    for name in ("max_age", "database_only"):
        void = all(each.on_reset is not Fate.KEEP for each in heirs)
        if f"{here}.{name}" in written and void:
            yield (
                f"{here}.{name}",
                f"has no effect: files go at the end, on_reset is {policy.on_reset}",
            )


def _name(place: int) -> str:
    return f"retention.classes[{place}]"
