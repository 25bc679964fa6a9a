"""What do the settings say, once read? Values only, so that defaults cost no import."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from sexton.core.record import made, record
from sexton.rules.rulebook import Rulebook

if TYPE_CHECKING:
    from pathlib import Path

    from sexton.retention.disk_budget import DiskBudget

PREFIX = "SEXTON_"
RESERVED = frozenset(
    {
        "SEXTON_CONFIG",
        "SEXTON_LEDGER",
        "SEXTON_TOKEN",
        "SEXTON_TAG",
        "SEXTON_FINALIZATION_TAG",
        "SEXTON_IDEMPOTENCY_KEY",
    }
)
"""Variables of the command line and of programs we start; they override no setting."""


NOBODY = "nobody"


@record
class HomeSetting:
    """A foreign home to observe; `name` is what its sessions are called by, HOME/ID.

    `send_to` is who is told by the agent's own command; None is the home's own channel where
    changes are allowed. The limits are of the conversations of its gateway.
    """

    path: Path
    name: str
    kind: str = "hermes"
    act: bool = False
    send_to: str | None = None
    max_messages: int | None = 1000
    max_bytes: int | None = 10_000_000


class FinalizerKind(StrEnum):
    """How end-of-session work is done."""

    MEMORY = "memory"
    COMMAND = "command"
    WEBHOOK = "webhook"
    PYTHON = "python"


@record
class FinalizerSetting:
    """Work to be done when a session has ended; what another kind needs is None or empty.

    Secrets are in the environment variables that are named here.
    """

    name: str
    kind: FinalizerKind
    sources: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    min_messages: int = 1
    attempts: int = 14
    concurrency: int = 4
    per_minute: int | None = None
    timeout: timedelta = timedelta(seconds=60)
    command: tuple[str, ...] = ()
    cwd: Path | None = None
    url: str | None = None
    secret_env: str | None = None
    base_url: str | None = None
    model: str | None = None
    api_key_env: str | None = None
    file: Path | None = None
    context_tokens: int | None = None
    daily_calls: int | None = None
    entry_point: str | None = None


def usual(name: str, kind: FinalizerKind) -> FinalizerSetting:
    """A finalizer with the defaults of its kind."""
    from pathlib import Path  # noqa: PLC0415  # slow to load, and an agent finalizes nothing

    match kind:
        case FinalizerKind.MEMORY:
            return FinalizerSetting(
                name=name,
                kind=kind,
                min_messages=4,
                timeout=timedelta(minutes=5),
                file=Path("memories.md"),
                context_tokens=32_000,
                daily_calls=500,
            )
        case FinalizerKind.PYTHON:
            return FinalizerSetting(name=name, kind=kind, concurrency=1)
        case FinalizerKind.COMMAND | FinalizerKind.WEBHOOK:
            return FinalizerSetting(name=name, kind=kind)


EVENTS = ("reset", "limit", "dead_letter", "held", "process", "budget", "disk")
"""What people can be told of."""


@record
class NotifySetting:
    """Who is told of what; `urls_env` and `secret_env` name environment variables."""

    urls_env: str | None = None
    webhook: str | None = None
    secret_env: str | None = None
    events: tuple[str, ...] = EVENTS
    held_after: timedelta = timedelta(hours=24)

    @property
    def has_target(self) -> bool:
        """Whether there is anywhere to tell it."""
        return self.urls_env is not None or self.webhook is not None


@record
class KeeperSettings:
    """How a keeper works; unlike the rulebook, each keeper has its own."""

    sweep_every: timedelta = timedelta(seconds=60)
    finalizers_at_once: int = 32
    keep_journal: timedelta = timedelta(days=365)


class ArchiveFormat(StrEnum):
    """How what is put away is compressed."""

    ZSTD = "zstd"
    GZIP = "gzip"


@record
class ArchiveSettings:
    """Where and how archives and trash are written; without a directory beside the ledger.

    Without an age archives are kept for ever.
    """

    format: ArchiveFormat = ArchiveFormat.ZSTD
    directory: Path | None = None
    max_age: timedelta | None = None


@record
class TrashSettings:
    """How long what was removed can be had back."""

    grace: timedelta = timedelta(days=7)


@record
class GcSettings:
    """What is garbage unless a command says otherwise."""

    empty_hours: int = 24
    trivial_days: int = 7
    trivial_max: int = 5


@record
class ServeSettings:
    """Where and to whom the ledger is shown; `messages` is about a shared one."""

    host: str = "127.0.0.1"
    port: int = 8780
    public_url: str | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    messages: bool = False


def _disk_budget() -> DiskBudget:
    from sexton.retention.disk_budget import DiskBudget  # noqa: PLC0415  # for keepers

    return DiskBudget()


@record
class Settings:
    """Everything that can be set.

    `places` says where each value that was written down stands, by the setting's dotted name;
    what is not in it is a default. `budget_names` are those of the budgets that each entry makes,
    also where a later one takes their place. Two settings are equal if they say the same, wherever.
    """

    rulebook: Rulebook = made(Rulebook)
    homes: tuple[HomeSetting, ...] = ()
    finalizers: tuple[FinalizerSetting, ...] = ()
    notify: NotifySetting = made(NotifySetting)
    keeper: KeeperSettings = made(KeeperSettings)
    disk: DiskBudget = made(_disk_budget)
    archive: ArchiveSettings = made(ArchiveSettings)
    trash: TrashSettings = made(TrashSettings)
    gc: GcSettings = made(GcSettings)
    serve: ServeSettings = made(ServeSettings)
    source: str | None = None
    places: Mapping[str, str] = made(dict)
    budget_names: tuple[tuple[str, ...], ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())

    def _said(self) -> tuple[object, ...]:
        work = self.rulebook, self.homes, self.finalizers, self.notify, self.keeper
        return *work, self.disk, self.archive, self.trash, self.gc, self.serve


def has_overrides(environ: Mapping[str, str]) -> bool:
    """Whether the environment holds anything the loader must look at, misspellings included."""
    return any(name.startswith(PREFIX) and name not in RESERVED for name in environ)
