"""A plan travels as text and comes back equal, or is refused."""

from __future__ import annotations

import hmac
import json
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from sexton.core.plan import (
    ArchiveSession,
    EndSession,
    Held,
    Plan,
    ReapSession,
    Reason,
    RemoveFiles,
    Seen,
    TrashSession,
    WarnSession,
)
from sexton.core.session import Limit
from sexton.errors import PlanEdited, PlanForeign, PlanInvalid
from sexton.keeper import plan_file
from sexton.operations import planned
from tests.contract.examples import examples
from tests.golden import golden

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
numbers = st.integers(min_value=0, max_value=2**62)
moments = st.integers(min_value=0, max_value=2**52).map(
    lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
)
reasons = st.builds(Reason, words, words)
sights = st.builds(
    Seen,
    ref=numbers,
    home=words,
    id=words,
    epoch=numbers,
    active_at=moments,
    message_count=numbers,
    turn_count=numbers,
    pinned=st.booleans(),
)
ends = st.builds(EndSession, seen=sights, reason=reasons)
reaps = st.builds(
    ReapSession,
    seen=sights,
    reason=reasons,
    dead=st.lists(st.tuples(words, numbers), max_size=2).map(tuple),
)
warnings = st.builds(WarnSession, seen=sights, reason=reasons, limit=st.sampled_from(Limit))
tidyings = st.builds(
    RemoveFiles,
    seen=sights,
    reason=reasons,
    source=st.sampled_from(["cli", "files"]),
    size=st.integers(0, 10**12),
    archived=st.booleans(),
)
leaving = {
    "seen": sights,
    "reason": reasons,
    "source": words,
    "size": numbers,
    "conversation": st.none() | words,
}
removals = st.builds(TrashSession, **leaving) | st.builds(
    ArchiveSession, **leaving, tree=st.none() | words
)
plans = st.builds(
    Plan,
    id=words,
    ledger=words,
    policies=words,
    made_at=moments,
    actions=st.lists(ends | reaps | warnings | tidyings | removals, max_size=4).map(tuple),
    held=st.lists(
        st.builds(Held, seen=sights, wanted=reasons, holding=reasons, by=words), max_size=2
    ).map(tuple),
    observed=st.lists(words, max_size=2).map(tuple),
)

KEY = b"a key that only the ledger knows"
OTHER_KEY = b"a key of somebody else's making."


def write_plan(plan: Plan, key: bytes = KEY) -> str:
    return plan_file.write_plan(plan, key)


def read_plan(text: str, ledger: str | None = None, key: bytes = KEY) -> Plan:
    """The plan a text holds, read for the ledger it names unless told otherwise."""
    try:
        named = json.loads(text)["ledger"] if ledger is None else ledger
    except (ValueError, KeyError, TypeError, RecursionError):
        named = "l"
    return plan_file.read_plan(text, named, key)


