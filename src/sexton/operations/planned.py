"""What is in the JSON of something that would be done?"""

from __future__ import annotations

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from sexton.operations.said import Moment, Reason


class Seen(TypedDict):
    """A session as a plan saw it; an action that is no plan's names it only."""

    home: str | None
    id: str | None
    ref: NotRequired[int]
    epoch: NotRequired[int]
    active_at: NotRequired[Moment]
    message_count: NotRequired[int]
    turn_count: NotRequired[int]
    pinned: NotRequired[bool]


class Step(TypedDict):
    """What an action would do to one thing, or that it spares it, and why."""

    verb: str
    what: str
    why: str
    spares: bool


class Action(TypedDict):
    """One thing that would be done, to which session, and why."""

    kind: str
    session: Seen
    reason: Reason
    reversible: bool
    observed: NotRequired[bool]
    target: NotRequired[str]
    steps: NotRequired[list[Step]]
    dead: NotRequired[list[tuple[str, int]]]
    limit: NotRequired[int]
    source: NotRequired[str]
    size: NotRequired[int]
    archived: NotRequired[bool]
    conversation: NotRequired[str | None]
    tree: NotRequired[str | None]


class HeldAction(TypedDict):
    """What a plan would do and something holds back."""

    session: Seen
    wanted: Reason
    holding: Reason
    by: NotRequired[str]


class Calls(TypedDict):
    """About how often a model is asked; `cost_micros` is null where its price is unknown."""

    calls: int
    tokens: int
    cost_micros: int | None


class Jobs(TypedDict):
    """The jobs of one finalizer that a plan starts at most; without `calls` the cost is unknown."""

    finalizer: str
    kind: str | None
    jobs: int
    messages: int
    bytes: int
    calls: Calls | None


class Part(TypedDict):
    """Some actions of a plan, in which homes they are, and the jobs they start."""

    actions: int
    homes: list[str]
    jobs: list[Jobs]


class Outlook(TypedDict):
    """What a plan will do, and what it would do if a person allows it in homes only observed."""

    will: Part
    if_allowed: Part


class Plan(TypedDict):
    """What would be done: a plan as `sexton plan` writes it, or one action that is no plan's.

    `homes` were looked at; those that are `observed` are acted on only if a person allows it.
    `outlook` and `troubles` are told beside a plan: they are no part of what the digest covers.
    """

    format: Literal["sexton-plan", "sexton-proposal"]
    version: int
    id: str
    ledger: str
    policies: NotRequired[str]
    made_at: Moment
    homes: NotRequired[list[str]]
    observed: NotRequired[list[str]]
    actions: list[Action]
    held: list[HeldAction]
    digest: str
    outlook: NotRequired[Outlook]
    troubles: NotRequired[list[str]]
