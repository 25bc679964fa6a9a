"""Which sessions are garbage: any forest, with circles, missing parents and every relation."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.session import Relation, State
from sexton.retention import protection as keeping
from sexton.retention import store as removal
from sexton.retention.garbage import Collection, Finding, find
from sexton.retention.model import HERE, Member
from sexton.retention.protection import SPARED, shield
from sexton.sessions.family import Family
from tests.contract.examples import examples
from tests.golden import golden

NOW = datetime(2026, 6, 1, tzinfo=UTC)
USUAL = Collection()
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def member(id: str = "a", **facts: Any) -> Member:
    """A session that ended a month ago, with one message."""
    given: dict[str, Any] = {
        "ref": int.from_bytes(id.encode()[-6:]),
        "source": "chat",
        "parent": None,
        "relation": None,
        "state": State.ENDED,
        "epoch": 1,
        "active_at": NOW - 30 * DAY,
        "message_count": 1,
        "turn_count": 0,
        "byte_count": 10,
        "pinned": False,
        "held": False,
        "owed": False,
        "given_up_at": None,
    }
    return Member(id=id, **(given | facts))


def found(asked: Member, *others: Member, policy: Collection = USUAL) -> Finding:
    return find(asked, Family((asked, *others)), policy, NOW)


def held_by(asked: Member, *others: Member, policy: Collection = USUAL) -> str | None:
    holding = found(asked, *others, policy=policy).holding
    return None if holding is None else holding.code


def test_an_empty_session_goes_after_a_day_and_a_trivial_one_after_a_week() -> None:
    for said, after in ((0, DAY), (1, 7 * DAY), (5, 7 * DAY)):
        old = member(message_count=said, active_at=NOW - after)
        young = old._replace(active_at=NOW - after + timedelta(microseconds=1))
        assert found(old).goes
        assert held_by(young) == "young"


def test_more_than_a_few_messages_are_kept_however_old() -> None:
    assert held_by(member(message_count=6, active_at=NOW - 4000 * DAY)) == "substantial"
    assert found(member(message_count=6), policy=Collection(trivial_max=6)).goes


def test_each_reason_says_what_was_found() -> None:
    wanted = found(member(message_count=2)).wanted
    assert wanted is not None
    assert wanted.code == "trivial"
    empty = found(member(message_count=0, active_at=NOW - 30 * HOUR)).wanted
    assert empty is not None
    assert empty.code == "empty"
    golden("why", "collection: trivial, empty", f"{wanted.text}\n{empty.text}")


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"state": State.OPEN}, "open"),
        ({"held": True}, "held"),
        ({"pinned": True}, "pinned"),
        ({"owed": True}, "unfinalized"),
        ({"given_up_at": NOW - SPARED + DAY}, "dead_letter"),
        ({"state": State.TRASHED}, "away"),
        ({"state": State.PURGED}, "away"),
    ],
)
def test_what_is_in_use_or_not_done_stays_and_says_why(facts: dict[str, Any], code: str) -> None:
    finding = found(member(**facts))
    assert not finding.goes
    assert finding.holding is not None
    assert finding.holding.code == code
    assert finding.wanted is not None


def test_work_given_up_long_ago_keeps_nothing_and_never_an_archive() -> None:
    assert found(member(given_up_at=NOW - SPARED)).goes
    lately = member(given_up_at=NOW - DAY)
    assert shield(lately, NOW) is not None
    assert shield(lately, NOW, archiving=True) is None


def test_a_substantial_child_stays_when_its_trivial_parent_goes() -> None:
    parent = member("p")
    child = member("c", parent="p", relation=Relation.SUBAGENT, message_count=50)
    assert found(parent, child).goes
    assert found(parent, child).members == (parent,)
    assert held_by(child, parent) == "substantial"


def test_a_trivial_child_goes_although_its_parent_stays() -> None:
    parent = member("p", message_count=50)
    child = member("c", parent="p", relation=Relation.BRANCH)
    assert found(child, parent).goes


def test_a_parent_stays_while_a_child_of_a_child_is_open() -> None:
    parent = member("p")
    child = member("c", parent="p", relation=Relation.SUBAGENT, message_count=50)
    grandchild = member("g", parent="c", relation=Relation.FORK, state=State.OPEN)
    assert held_by(parent, child, grandchild) == "open_child"
    assert held_by(grandchild, child, parent) == "open"


def test_a_compressed_conversation_is_judged_as_one() -> None:
    first = member("1", message_count=3)
    second = member("2", parent="1", relation=Relation.COMPRESSION, message_count=2)
    for asked, other in ((first, second), (second, first)):
        finding = found(asked, other)
        assert finding.goes
        assert {each.id for each in finding.members} == {"1", "2"}
        longer = second._replace(message_count=3)
        pair = [each if each.id == "1" else longer for each in (asked, other)]
        assert held_by(*pair) == "substantial"
    assert held_by(first, second._replace(active_at=NOW - DAY)) == "young"
    pinned = found(first, second._replace(pinned=True)).holding
    assert pinned is not None
    assert pinned.code == "pinned"
    golden("why", "collection: another part is pinned", pinned.text)


def test_what_was_removed_before_still_counts_as_said() -> None:
    gone = member("1", message_count=5, state=State.TRASHED)
    rest = member("2", parent="1", relation=Relation.COMPRESSION, message_count=1)
    assert held_by(rest, gone) == "substantial"


def test_only_the_source_that_was_asked_for_goes() -> None:
    policy = Collection(source="cron")
    assert held_by(member(), policy=policy) == "source"
    assert found(member(source="cron"), policy=policy).goes


names = st.sampled_from([f"s{number}" for number in range(8)])
members = st.builds(
    member,
    names,
    source=st.sampled_from(["chat", "cron"]),
    parent=st.none() | names | st.just("nobody"),
    relation=st.none() | st.sampled_from(Relation),
    state=st.sampled_from([State.ENDED] * 3 + list(State)),
    active_at=st.integers(0, 20).map(lambda days: NOW - days * DAY),
    message_count=st.sampled_from([0, 0, 1, 2, 5, 6, 50]),
    pinned=st.sampled_from([False] * 5 + [True]),
    held=st.sampled_from([False] * 5 + [True]),
    owed=st.sampled_from([False] * 5 + [True]),
    given_up_at=st.none() | st.just(NOW - DAY) | st.just(NOW - 40 * DAY),
)
forests = st.lists(members, max_size=8, unique_by=lambda each: each.id)


def conversations(forest: Iterable[Member]) -> dict[str, set[str]]:
    """By joining what belongs together until nothing changes."""
    known = {each.id: each for each in forest}
    groups = {id: {id} for id in known}
    for _ in known:
        for each in known.values():
            if each.relation is Relation.COMPRESSION and each.parent in known:
                joined = groups[each.id] | groups[each.parent]
                for id in joined:
                    groups[id] = joined
    return groups


def descendants(forest: Iterable[Member], roots: set[str]) -> set[str]:
    """By adding children until nothing changes."""
    below: set[str] = set()
    while True:
        more = {each.id for each in forest if each.parent in below | roots} - below
        if not more:
            return below
        below |= more


@given(forests)
@examples(100)
def test_any_forest_loses_garbage_only_and_whole_conversations(forest: list[Member]) -> None:
    family, known = Family(forest), {each.id: each for each in forest}
    findings = {each.id: find(each, family, USUAL, NOW) for each in forest}
    groups = conversations(forest)
    for each in forest:
        finding, group = findings[each.id], [known[id] for id in groups[each.id]]
        assert {one.id for one in finding.members} == groups[each.id]
        assert finding.goes is (finding.holding is None)
        assert finding.goes is all(findings[one.id].goes for one in group)
        if not finding.goes:
            continue
        assert finding.wanted is not None
        assert HERE & {one.state for one in group}
        assert not any(shield(one, NOW) for one in group)
        said = sum(one.message_count for one in group)
        assert said <= USUAL.trivial_max
        idle = NOW - max(one.active_at for one in group)
        assert idle >= (USUAL.trivial_after if said else USUAL.empty_after)
        below = descendants(forest, groups[each.id])
        assert State.OPEN not in {known[id].state for id in below}


@given(forests)
@examples(60)
def test_any_forest_keeps_nothing_that_is_garbage_by_every_rule(forest: list[Member]) -> None:
    family, known = Family(forest), {each.id: each for each in forest}
    groups = conversations(forest)
    for each in forest:
        group = [known[id] for id in groups[each.id]]
        said = sum(one.message_count for one in group)
        idle = NOW - max(one.active_at for one in group)
        below = descendants(forest, groups[each.id])
        rubbish = (
            bool(HERE & {one.state for one in group})
            and not any(shield(one, NOW) for one in group)
            and said <= USUAL.trivial_max
            and idle >= (USUAL.trivial_after if said else USUAL.empty_after)
            and State.OPEN not in {known[id].state for id in below}
        )
        assert find(each, family, USUAL, NOW).goes is rubbish


@given(forests, members)
@examples(60)
def test_a_parent_of_another_conversation_changes_nothing_for_its_child(
    forest: list[Member], parent: Member
) -> None:
    asked = member("asked", parent=parent.id, relation=Relation.SUBAGENT, message_count=2)
    others = [each for each in forest if each.id != parent.id and each.parent != "asked"]
    alone = find(asked, Family([asked, *others]), USUAL, NOW)
    beside = find(asked, Family([asked, *others, parent._replace(parent=None)]), USUAL, NOW)
    assert alone.goes is beside.goes
    assert alone.wanted == beside.wanted


def test_a_chain_of_ten_thousand_and_a_circle_end() -> None:
    chain = [
        member(f"{number:06}", parent=f"{number - 1:06}", relation=Relation.COMPRESSION)
        for number in range(10_000)
    ]
    assert len(found(chain[0], *chain[1:]).members) == 10_000
    circle = [
        member("a", parent="b", relation=Relation.SUBAGENT),
        member("b", parent="a", relation=Relation.SUBAGENT),
    ]
    assert found(circle[0], circle[1]).goes


def test_one_place_says_how_long_given_up_work_keeps_its_session() -> None:
    """The policy and the statement that purges must never disagree."""
    assert vars(removal)["SPARED"] is SPARED


def test_what_keeps_sessions_has_words_that_are_the_same_for_many() -> None:
    kept = []
    for name in ("a", "b"):
        parent, child = member(name), member(f"child of {name}", parent=name, state=State.OPEN)
        kept.append(keeping.held_by([parent], Family((parent, child)), NOW, archiving=False))
    one, other = kept
    assert one is not None
    assert other is not None
    assert (one.reason.code, one.plainly) == (other.reason.code, other.plainly)
    assert one.reason != other.reason