SEEN = Seen(
    ref=7,
    home="native",
    id="s1",
    epoch=1,
    active_at=datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    message_count=3,
    turn_count=1,
    pinned=False,
)
PLAN = Plan(
    id="p",
    ledger="l",
    policies="d",
    made_at=datetime(2026, 1, 2, tzinfo=UTC),
    actions=(
        EndSession(seen=SEEN, reason=Reason("idle", "idle for 2 d")),
        WarnSession(seen=SEEN, reason=Reason("near_max_bytes", "80 %"), limit=Limit.BYTES),
    ),
    held=(Held(seen=SEEN, wanted=Reason("daily", "daily"), holding=Reason("busy", "a turn")),),
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all single values in a document."""
    if isinstance(value, dict):
        return [leaf for name, each in value.items() for leaf in leaves(each, (*path, name))]
    if isinstance(value, list):
        return [leaf for place, each in enumerate(value) for leaf in leaves(each, (*path, place))]
    return [path]


def changed(path: tuple[Any, ...]) -> str:
    """The plan's text with one value changed."""
    document = json.loads(write_plan(PLAN))
    place = document
    for step in path[:-1]:
        place = place[step]
    old = place[path[-1]]
    place[path[-1]] = old + 1 if isinstance(old, int) else f"{old}x"
    return json.dumps(document)


@examples(40)
@given(plans)
def test_all_that_a_plan_says_is_in_its_description(plan: Plan) -> None:
    described = TypeAdapter(planned.Plan)
    document = json.loads(write_plan(plan))
    assert described.dump_python(described.validate_python(document), mode="json") == document


@examples(40)
@given(plans)
def test_a_plan_comes_back_equal(plan: Plan) -> None:
    assert read_plan(write_plan(plan)) == plan


@examples(40)
@given(plans)
def test_the_text_of_a_plan_is_plain_ascii(plan: Plan) -> None:
    assert write_plan(plan).isascii()


@pytest.mark.parametrize("path", leaves(json.loads(write_plan(PLAN))), ids=str)
def test_any_changed_value_is_noticed(path: tuple[Any, ...]) -> None:
    with pytest.raises(PlanEdited):
        read_plan(changed(path))


def test_a_removed_action_is_noticed() -> None:
    document = json.loads(write_plan(PLAN))
    del document["actions"][0]
    with pytest.raises(PlanEdited):
        read_plan(json.dumps(document))


def test_an_added_field_is_noticed() -> None:
    document = json.loads(write_plan(PLAN)) | {"note": "harmless"}
    with pytest.raises(PlanEdited):
        read_plan(json.dumps(document))


def test_a_field_given_twice_is_noticed() -> None:
    text = write_plan(PLAN).replace('"id": "p"', '"id": "shown", "id": "p"', 1)
    with pytest.raises(PlanEdited):
        read_plan(text)


def test_white_space_is_no_edit() -> None:
    assert read_plan(json.dumps(json.loads(write_plan(PLAN)))) == PLAN


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plan",
        "[]",
        "null",
        "{}",
        '{"digest": 3}',
        "[" * 100_000,
        write_plan(PLAN)[:200],
        "9" * 5000,
        "\ud800",
    ],
    ids=["empty", "word", "list", "null", "object", "number", "deep", "half", "long", "surrogate"],
)
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanInvalid):
        read_plan(text)


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"version": 3},
        {"format": "other"},
        {"id": 3},
        {"made_at": "2026-01-02T03:04:05"},
        {"made_at": "soon"},
        {"actions": [{"kind": "purge"}]},
        {"actions": [3]},
        {"actions": None},
        {"held": [{}]},
    ],
    ids=str,
)
def test_a_plan_of_another_shape_is_refused_even_with_a_right_digest(
    change: dict[str, Any],
) -> None:
    with pytest.raises(PlanInvalid):
        read_plan(signed(json.loads(write_plan(PLAN)) | change))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ref", 2**70),
        ("ref", -1),
        ("epoch", 2**63),
        ("message_count", 10**100),
        ("home", "x\ud800"),
        ("id", "\udcff"),
        ("id", "a\0b"),
        ("active_at", "0001-01-01T00:00:00+23:59"),
    ],
    ids=ascii,
)
def test_a_value_no_ledger_can_hold_is_refused_even_with_a_right_digest(
    field: str, value: object
) -> None:
    document = json.loads(write_plan(PLAN))
    document["actions"][0]["session"][field] = value
    with pytest.raises(PlanInvalid):
        read_plan(signed(document))


@pytest.mark.parametrize("limit", [-1, 16, 2**40])
def test_a_limit_that_does_not_exist_is_refused(limit: int) -> None:
    document = json.loads(write_plan(PLAN))
    document["actions"][1]["limit"] = limit
    with pytest.raises(PlanInvalid):
        read_plan(signed(document))


def test_a_plan_of_another_ledger_is_refused() -> None:
    assert read_plan(write_plan(PLAN), "l") == PLAN
    with pytest.raises(PlanForeign):
        read_plan(write_plan(PLAN), "other")
    with pytest.raises(PlanForeign):
        read_plan(write_plan(PLAN, OTHER_KEY), "other")


def test_a_plan_that_was_written_without_the_key_is_refused() -> None:
    with pytest.raises(PlanEdited):
        read_plan(write_plan(PLAN, OTHER_KEY))


@pytest.mark.parametrize("version", [1, 2])
def test_a_plan_with_a_digest_that_anybody_can_make_is_refused(version: int) -> None:
    content = json.loads(write_plan(PLAN)) | {"version": version}
    del content["digest"]
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    unkeyed = f"sha256:{sha256(canonical.encode()).hexdigest()}"
    with pytest.raises(PlanInvalid) as refused:
        read_plan(json.dumps(content | {"digest": unkeyed}))
    golden("errors", "a plan of an old version", f"{refused.value}\n{refused.value.hint}")


def signed(document: dict[str, Any]) -> str:
    """A document with the digest that belongs to it."""
    content = {name: value for name, value in document.items() if name != "digest"}
    return json.dumps(content | {"digest": digest_of(content)})


def digest_of(content: dict[str, Any]) -> str:
    """The digest as the documentation says: over canonical JSON, with the key."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f"hmac-sha256:{hmac.new(KEY, canonical.encode(), sha256).hexdigest()}"
