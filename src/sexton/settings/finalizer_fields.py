"""Which settings do finalizers and notifications have, what are their defaults, and why?"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final

from pydantic import Field

from sexton.settings import vocabulary
from sexton.settings import work_vocabulary as words
from sexton.settings.fields import Count, Duration, Limit, Names, Strict
from sexton.settings.settings_values import FinalizerKind, NotifySetting, usual

_MEMORY: Final = usual("", FinalizerKind.MEMORY)
_NOTIFY: Final = NotifySetting()

Address = Annotated[str | None, words.ADDRESS]
Variable = Annotated[str | None, words.VARIABLE.or_null("none")]


class FinalizerFields(Strict):
    """Work to be done when a session has ended.

    What belongs to one kind only is None where it was left out, and so is what has another
    default for every kind.
    """

    name: Annotated[str, words.FINALIZER_NAME] = Field(
        description="What the work is called, once per file. What a session owes is kept under "
        "this name, so under another one it is other work."
    )
    kind: Annotated[FinalizerKind, words.FINALIZER_KIND] = Field(
        description="How the work is done: by a model that writes memories, a program, a POST, or "
        "installed Python code."
    )
    sources: Names = Field(
        default_factory=list,
        min_length=1,
        description="The sources whose sessions owe the work; left out or '*', every source's do. "
        "memory spares cron unless it is named: what a timer says to itself is seldom worth "
        "a call.",
    )
    min_messages: Annotated[int | None, vocabulary.COUNT] = Field(
        default=None,
        description="Shorter sessions owe nothing. A greeting and its answer hold no memory; a "
        "program or a server is told of every session in which anything was said.",
    )
    attempts: Count = Field(
        default=_MEMORY.attempts,
        description="How often the work is tried before it is a dead letter, which waits for a "
        "person. With the waits in between, that is more than a day of an endpoint being down.",
    )
    concurrency: Annotated[int | None, words.AT_ONCE] = Field(
        default=None,
        description="How many of its works a keeper does at the same time: a slow endpoint is not "
        "flooded, and one slow work does not hold up the next. Python code runs in the keeper "
        "itself and may not expect company.",
    )
    per_minute: Limit = Field(
        default=_MEMORY.per_minute,
        description="How many works a keeper begins in a minute; of kind memory, how many calls it "
        "makes. Each keeper counts its own. Servers say by themselves when it is too much, and "
        "are then left alone for as long as they ask.",
    )
    timeout: Annotated[timedelta | None, vocabulary.DURATION] = Field(
        default=None,
        description="How long one attempt of a program or an endpoint may take. A model on a small "
        "machine reads slowly; anything else that takes a minute hangs.",
    )
    command: Annotated[tuple[str, ...] | None, words.COMMAND] = Field(
        default=None,
        description="Kind command: the program and its arguments; no shell reads them.",
    )
    cwd: Annotated[str | None, vocabulary.PATH] = Field(
        default=None,
        description="Kind command: where the program runs. Beside this file, so that a relative "
        "name means the same however the keeper was started.",
    )
    url: Address = Field(
        default=None,
        description="Kind webhook: where the session is posted to; redirects are not followed.",
    )
    secret_env: Variable = Field(
        default=None,
        description="Kind webhook: the variable that holds the secret posts are signed with. "
        "Settings are shown and copied, so they hold no secrets.",
    )
    base_url: Annotated[str | None, words.ENDPOINT] = Field(
        default=None,
        description="Kind memory: an endpoint that speaks OpenAI's chat protocol.",
    )
    model: Annotated[str | None, vocabulary.NAME] = Field(
        default=None,
        description="Kind memory: the model, as the endpoint calls it.",
    )
    api_key_env: Variable = Field(
        default=None,
        description="Kind memory: the variable that holds the endpoint's key. A model of one's own "
        "needs none, and no key goes to an endpoint it was not meant for.",
    )
    file: Annotated[str, words.FILE] = Field(
        default=str(_MEMORY.file),
        description="Kind memory: the Markdown file that memories are added to; a relative one is "
        "beside this file, where a person finds it.",
    )
    context_tokens: Annotated[int | None, words.TOKENS] = Field(
        default=_MEMORY.context_tokens,
        description="Kind memory: how much the model reads at once, answer included; a longer "
        "conversation is read in parts. Most models read more, few read less.",
    )
    daily_calls: Limit = Field(
        default=_MEMORY.daily_calls,
        description="Kind memory: how many calls a day of UTC may cost; what is left over waits "
        "for the next day. Far beyond what people talk in a day, and an end to a loop's bill.",
    )
    entry_point: Annotated[str | None, vocabulary.NAME] = Field(
        default=None,
        description="Kind python: the name of an installed function in the entry point group "
        "sexton.finalizers.",
    )


class NotifyFields(Strict):
    """Who is told of what happens to sessions."""

    urls_env: Variable = Field(
        default=_NOTIFY.urls_env,
        description="The variable that holds one or more addresses of apprise. They hold secrets, "
        "so they are not written here; without a target nobody is told anything.",
    )
    webhook: Annotated[str | None, words.ADDRESS.or_null("none")] = Field(
        default=_NOTIFY.webhook,
        description="Where notifications are posted to as JSON, with or without apprise. "
        "Nothing leaves the machine unless it is asked for.",
    )
    secret_env: Variable = Field(
        default=_NOTIFY.secret_env,
        description="The variable that holds the secret these posts are signed with.",
    )
    events: list[Annotated[str, words.EVENT]] = Field(
        default_factory=lambda: list(_NOTIFY.events),
        description="What is told. Who names a target wants to know, and each of these is told "
        "once, not each time somebody looks.",
    )
    held_after: Duration = Field(
        default=_NOTIFY.held_after,
        description="A reset that something holds back for so long is told. Work of a day is "
        "likely still wanted, more is likely forgotten.",
    )
