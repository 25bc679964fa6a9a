"""What settings say once they are read, and the settings that belong to no policy.

Values only, so that defaults cost no import.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from sexton.core.record import made, record
from sexton.core.setting import setting
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

    path: Path = setting(
        kind="directory",
        about="The directory in which the agent keeps its sessions. A relative one is looked up "
        "beside the settings file.",
        change="Add a home for each agent that Sexton is to look after.",
    )
    kind: str = setting(
        default="hermes",
        kind="home_kind",
        about="The kind of agent. Sexton knows only homes of Hermes so far.",
        change="There is nothing to change yet.",
    )
    name: str = setting(
        kind="home_name",
        otherwise="the directory's name",
        about="What Sexton calls the home; its sessions are NAME/ID. By default the name of the "
        "directory without its dot, as people call it already.",
        change="Set it where two homes have directories of the same name.",
    )
    act: bool = setting(
        default=False,
        about="Whether Sexton may change the home. A new home is only observed: Sexton records "
        "what it would do until the owner has seen it and agrees.",
        change="Set it to true when `sexton plan` shows what you want to happen.",
    )
    send_to: str | None = setting(
        default=None,
        null="the usual one",
        about="Where the home's own `hermes send` delivers notifications, before any other way in "
        "`notify`: a target as that command takes it, like `telegram` or `discord:#ops`, or "
        "`nobody`. The usual one is the home's own channel as soon as changes are allowed, and "
        "nobody until then.",
        change="Set it where another channel than the home's own should get the notifications.",
    )
    max_messages: int | None = setting(
        default=1000,
        unit="messages",
        null="no limit",
        about="The number of messages at which Sexton resets a conversation of the home's "
        "gateway. Each further message pays for all earlier ones again; messages that the agent "
        "has compacted away do not count. The people in it are warned once, at 80 %.",
        change="Lower it to save money; write null where the agent bounds its conversations "
        "itself.",
    )
    max_bytes: int | None = setting(
        default=10_000_000,
        kind="size",
        null="no limit",
        about="The same for the size of all messages. Ten megabytes are more text than any model "
        "reads at once.",
        change="Lower it to what the agent's model can read.",
    )


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

    name: str = setting(
        kind="plain_name",
        about="What the finalizer is called, once per file. The ledger keeps its jobs under this "
        "name.",
        change="Keep it: under another name it is another finalizer, and the jobs of the old one "
        "stay.",
    )
    kind: FinalizerKind = setting(
        about="How the job is done: `memory` lets a model write memories, `command` starts a "
        "program, `webhook` posts the session, `python` calls installed Python code.",
        change="Choose it by who is to process the session.",
    )
    sources: tuple[str, ...] = setting(
        default=(),
        otherwise="any, for memory any but cron",
        match=True,
        about="The sources whose sessions get a job; `*` stands for every source. A finalizer of "
        "kind memory leaves out `cron` unless it is named, because scheduled jobs seldom say "
        "anything worth a model's call.",
        change="Name the sources where only some sessions matter.",
    )
    spared: tuple[str, ...] = ()
    min_messages: int = setting(
        default=1,
        unit="messages",
        usual={"memory": 4},
        about="How many messages a session needs to get a job. A greeting and its answer hold no "
        "memory, so kind memory needs four; programs and servers get every session in which "
        "anything was said.",
        change="Raise it where short sessions are not worth the job.",
    )
    attempts: int = setting(
        default=14,
        unit="attempts",
        about="How often a job is tried before it becomes a dead letter, which waits for a "
        "person. With the waits in between, fourteen attempts outlast more than a day without an "
        "endpoint.",
        change="Lower it to hear sooner of jobs that fail.",
    )
    concurrency: int = setting(
        default=4,
        kind="at_once",
        unit="jobs",
        usual={"python": 1},
        about="How many of its jobs a keeper runs at the same time, so that a slow endpoint gets "
        "no flood and one slow job does not stop the next. Python code runs in the keeper "
        "itself, one job at a time.",
        change="Lower it for endpoints on small machines; raise it for fast ones with many jobs.",
    )
    per_minute: int | None = setting(
        default=None,
        unit="jobs",
        null="no limit",
        about="How many jobs a keeper starts in a minute; for kind memory, how many calls of the "
        "model it makes. Each keeper counts its own. No limit by default: servers say when it is "
        "too much, and the keeper then waits for as long as they ask.",
        change="Set it where your provider charges for, or blocks, too many calls.",
    )
    timeout: timedelta = setting(
        default=timedelta(seconds=60),
        belongs=("memory", "command", "webhook"),
        usual={"memory": timedelta(minutes=5)},
        about="How long one attempt may take. A model on a small machine needs minutes to read; "
        "anything else that takes a minute hangs.",
        change="Raise it for slow models and long programs.",
    )
    command: tuple[str, ...] = setting(
        default=(),
        kind="command",
        belongs=("command",),
        needed=True,
        about="The program and its arguments. No shell reads them.",
        change="Name a shell yourself where you need one: `[sh, -c, ...]`.",
    )
    cwd: Path | None = setting(
        default=None,
        kind="directory",
        otherwise="the directory of the settings file",
        belongs=("command",),
        usual={"command": "."},
        about="The directory in which the program runs. Beside the settings file, so that a "
        "relative name means the same however the keeper was started.",
        change="Set it where the program expects its own directory.",
    )
    url: str | None = setting(
        default=None,
        kind="address",
        belongs=("webhook",),
        needed=True,
        about="Where the session is posted to. Redirects are not followed.",
        change="Set it to the address of your server.",
    )
    secret_env: str | None = setting(
        default=None,
        kind="variable",
        null="none",
        belongs=("webhook",),
        about="The environment variable with the secret that signs the posts. Settings are shown "
        "and copied, so they hold no secrets.",
        change="Set it where the server must know that a post comes from you.",
    )
    base_url: str | None = setting(
        default=None,
        kind="endpoint",
        belongs=("memory",),
        needed=True,
        about="An endpoint that speaks the chat protocol of OpenAI.",
        change="Set it to the address of your model's server.",
    )
    model: str | None = setting(
        default=None,
        belongs=("memory",),
        needed=True,
        about="The model, as the endpoint calls it.",
        change="A small model is enough to extract memories.",
    )
    api_key_env: str | None = setting(
        default=None,
        kind="variable",
        null="none",
        belongs=("memory",),
        about="The environment variable with the key of the endpoint. A model of your own needs "
        "none, and no key goes to an endpoint it was not meant for.",
        change="Set it where the endpoint asks for a key.",
    )
    file: Path | None = setting(
        default=None,
        kind="file",
        belongs=("memory",),
        usual={"memory": "memories.md"},
        about="The Markdown file that memories are added to. Beside the settings file by default, "
        "where a person finds it.",
        change="Set it to the file that your agent reads its memories from.",
    )
    context_tokens: int | None = setting(
        default=None,
        kind="tokens",
        unit="tokens",
        belongs=("memory",),
        usual={"memory": 32_000},
        about="How much the model reads at once, its answer included. A longer conversation is "
        "read in parts. Few models read less than 32,000 tokens.",
        change="Set it to what your model reads, so that it needs fewer calls.",
    )
    daily_calls: int | None = setting(
        default=None,
        unit="calls",
        null="no limit",
        belongs=("memory",),
        usual={"memory": 500},
        about="How many calls of the model a day of UTC may cost; the remaining jobs wait for the "
        "next day. The default is far beyond what people talk in a day, and bounds the bill of a "
        "loop.",
        change="Lower it where every call is expensive; write null for a model of your own.",
    )
    entry_point: str | None = setting(
        default=None,
        belongs=("python",),
        needed=True,
        about="The name of an installed function in the entry point group `sexton.finalizers`.",
        change="Set it to the name under which your package declares the function.",
    )


EVENTS = ("reset", "limit", "dead_letter", "held", "process", "budget", "disk")
"""What people can be told of."""


@record
class NotifySetting:
    """Who is told of what; `urls_env` and `secret_env` name environment variables."""

    urls_env: str | None = setting(
        default=None,
        kind="variable",
        null="none",
        about="The environment variable with one or more addresses of apprise. They hold secrets, "
        "so they do not stand here. Without a target, nobody is notified.",
        change="Set it to be notified by chat, mail or phone.",
    )
    webhook: str | None = setting(
        default=None,
        kind="address",
        null="none",
        about="Where Sexton posts notifications as JSON, with or without apprise. Nothing leaves "
        "the machine by default.",
        change="Set it where a program of yours processes notifications.",
    )
    secret_env: str | None = setting(
        default=None,
        kind="variable",
        null="none",
        about="The environment variable with the secret that signs these posts.",
        change="Set it where the server must know that a post comes from you.",
    )
    events: tuple[str, ...] = setting(
        default=EVENTS,
        kind="event",
        about="Which events people are notified of. Each event is sent once, not each time "
        "somebody looks.",
        change="Leave out the events that nobody acts on.",
    )
    held_after: timedelta = setting(
        default=timedelta(hours=24),
        about="How long a reset may be blocked before people are notified. Work of a day is "
        "likely still wanted; after that, somebody likely forgot it.",
        change="Raise it for agents whose jobs run for days.",
    )

    @property
    def has_target(self) -> bool:
        """Whether there is anywhere to tell it."""
        return self.urls_env is not None or self.webhook is not None


@record
class KeeperSettings:
    """How a keeper works; unlike the rulebook, each keeper has its own."""

    sweep_every: timedelta = setting(
        default=timedelta(seconds=60),
        about="How often a keeper looks for what is due. Resets are due to the minute, and a "
        "sweep that finds nothing costs next to nothing.",
        change="Raise it where many keepers share a small database.",
    )
    finalizers_at_once: int = setting(
        default=32,
        kind="at_once",
        unit="jobs",
        about="How many end-of-session jobs a keeper runs at the same time, of all finalizers "
        "together: enough that slow endpoints delay nobody, and few enough that a thousand "
        "sessions that end together start no thousand programs.",
        change="Lower it on small machines.",
    )
    keep_journal: timedelta = setting(
        default=timedelta(days=365),
        about="How long the ledger keeps the journal, policies that are no longer in force and "
        "the daily counts. People ask within a year why something happened.",
        change="Raise it where audits look further back.",
    )


class ArchiveFormat(StrEnum):
    """How what is put away is compressed."""

    ZSTD = "zstd"
    GZIP = "gzip"


@record
class ArchiveSettings:
    """Where and how archives and trash are written; without a directory beside the ledger.

    Without an age archives are kept for ever.
    """

    format: ArchiveFormat = setting(
        default=ArchiveFormat.ZSTD,
        about="How archives are compressed. zstd is several times as fast as gzip and compresses "
        "as well; gzip can be read everywhere.",
        change="Choose gzip where you read archives on machines without zstd.",
    )
    directory: Path | None = setting(
        default=None,
        kind="directory",
        null="beside the ledger",
        otherwise="beside the ledger",
        about="Where archives and trash lie. Beside the ledger, they are found together with it. "
        "A relative directory is looked up beside the settings file.",
        change="Set it to a larger or cheaper disk.",
    )
    max_age: timedelta | None = setting(
        default=None,
        null="never",
        about="How old an archive becomes before it goes to the trash; after the trash's grace it "
        "is gone. People who archive instead of removing want to keep, so archives stay by "
        "default.",
        change="Set it where old conversations must be deleted at some time.",
    )


@record
class TrashSettings:
    """How long what was removed can be had back."""

    grace: timedelta = setting(
        default=timedelta(days=7),
        about="How long the trash keeps what was removed, so that it can be restored. After a "
        "week, even a person who returns from a long weekend has noticed.",
        change="Raise it where people look only every few weeks; lower it where the disk is small.",
    )


@record
class GcSettings:
    """What is garbage unless a command says otherwise."""

    empty_hours: int = setting(
        default=24,
        unit="hours",
        about="After how many unused hours `sexton gc` takes a session without a message for "
        "garbage. A day leaves alone what somebody opened this morning for the afternoon.",
        change="Lower it where a program opens many sessions that it never uses.",
    )
    trivial_days: int = setting(
        default=7,
        unit="days",
        about="After how many unused days `sexton gc` takes a session of few messages for "
        "garbage. Nobody takes up a greeting again after a week.",
        change="Raise it where short sessions matter.",
    )
    trivial_max: int = setting(
        default=5,
        unit="messages",
        about="How many messages are few. Two thirds of all sessions have no more than five, and "
        "hold next to nothing of what was ever said.",
        change="Lower it to keep every short conversation.",
    )


@record
class ServeSettings:
    """Where and to whom the ledger is shown; `messages` is about a shared one."""

    host: str = setting(
        default="127.0.0.1",
        about="The address on which the server listens. Only programs on this machine reach the "
        "default; any other address needs TLS or a declared proxy.",
        change="Set it where other machines must reach the server.",
    )
    port: int = setting(
        default=8780,
        kind="port",
        about="The port on which the server listens. Nothing else is known for the default.",
        change="Set it where another program has the port.",
    )
    public_url: str | None = setting(
        default=None,
        null="none",
        about="The address under which a reverse proxy shows the server, like "
        "https://sexton.example.org. The server refuses requests for any other name.",
        change="Set it where the server is behind a proxy.",
    )
    tls_certificate: Path | None = setting(
        default=None,
        kind="file",
        null="none",
        about="A certificate in PEM form, with which the server speaks TLS itself. Nothing on one "
        "machine alone needs it.",
        change="Set it to serve other machines without a proxy.",
    )
    tls_key: Path | None = setting(
        default=None,
        kind="file",
        null="none",
        about="The key of the certificate.",
        change="Set it together with `tls_certificate`; one without the other is refused.",
    )
    messages: bool = setting(
        default=False,
        about="Whether the server shows the messages of a shared ledger. People who operate a "
        "fleet seldom need to read what others said. The messages of a ledger on this machine "
        "are always shown.",
        change="Set it to true where everybody with access may read every conversation.",
    )


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
