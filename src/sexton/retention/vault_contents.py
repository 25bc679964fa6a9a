"""Which sessions go into one vault file, and what is there of them?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from sexton.core.plan import ArchiveSession, Removing, Seen
from sexton.core.session import NATIVE
from sexton.retention.home_storage import OF_HOME, Taken
from sexton.retention.home_storage import TOGETHER as TOGETHER_WITH
from sexton.retention.model import (
    HERE,
    FilesOfSession,
    Move,
    SessionContent,
    StoredMessage,
    StoredSession,
)
from sexton.retention.removal_context import Means

TOGETHER = 4_000_000
"""So many bytes of messages are read at once; a session with more is read page by page."""
MOST_SESSIONS = 1000
MOST_BYTES = 32_000_000
"""What goes into one file, unless it is of one conversation or tree."""
BACK_SINCE = "it was brought back meanwhile"


@dataclass(slots=True)
class Load:
    """Sessions on their way into one file, and why some of those that were meant stay behind.

    Files are known by the owner's name; `named` has those of the sessions that own any. `taken` is
    what a foreign home has of them.
    """

    actions: list[Removing]
    rows: dict[int, StoredSession]
    owners: dict[str, int] = field(default_factory=dict)
    named: dict[int, str] = field(default_factory=dict)
    files: dict[str, FilesOfSession] = field(default_factory=dict)
    stored: dict[int, int] = field(default_factory=dict)
    taken: dict[int, str] = field(default_factory=dict)
    refused: dict[int, str] = field(default_factory=dict)

    def leave_out(self, refs: Iterable[int], why: str | None = None) -> None:
        """Let sessions stay, with all of their conversations."""
        meant = frozenset(refs)
        left = {conversation(each) for each in self.actions if each.seen.ref in meant}
        for each in self.actions:
            if why is not None and conversation(each) in left:
                self.refused[each.seen.ref] = why
        self.actions = [each for each in self.actions if conversation(each) not in left]

    def moves(self) -> Iterator[list[Move]]:
        """Each conversation as it was planned and as it was written."""
        for number, (_, members) in enumerate(groupby(self.actions, key=conversation)):
            yield [
                Move(
                    seen.ref,
                    self.rows[seen.ref].state,
                    seen.epoch,
                    seen.active_at,
                    seen.message_count,
                    seen.turn_count,
                    self.rows[seen.ref].last_seq,
                    self.stored[seen.ref],
                    number,
                    reason,
                )
                for seen, reason in ((each.seen, each.reason) for each in members)
            ]


def chunks(means: Means, actions: Iterable[Removing]) -> Iterator[list[Removing]]:
    """Actions that share a file, until it is to stop; conversations and trees are kept whole."""
    batch: list[Removing] = []
    weight = 0
    for action in actions:
        full = len(batch) >= MOST_SESSIONS or weight + action.size > MOST_BYTES
        if batch and not _belongs(batch[-1], action) and (full or not _suits(batch[0], action)):
            if means.stopping():
                return
            yield batch
            batch, weight = [], 0
        batch.append(action)
        weight += action.size
    if batch and not means.stopping():
        yield batch


def brought_back(means: Means, seen: Sequence[Seen], planned_at: datetime) -> frozenset[str]:
    """The ids of what somebody has brought back since it was planned to remove it."""
    ids = [each.id for each in seen]
    if not ids:
        return frozenset()
    return means.ledger.retained.brought_back(seen[0].home, ids, planned_at)


def conversation(action: Removing) -> str:
    """What is to go together with the session: its conversation, or itself alone."""
    return action.conversation or action.seen.id


def take(means: Means, batch: Sequence[Removing], planned_at: datetime) -> Load:
    """What there is of the sessions; who is not here any more or was brought back is left out."""
    rows = means.ledger.removable.rows([each.seen.ref for each in batch])
    load = Load(list(batch), rows)
    here = {ref for ref, found in rows.items() if found.state in HERE}
    load.leave_out(each.seen.ref for each in batch if each.seen.ref not in here)
    load.leave_out(_misnamed(means, load), "it is gone")
    seen = [each.seen for each in load.actions]
    back = brought_back(means, seen, planned_at)
    load.leave_out((each.ref for each in seen if each.id in back), BACK_SINCE)
    _take_rows(means, load)
    _take_files(means, load)
    return load


def _misnamed(means: Means, load: Load) -> list[int]:
    """Rows that a plan names wrongly: its files and its row would be those of two sessions."""
    if not load.actions:
        return []
    wanted = [each.seen for each in load.actions]
    named = means.ledger.retained.named(wanted[0].home, [seen.id for seen in wanted])
    refs = {each.session.id: each.session.ref for each in named}
    return [seen.ref for seen in wanted if refs.get(seen.id) != seen.ref]


def contents(means: Means, load: Load) -> Iterator[SessionContent]:
    """All there is of each session, read as it is needed; counts the messages of the ledger."""
    together: list[Removing] = []
    weight = 0
    for action in load.actions:
        if action.size > TOGETHER:
            yield _content(load, action, _paged(means, load, action.seen))
            continue
        if weight + action.size > TOGETHER:
            yield from _small(means, load, together)
            together, weight = [], 0
        together.append(action)
        weight += action.size
    yield from _small(means, load, together)


def _belongs(last: Removing, action: Removing) -> bool:
    if action.kind != last.kind:
        return False
    if action.conversation is not None and action.conversation == last.conversation:
        return True
    trees = [each.tree for each in (last, action) if isinstance(each, ArchiveSession)]
    return len(trees) == 2 and trees[0] is not None and trees[0] == trees[1]


def _suits(first: Removing, action: Removing) -> bool:
    """An archive holds one tree only; the trash may hold all of a source."""
    both = (first.kind, first.seen.home, first.source)
    return both == (action.kind, action.seen.home, action.source) and not isinstance(
        action, ArchiveSession
    )


def _take_files(means: Means, load: Load) -> None:
    """A session with a file that can not be put away stays."""
    if not load.actions:
        return
    files = means.files.get(load.actions[0].seen.home)
    if files is None:
        return
    load.owners = {files.owner(each.seen.id): each.seen.ref for each in load.actions}
    for owner, found in files.of(load.owners.keys()).items():
        ref = load.owners[owner]
        if found.refused:
            path, why = found.refused[0]
            load.leave_out([ref], f"its file {'/'.join(path)!r} {why}")
        else:
            load.files[owner] = found
            load.named[ref] = owner


def _take_rows(means: Means, load: Load) -> None:
    """A session that is not as it was in its foreign home stays."""
    if not load.actions or load.actions[0].seen.home == NATIVE:
        return
    wanted = [each.seen for each in load.actions]
    found = means.rows_of(wanted[0].home).take([seen.id for seen in wanted])
    for seen in wanted:
        taken = found.get(seen.id, Taken(refusal="it is gone from its home"))
        if taken.refusal is not None:
            load.leave_out([seen.ref], taken.refusal)
        elif taken.messages != seen.message_count:
            load.leave_out([seen.ref], "it was active meanwhile")
        else:
            load.taken[seen.ref] = taken.text


def _small(means: Means, load: Load, actions: Sequence[Removing]) -> Iterator[SessionContent]:
    foreign = load.taken
    if foreign and actions:
        told = means.rows_of(actions[0].seen.home).messages([each.seen.id for each in actions])
        said = {each.seen.ref: told.get(each.seen.id, []) for each in actions}
    else:
        said = means.ledger.removable.messages([each.seen.ref for each in actions])
    for action in actions:
        means.pace.give_way()
        messages = said.get(action.seen.ref, [])
        load.stored[action.seen.ref] = 0 if foreign else len(messages)
        yield _content(load, action, messages)


def _paged(means: Means, load: Load, seen: Seen) -> Iterator[StoredMessage]:
    load.stored[seen.ref] = after = 0
    while page := _page(means, load, seen, after):
        yield from page
        load.stored[seen.ref] += 0 if load.taken else len(page)
        after = page[-1].seq


def _page(means: Means, load: Load, seen: Seen, after: int) -> list[StoredMessage]:
    if load.taken:
        return means.rows_of(seen.home).message_page(seen.id, after, TOGETHER)
    return means.ledger.removable.message_page(seen.ref, after, TOGETHER)


def _content(load: Load, action: Removing, messages: Iterable[StoredMessage]) -> SessionContent:
    found = load.rows[action.seen.ref]
    owner = load.named.get(action.seen.ref)
    files = FilesOfSession() if owner is None else load.files[owner]
    return SessionContent(
        row_json=_joined(found.row, load.taken.get(action.seen.ref), conversation(action)),
        messages=messages,
        finalizations=found.finalizations,
        directories=files.directories,
        owner=owner,
        files=files.contents,
    )


def _joined(row: str, of_home: str | None, together: str) -> str:
    """The ledger's row with what its home knows of the session."""
    if of_home is None:
        return row
    return f'{row[:-1]},"{TOGETHER_WITH}":{json.dumps(together)},"{OF_HOME}":{of_home}}}'
