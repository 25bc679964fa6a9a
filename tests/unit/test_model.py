"""Names and messages are kept exactly, and nothing is purged in one step."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.message import PREVIEW_LENGTH, draft, one_line, preview, revive_content
from sexton.core.record import replace
from sexton.core.session import MOVES, NAME_LIMIT, State, check_name
from sexton.core.usage import Usage
from sexton.errors import InvalidMessage, InvalidName
from sexton.finalizers.model import Finalization, FinalizationState
from tests.contract.examples import examples

ANY_TEXT = st.text(st.characters(exclude_categories=()))


def test_nothing_is_purged_that_was_not_in_the_trash() -> None:
    assert [before for before, legal in MOVES.items() if State.PURGED in legal] == [State.TRASHED]


@pytest.mark.parametrize("name", ["", "a\0b", "a\ud800", "x" * (NAME_LIMIT + 1), None, 7])
def test_a_name_that_can_not_be_stored_exactly_is_refused(name: object) -> None:
    with pytest.raises(InvalidName):
        check_name("key", name)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("name", ["../../etc/passwd", "*", "a\nb", "ключ", "x" * NAME_LIMIT])
def test_a_strange_name_is_still_a_name(name: str) -> None:
    assert check_name("key", name) == name


@given(ANY_TEXT)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    stored = draft("user", text)
    assert stored.content is not None
    assert revive_content(stored.content, stored.is_text) == text


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
)


@examples(50)
@given(json_values, st.dictionaries(ANY_TEXT, json_values))
def test_any_json_comes_back_as_it_was(content: object, extra: dict[str, object]) -> None:
    stored = draft("tool", content, extra)
    assert revive_content(stored.content, stored.is_text) == content
    assert (revive_content(stored.extra, False) or {}) == extra


@pytest.mark.parametrize(
    "content", [object(), {1, 2}, float("nan"), b"bytes", {1: "a", "1": "b"}, [{None: 1}]]
)
def test_content_that_is_no_json_is_refused(content: object) -> None:
    with pytest.raises(InvalidMessage):
        draft("user", content)


@pytest.mark.parametrize("role", ["", "a\0", "\ud800", None])
def test_a_message_needs_a_plain_role(role: object) -> None:
    with pytest.raises(InvalidMessage):
        draft(role, "x")  # type: ignore[arg-type]  # that is the point


def test_a_refused_message_is_not_quoted() -> None:
    with pytest.raises(InvalidMessage) as refused:
        draft({"said": "secret"}, "x")  # type: ignore[arg-type]  # that is the point
    assert "secret" not in str(refused.value)


@given(ANY_TEXT)
def test_a_preview_is_one_short_line_that_every_terminal_and_engine_takes(text: str) -> None:
    line = preview(text)
    assert line is None or (0 < len(line) <= PREVIEW_LENGTH and line.isprintable())
    assert one_line(text).isprintable()


def test_the_same_finalization_has_the_same_key_on_every_attempt() -> None:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    first = Finalization(
        ref=1, home="native", session="s", session_ref=1, finalizer="f", since=0, through=7,
        state=FinalizationState.PENDING, attempts=0, claim=0, worker=None, owed_at=start,
        not_before=start, finished_at=None, last_error=None,
    )  # fmt: skip
    again = replace(first, attempts=2, claim=3, worker="w", state=FinalizationState.RUNNING)
    assert first.key == again.key == "native/s/7/f"


def test_all_kinds_of_tokens_count() -> None:
    usage = Usage(input_tokens=1, output_tokens=2, cached_tokens=3, reasoning_tokens=4)
    assert usage.tokens == 10
