"""Which settings are about what sessions leave behind, what are their defaults, and why?"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from sexton.retention.disk_budget import DiskBudget
from sexton.retention.policy import Fate, Retention, RetentionClass
from sexton.settings import disk_vocabulary as words
from sexton.settings import vocabulary
from sexton.settings.fields import Count, Duration, Limit, Listing, Strict
from sexton.settings.settings_values import (
    ArchiveFormat,
    ArchiveSettings,
    GcSettings,
    TrashSettings,
)

_CLASS: Final = RetentionClass()
_DISK: Final = DiskBudget()
_ARCHIVE: Final = ArchiveSettings()
_TRASH: Final = TrashSettings()
_GC: Final = GcSettings()

Span = Annotated[timedelta | None, vocabulary.DURATION.or_null("never")]
Size = Annotated[int | None, words.LARGE.or_null()]


def _without_defaults(schema: dict[str, Any]) -> None:
    """What a class leaves out it inherits, so an editor must not offer a default for it."""
    for described in schema["properties"].values():
        described.pop("default", None)


class KeepingFields(Strict):
    """How long what sessions left behind is kept."""

    on_reset: Annotated[Fate, words.FATE] = Field(
        default=_CLASS.on_reset,
        description="What becomes of a session's files when it ends. Who comes back to it the "
        "next day may still need them.",
    )
    max_age: Span = Field(
        default=_CLASS.max_age,
        description="The files of a session that has ended go to the trash when it was not used "
        "for so long. They are most of what fills a disk, and a week later hardly ever opened; "
        "the messages stay.",
    )
    keep_last: Limit = Field(
        default=_CLASS.keep_last,
        description="So many of the newest ended sessions of every key or job are kept whatever "
        "their age. Files go by age alone unless it is asked for.",
    )
    protect: list[Annotated[str, words.PROTECTION]] = Field(
        default_factory=lambda: [str(each) for each in _CLASS.protect],
        description="Which sessions keep everything for ever. Pinned ones always do, named or not.",
    )
    database_only: Annotated[bool, vocabulary.FLAG] = Field(
        default=_CLASS.database_only,
        description="In homes of other agents: the files of a session go when it ends, as the "
        "agent's database has the conversation. Some tools read the files, so it must be asked "
        "for.",
    )
    rows: Annotated[Fate, words.FATE] = Field(
        default=_CLASS.rows,
        description="What becomes of messages when a session was not used for rows_max_age. "
        "Nobody's history vanishes by itself.",
    )
    rows_max_age: Span = Field(
        default=_CLASS.rows_max_age,
        description="The age at which rows says what happens; there is none that suits everyone.",
    )


class ClassFields(KeepingFields):
    """How long it is kept for some sources; what it does not set it inherits from `retention`."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    sources: list[Annotated[str, words.SOURCE]] = Field(
        min_length=1,
        description="The sources it is for, like cron; of two classes that name one, the later "
        "one wins.",
    )
    after_delivery: Annotated[Fate, words.FATE] = Field(
        default=_CLASS.after_delivery,
        description="What becomes of all that an unattended session left behind once it came to "
        "its end by itself and without trouble. Only for sources of liveness.dies_with_owner: "
        "any other session waits for somebody.",
    )


class RetentionFields(KeepingFields):
    """How long what sessions left behind is kept, for all sessions and by classes for some."""

    allow_remove_all: Annotated[bool, vocabulary.FLAG] = Field(
        default=Retention().allow_remove_all,
        description="A policy that leaves nothing is likelier a mistake than a wish: rows: remove "
        "for every source is refused, and so is a plan that would empty a home, until this says "
        "that it is meant.",
    )
    classes: Listing[ClassFields] = Field(
        default_factory=list,
        description="What is different for some sources. A class names what it removes, so there "
        "is none by itself.",
    )


class DiskFields(Strict):
    """How much of the disk is used. What must go for it goes oldest first."""

    max_use: Size = Field(
        default=_DISK.max_use,
        description="How much the ledger, its vault and the files of sessions may take together. "
        "How much is too much only the owner of the disk knows.",
    )
    keep_free: Size = Field(
        default=_DISK.keep_free,
        description="How much of the disk stays free, whoever fills it. Nothing goes because of "
        "others unless it is asked for.",
    )
    warn_at: Annotated[float, vocabulary.SHARE] = Field(
        default=_DISK.warn_at,
        description="The share of the budget at which it is told that space runs out; early "
        "enough to do something about it. A disk of which less than a twentieth is free is told "
        "of whatever the budget.",
    )


class ArchiveFields(Strict):
    """Where and how what is removed is put away."""

    format: Annotated[ArchiveFormat, words.ARCHIVE_FORMAT] = Field(
        default=_ARCHIVE.format,
        description="zstd is several times as fast at no worse a ratio; gzip is read everywhere.",
    )
    directory: Annotated[str | None, vocabulary.PATH.or_null("beside the ledger")] = Field(
        default=None,
        description="Where archives and trash lie. Beside the ledger they are found again with "
        "it; a relative directory is looked up beside this file.",
    )
    max_age: Span = Field(
        default=_ARCHIVE.max_age,
        description="An archive that is older goes to the trash, and after its grace is gone. "
        "Who archives instead of removing means to keep, so by itself nothing goes.",
    )


class TrashFields(Strict):
    """What was removed and can still be had back."""

    grace: Duration = Field(
        default=_TRASH.grace,
        description="How long what was removed can be had back. A week, so that who comes back "
        "from a long weekend finds out in time.",
    )


class GcFields(Strict):
    """What `sexton gc` takes for garbage unless it is told otherwise."""

    empty_hours: Count = Field(
        default=_GC.empty_hours,
        description="A session without a message, unused for so many hours. A day leaves alone "
        "what was opened this morning for the afternoon.",
    )
    trivial_days: Count = Field(
        default=_GC.trivial_days,
        description="A session of few messages, unused for so many days. A greeting that nobody "
        "came back to in a week is not taken up again.",
    )
    trivial_max: Count = Field(
        default=_GC.trivial_max,
        description="How many messages are few: two thirds of all sessions have no more than "
        "five, and next to nothing of what was ever said.",
    )
