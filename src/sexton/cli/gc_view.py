"""How is garbage shown before it goes?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from sexton.cli.plan_view import name_of, show_held
from sexton.cli.terminal import Column, note, say, table
from sexton.core.plan import Plan, TrashSession
from sexton.core.wording import counted, iso, number, size, stamp
from sexton.retention.file_scan import heaps
from sexton.retention.removal_context import Means

_SOURCES = (
    Column("SOURCE", cut=True),
    Column("SESSIONS", right=True),
    Column("EMPTY", right=True),
    Column("TRIVIAL", right=True),
    Column("MESSAGES", right=True),
    Column("SIZE", right=True),
    Column("FILES", right=True),
    Column("OLDEST", spare=True),
    Column("NEWEST", spare=True),
)
_SESSIONS = (Column("SESSION"), Column("SOURCE", cut=True), Column("REASON", cut=True))


def files_of(means: Means, plan: Plan) -> dict[str, int]:
    """The size of the files that go with the sessions of a plan, by session."""
    going = _going(plan)
    if not going:
        return {}
    home = going[0].seen.home
    files, found = means.files.get(home), heaps(means, home)
    owned = {each.seen.id: found.get(files.owner(each.seen.id)) for each in going if files}
    return {id: heap.bytes for id, heap in owned.items() if heap is not None}


def show_garbage(plan: Plan, limit: int, files: Mapping[str, int]) -> None:
    """What would go by source, then session by session, and what is kept although it is small."""
    going = _going(plan)
    if going:
        table(_SOURCES, [_row(source, of, files) for source, of in _by_source(going)])
        say()
        first = islice(going, limit)
        table(_SESSIONS, [(name_of(a.seen), a.source, a.reason.text) for a in first])
        if len(going) > limit:
            note(f"and {number(len(going) - limit)} more; --limit shows more, --output writes all")
    if plan.held:
        say()
        show_held(islice(plan.held, limit))
        kept = Counter(each.holding.code for each in plan.held)
        words = ", ".join(f"{number(count)} {code}" for code, count in kept.most_common())
        say(f"kept although there is little in them: {words}")
    if not going:
        say("there is no garbage")


def question(plan: Plan, files: Mapping[str, int]) -> str:
    """What a person is asked."""
    going = _going(plan)
    also = f" and {size(sum(files.values()))} of files" if files else ""
    said = size(sum(each.size for each in going))
    return f"Put {counted(len(going), 'session')} with {said}{also} into the trash?"


def totals(plan: Plan, files: Mapping[str, int]) -> list[dict[str, Any]]:
    """What would go by source, for programs."""
    return [
        {
            "source": source,
            "sessions": len(those),
            "messages": sum(each.seen.message_count for each in those),
            "bytes": sum(each.size for each in those),
            "file_bytes": _bytes(those, files),
            "oldest": iso(min(each.seen.active_at for each in those)),
            "newest": iso(max(each.seen.active_at for each in those)),
        }
        for source, those in _by_source(_going(plan))
    ]


def _going(plan: Plan) -> list[TrashSession]:
    return [action for action in plan.actions if isinstance(action, TrashSession)]


def _by_source(going: Sequence[TrashSession]) -> list[tuple[str, list[TrashSession]]]:
    found: dict[str, list[TrashSession]] = {}
    for action in going:
        found.setdefault(action.source, []).append(action)
    return sorted(found.items(), key=lambda each: -len(each[1]))


def _bytes(those: Sequence[TrashSession], files: Mapping[str, int]) -> int:
    return sum(files.get(each.seen.id, 0) for each in those)


def _row(source: str, those: Sequence[TrashSession], files: Mapping[str, int]) -> tuple[str, ...]:
    empty = sum(each.reason.code == "empty" for each in those)
    return (
        source,
        number(len(those)),
        number(empty),
        number(len(those) - empty),
        number(sum(each.seen.message_count for each in those)),
        size(sum(each.size for each in those)),
        size(_bytes(those, files)),
        stamp(min(each.seen.active_at for each in those)),
        stamp(max(each.seen.active_at for each in those)),
    )
