"""What is in the JSON that programs get? The names are stable, and the API's description has them.

A function that makes such an answer returns one of these, so that a type checker holds it to every
name here, and to no other.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict  # pydantic reads this one on every Python

from sexton.core.plan import Result
from sexton.core.session import Relation, State
from sexton.finalizers.model import FinalizationState
from sexton.liveness.evidence import Verdict
from sexton.processes.model import Doing, Ending, ProcessKind
from sexton.retention.model import Holds, VaultKind, VaultState
from sexton.spending.model import Act, Scope, Unit


class _DateTime:
    """Says what a text is to pydantic, which a command line that only writes JSON does not load."""

    def __get_pydantic_json_schema__(self, core: object, handler: object) -> dict[str, Any]:
        del core, handler
        return {"type": "string", "format": "date-time"}


Moment = Annotated[str, _DateTime()]
"""A time as `iso` says it."""
Known = Verdict | Literal["waiting"]
"""What is known of who holds a session; one that nobody holds waits for its next message."""


class Session(TypedDict):
    """A session as the ledger knows it."""

    id: str
    home: str
    key: str | None
    source: str
    state: State
    started_at: Moment
    active_at: Moment
    due_at: Moment | None
    ended_at: Moment | None
    end_reason: str | None
    message_count: int
    byte_count: int
    turn_count: int
    holders: list[str]
    title: str | None
    preview: str | None
    chat_type: str | None
    job: str | None
    parent: str | None
    relation: Relation | None
    epoch: int
    pinned: bool
    human_touched: bool
    errored: bool
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_micros: int


class Holder(TypedDict):
    """Who holds a session."""

    worker: str
    kind: str
    host: str
    pid: int
    joined_at: Moment
    busy_since: Moment | None


class Reason(TypedDict):
    """A reason's code and its words."""

    code: str
    text: str


class JournalEntry(TypedDict):
    """A line of the journal."""

    ref: int
    at: Moment
    actor: str
    receipt: str | None
    home: str | None
    session: str | None
    action: str
    result: str
    reason: Reason


class Outcome(TypedDict):
    """An action and what came of it."""

    action: str
    home: str | None
    session: str | None
    result: Result
    reason: Reason
    detail: str
    target: NotRequired[str]


class HeldBack(TypedDict):
    """A decision that is held back."""

    home: str
    session: str
    wanted: Reason
    holding: Reason


class Answer(TypedDict):
    """One question about a session, its answer, and the detail behind it."""

    question: str
    answer: str
    detail: str


class Explanation(TypedDict):
    """Why a session is as it is."""

    session: Session
    answers: list[Answer]
    journal: list[JournalEntry]


class Finalization(TypedDict):
    """One piece of end-of-session work; verbs name it by `ref`."""

    ref: int
    session: str
    home: str
    finalizer: str
    state: FinalizationState
    attempts: int
    last_error: str | None
    note: str | None
    crashes: int
    key: str
    since: int
    through: int
    worker: str | None
    owed_at: Moment
    not_before: Moment
    finished_at: Moment | None


class Process(TypedDict):
    """A background process of a session; verbs name it by `ref`, a hint is not registered.

    The session of an orphan has ended.
    """

    ref: int
    pid: int | None
    host: str
    home: str
    session: str
    session_state: State | None
    task: str | None
    kind: ProcessKind
    command: str
    cwd: str
    started_at: Moment
    registered_by: str | None
    hint: bool
    orphan: bool
    kept: bool
    doing: Doing
    because: str
    cpu_seconds: float
    io_bytes: int
    window_seconds: float
    memory_bytes: int
    processes: int
    ports: list[int]
    holds_reset: bool
    holds_until: Moment
    bearing: str
    ended_at: Moment | None
    ended_how: str | None


class Stopped(TypedDict):
    """What came of a process that was to be stopped."""

    pid: int
    result: Ending
    because: str | None
    command: str


class VaultFile(TypedDict):
    """A file of the trash or the archive."""

    name: str
    kind: VaultKind
    holds: Holds
    home: str
    source: str
    host: str
    place: str
    state: VaultState
    worker: str | None
    receipt: str
    made_at: Moment
    expires_at: Moment | None
    sessions: int
    messages: int
    files: int
    bytes: int
    raw_bytes: int
    sha256: str


class Restored(TypedDict):
    """What came back from a vault file; `aside` says where a file went whose place was taken."""

    name: str
    sessions: int
    files: int
    left: int
    aside: dict[str, str]
    trouble: str | None


class Remark(TypedDict):
    """What is to be said of a session that was opened again, or was not."""

    session: str
    says: str


class Reopened(TypedDict):
    """What was opened again."""

    opened_again: int
    stayed: int
    work_begun: int
    remarks: list[Remark]


class Budget(TypedDict):
    """How a budget stands."""

    budget: str
    scope: Scope
    subject: str
    unit: Unit
    period: str
    limit: int
    spent: int
    reserved: int
    added: int
    action: Act
    state: str
    until: Moment | None
    refused_at: Moment | None


class Worker(TypedDict):
    """A process that holds sessions, what is known of it, and what it is doing."""

    id: str
    kind: str
    version: str
    host: str
    pid: int
    registered_at: Moment
    beat: int
    verdict: Verdict
    because: list[str]
    sessions: int
    busy: int
    stalled: int
    stalled_seconds: int


class Trouble(TypedDict):
    """What went wrong, as on every surface."""

    error: str
    message: str
    hint: str


class Details(TypedDict, total=False):
    """What only some verbs say in their receipt."""

    processes: list[Stopped]
    files: list[Restored]
    opened_again: int
    stayed: int
    work_begun: int
    remarks: list[Remark]
    pinned: bool
    owed: int


class Receipt(Details):
    """What came of a verb; `undo` names the verb that undoes it and what that needs.

    `observed` actions were left out, as nobody allowed to change their homes; `left` were not
    begun. Of many outcomes the first are listed.
    """

    receipt: str
    verb: str
    plan: str | None
    done: int
    skipped: int
    recorded: int
    observed: int
    left: int
    outcomes: list[Outcome]
    held: list[HeldBack]
    undo: dict[str, str] | None
    trouble: Trouble | None
