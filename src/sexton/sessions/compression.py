"""How does a conversation go on in a shorter session, and never lose a message on the way?

The summary is asked for outside of any transaction; only when it exists do the parent end and
the child begin, together. Whatever was said meanwhile is in the child, and whoever still writes
to the parent is refused, finds the child and writes there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import timedelta
from itertools import islice
from typing import Any, TypeAlias

from sexton.core.message import Draft, Message, draft
from sexton.core.plan import Reason
from sexton.core.record import record, replace
from sexton.core.session import NATIVE, Session
from sexton.errors import InvalidMessage, SummaryFailed, SummaryPostponed
from sexton.sessions.compression_store import Readiness, Shortening
from sexton.sessions.keys import new_id
from sexton.sessions.policy import FALLBACK, Terms, seconds, span
from sexton.sessions.worker_context import Desk
from sexton.store.ledger import Ledger

Summarise: TypeAlias = Callable[[list[Message]], str | Mapping[str, Any]]
"""Gets the messages that are to give way, and returns their summary as text or as a message."""

Read: TypeAlias = Callable[[int, int], Iterator[Message]]
"""The messages of a session by its row, after a number."""

ROLE = "system"
MARK = "summary"
BACKOFF = 0.25
LONGEST_BACKOFF = 5.0


@record
class Middle:
    """The messages of a session that are to give way, and the last one that is kept before.

    `told` is what the summariser gets: where an earlier summary failed, the originals.
    """

    session: Session
    head: int
    messages: Sequence[Message]
    told: Sequence[Message]

    def mark(self, *, fallback: bool) -> dict[str, Any]:
        """What a summary says about itself."""
        return {
            "of": self.session.id,
            "from": self.messages[0].seq,
            "through": self.messages[-1].seq,
            "messages": len(self.messages),
            "fallback": fallback,
        }


def middle(ledger: Ledger, session: Session, read: Read, terms: Terms) -> Middle | None:
    """What is to be summarised, or None if that would gain nothing."""
    messages = list(read(session.ref, 0))
    found = span([message.role for message in messages], terms.keep_head, terms.keep_tail)
    if found is None:
        return None
    begin, end = found
    head = messages[begin - 1].seq if begin else 0
    parts = {part.ref for part in ledger.compression.chain(session.ref)}

    def told(messages: Iterable[Message], older: Set[int]) -> Iterator[Message]:
        """The messages, where a summary had failed those that it should have been about."""
        for message in messages:
            of, after, last = _untold(message)
            parent = ledger.index.find(NATIVE, of) if of else []
            if not parent or parent[0].ref not in older:
                yield message
                continue
            originals = islice(read(parent[0].ref, after), last - after)
            yield from told(originals, older - {parent[0].ref})

    given_way = messages[begin:end]
    return Middle(session=session, head=head, messages=given_way, told=list(told(given_way, parts)))


def _untold(message: Message) -> tuple[str, int, int]:
    """Which session holds what a failed summary should have told, and where; no name if none."""
    match message.extra.get(MARK):
        case {"of": str(of), "from": int(first), "through": int(last), "fallback": True}:
            return of, first - 1, last
    return "", 0, 0


def summary_of(
    desk: Desk, old: Middle, summarise: Summarise, terms: Terms, ready: Readiness
) -> tuple[Draft, str]:
    """The summary, or where one is allowed what stands for it and why; else the error says so.

    A session that is to rest is not asked about: its last summary failed a short while ago.
    """
    found: Draft | SummaryFailed
    if ready.rests_until is not None and desk.clock.now() < ready.rests_until:
        found = SummaryPostponed(f"a summary of the session {old.session.id} failed lately")
    else:
        found = Asked(summarise, old, terms.attempts).wait(seconds(terms.timeout))
    if isinstance(found, Draft):
        return found, ""
    if terms.on_failure == FALLBACK:
        return _fallback(old), str(found)
    if not isinstance(found, SummaryPostponed):
        _rest(desk, old.session, str(found), seconds(terms.cool_down))
    raise found


def go_on_shorter(desk: Desk, old: Middle, summary: Draft, trouble: str) -> Session | None:
    """The child, which holds what was kept, the summary, and what was said meanwhile.

    None if the session has ended or was taken over; then nothing is changed.
    """
    id, parent = new_id(), old.session
    mark = desk.membership.watermarks.of_id(parent.id)
    count = f"{len(old.messages)} messages"
    told = f"{count} were left to its parent, as {trouble}" if trouble else f"{count} summarised"
    child = replace(parent, id=id)
    return desk.ledger.compression.compress(
        Shortening(
            session=parent,
            id=id,
            head=old.head,
            through=old.messages[-1].seq,
            seen=mark.count if mark else 0,
            summary=summary,
            fallback=bool(trouble),
            entries=(
                desk.entry(parent, "end", Reason("compression", f"it goes on as {id}")),
                desk.entry(
                    child, "begin", Reason("compression", f"goes on from {parent.id}: {told}")
                ),
            ),
        ),
        desk.clock.now(),
    )


class Asked:
    """A summariser at work in a thread of its own; one that never returns holds up nobody."""

    def __init__(self, summarise: Summarise, old: Middle, attempts: int) -> None:
        self._summarise = summarise
        self._old = old
        self._attempts = attempts
        self._found: Draft | None = None
        self._errors: list[BaseException] = []
        self._over = threading.Event()
        self._stop = threading.Event()

    def wait(self, timeout: float) -> Draft | SummaryFailed:
        """The summary, or why there is none in that time, whatever the number of attempts."""
        threading.Thread(target=self._work, name="sexton-summary", daemon=True).start()
        try:
            self._over.wait(timeout)
        finally:
            self._stop.set()
        return self._found or self._failure()

    def _failure(self) -> SummaryFailed:
        """What went wrong, without a word of what was said: the errors may quote it."""
        kinds = [type(error).__name__ for error in self._errors]
        kinds += [] if self._over.is_set() else ["no answer in time"]
        failure = SummaryFailed(
            f"the session {self._old.session.id} got no summary: {', '.join(kinds)}"
        )
        failure.__cause__ = self._errors[-1] if self._errors else None
        return failure

    def _work(self) -> None:
        for attempt in range(self._attempts):
            pause = min(BACKOFF * 2**attempt, LONGEST_BACKOFF)
            try:
                self._found = _stored(self._summarise(list(self._old.told)), self._old)
            except BaseException as error:  # noqa: BLE001  # the agent's own code; its caller is told
                self._errors.append(error)
            is_last = self._found is not None or attempt + 1 == self._attempts
            if is_last or self._stop.wait(pause):
                break
        self._over.set()


def _stored(given: object, old: Middle) -> Draft:
    """The summary in stored form, marked as one."""
    message = {"content": given} if isinstance(given, str) else given
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(message, Mapping) or not content or not str(content).strip():
        raise InvalidMessage("a summary is text or a message with content")
    extra = {name: value for name, value in message.items() if name not in ("role", "content")}
    marked = extra | {MARK: old.mark(fallback=False)}
    return draft(message.get("role", ROLE), message["content"], marked)


def _rest(desk: Desk, session: Session, trouble: str, cool_down: float) -> None:
    reason = Reason("summary_failed", trouble)
    entry = replace(desk.entry(session, "compress", reason), result="failed")
    now = desk.clock.now()
    desk.ledger.compression.rest(session, now + timedelta(seconds=cool_down), entry, now)


def _fallback(old: Middle) -> Draft:
    count, parent = len(old.messages), old.session.id
    note = f"{count} earlier messages are not summarised here; the session {parent} holds them."
    return draft(ROLE, note, {MARK: old.mark(fallback=True)})
