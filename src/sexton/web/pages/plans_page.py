"""How is a plan shown to somebody who is to decide on it?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from sexton.core.plan import (
    Action,
    ArchiveSession,
    EndSession,
    Held,
    ReapSession,
    RemoveFiles,
    TrashSession,
)
from sexton.core.record import record
from sexton.operations import said

VERBS = {
    "end": "end",
    "reap": "reap",
    "warn": "warn",
    "trash": "to the trash",
    "archive": "to the archive",
    "remove_files": "put files away",
}
SHOWN = 200
"""So many sessions of a group are named."""

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@record
class Member:
    """One session of a group, with its own reason and what came of it."""

    home: str
    id: str
    reason: str
    detail: str = ""


@record
class Group:
    """What is done alike to some sessions, for alike reasons."""

    kind: str
    words: str
    count: int
    members: tuple[Member, ...]
    bytes: int = 0
    undoing: str = ""
    result: str = ""

    @property
    def verb(self) -> str:
        return VERBS.get(self.kind, self.kind)

    @property
    def more(self) -> int:
        return self.count - len(self.members)


def grouped(actions: Iterable[Action], shown: int = SHOWN) -> list[Group]:
    """Actions by what they do and why, the most numerous first."""
    heaps = _heaps(actions, lambda each: (each.kind, each.reason.code, _undoing(each)))
    found = [
        Group(
            kind=kind,
            words=_words(code, [each.reason.text for each in heap]),
            count=len(heap),
            members=tuple(_member(each) for each in heap[:shown]),
            bytes=sum(_size(each) for each in heap),
            undoing=undoing,
        )
        for (kind, code, undoing), heap in heaps
    ]
    return sorted(found, key=lambda each: -each.count)


def told(outcomes: Iterable[said.Outcome], shown: int = SHOWN) -> list[Group]:
    """Outcomes by what came of what, the most numerous first."""
    heaps = _heaps(outcomes, lambda each: (each["action"], each["result"], each["reason"]["code"]))
    found = [
        Group(
            kind=kind,
            words=_words(code, [each["detail"] for each in heap]),
            count=len(heap),
            members=tuple(
                Member(
                    home=each["home"] or "",
                    id=each["session"] or "",
                    reason=each["reason"]["text"],
                    detail=each["detail"],
                )
                for each in heap[:shown]
            ),
            result=result,
        )
        for (kind, result, code), heap in heaps
    ]
    return sorted(found, key=lambda each: -each.count)


def held_back(held: Sequence[Held], shown: int = SHOWN) -> list[dict[str, str]]:
    """What would be done if nothing held it back."""
    return [
        {
            "home": each.seen.home,
            "id": each.seen.id,
            "wanted": each.wanted.text,
            "holding": each.holding.text,
        }
        for each in held[:shown]
    ]


def _heaps(these: Iterable[T], key: Callable[[T], K]) -> list[tuple[K, list[T]]]:
    found: defaultdict[K, list[T]] = defaultdict(list)
    for each in these:
        found[key(each)].append(each)
    return list(found.items())


def _words(code: str, texts: Sequence[str]) -> str:
    """The one reason of all, or the code and an example."""
    first = texts[0]
    name = code.replace("_", " ")
    return first if len(set(texts)) == 1 else f"{name}, such as: {first}"


def _undoing(action: Action) -> str:
    """Whether a person can undo it."""
    if not action.reversible:
        return "can not be undone"
    if isinstance(action, EndSession | ReapSession):
        return "can be undone until its conversation goes on"
    return "can be undone"


def _member(action: Action) -> Member:
    return Member(home=action.seen.home, id=action.seen.id, reason=action.reason.text)


def _size(action: Action) -> int:
    if isinstance(action, TrashSession | ArchiveSession | RemoveFiles):
        return action.size
    return 0
