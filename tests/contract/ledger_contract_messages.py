"""What every ledger promises about messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from sexton.core.message import draft
from sexton.core.schedule import Schedule
from sexton.core.session import Limit
from sexton.sessions.model import Appended, Batch
from sexton.store.ledger import Ledger
from tests.contract.examples import examples
from tests.contract.ledger_contract_samples import (
    IDLE,
    NO_RULES,
    NOON,
    at,
    born,
    enrol,
    entry,
    heard,
    reread,
    say,
    seen,
)

ANY_CHARACTER = st.characters(exclude_categories=[])
ANY_TEXT = st.text(ANY_CHARACTER)
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
MANY = 100_000
MEGABYTE = 1_000_000


class MessagesContract:
    """Appending, reading back, and what an append changes in its session."""

    def test_an_append_counts_messages_and_bytes_exactly(self, ledger: Ledger) -> None:
        begun = born(ledger)
        drafts = [draft("user", "ü"), draft("tool", {"a": 1}, {"id": "x"}), draft("assistant")]
        sizes = [2, len('{"a":1}') + len('{"id":"x"}'), 0]
        batch = Batch(session=begun, drafts=drafts, schedule=NO_RULES)
        assert ledger.messages.append(batch, at(1)) == Appended(3)
        assert say(ledger, begun, "abc", now=at(2)) == Appended(4)
        now = reread(ledger, begun)
        facts: dict[str, Any] = {
            "message_count": 4,
            "byte_count": sum(sizes) + 3,
            "active_at": at(2),
        }
        assert now == replace(begun, **facts)

    def test_a_write_takes_newer_policies_over(self, ledger: Ledger) -> None:
        begun, other = born(ledger), born(ledger, "other")
        assert say(ledger, begun, "a", schedule=Schedule(3)) is not None
        assert [each.ref for each in ledger.index.stale(3, 10)] == [other.ref]
        assert say(ledger, begun, "b", schedule=Schedule(2)) is not None
        assert [each.ref for each in ledger.index.stale(2, 10)] == [other.ref]

    def test_a_refused_write_takes_no_policies_over(self, ledger: Ledger) -> None:
        begun = born(ledger)
        fenced = replace(begun, epoch=begun.epoch + 1)
        assert say(ledger, fenced, "a", schedule=Schedule(3)) is None
        assert [each.ref for each in ledger.index.stale(3, 10)] == [begun.ref]

    def test_messages_come_back_in_order_and_with_all_their_parts(self, ledger: Ledger) -> None:
        begun = born(ledger)
        for second in range(3):
            drafts = [draft(f"role {n}", [second, n], {"n": n}) for n in range(40)]
            batch = Batch(session=begun, drafts=drafts, schedule=NO_RULES)
            assert ledger.messages.append(batch, at(second))
        found = heard(ledger, begun)
        assert [each.seq for each in found] == list(range(1, 121))
        parts = [(each.role, each.content, each.extra, each.at) for each in found]
        assert parts == [
            (f"role {n}", [second, n], {"n": n}, at(second))
            for second in range(3)
            for n in range(40)
        ]

    def test_reading_goes_on_after_any_message(self, ledger: Ledger) -> None:
        begun = born(ledger)
        say(ledger, begun, *range(70))
        for after in (0, 1, 31, 32, 33, 69):
            page = ledger.messages.page(begun.ref, after, MEGABYTE)
            assert [each.content for each in page] == list(range(after, 70))
        assert ledger.messages.page(begun.ref, 70, MEGABYTE) == []

    def test_sessions_do_not_share_messages_or_numbers(self, ledger: Ledger) -> None:
        first, second = born(ledger, "a"), born(ledger, "b")
        for turn in range(3):
            assert say(ledger, first, f"a{turn}") == Appended(turn + 1)
            assert say(ledger, second, f"b{turn}") == Appended(turn + 1)
        assert [each.content for each in heard(ledger, first)] == ["a0", "a1", "a2"]
        assert [each.content for each in heard(ledger, second)] == ["b0", "b1", "b2"]

    def test_any_text_comes_back_exactly(self, ledger: Ledger) -> None:
        begun = born(ledger)

        @examples(30)
        @example(["\0", "\ud83d\ude00", "😀", "\udfff\ud800", "", "e\u0301", "\ufffe", "\r\n"])
        @given(st.lists(ANY_TEXT, min_size=1, max_size=6))
        def comes_back(texts: list[str]) -> None:
            appended = say(ledger, begun, *texts)
            assert appended is not None
            page = ledger.messages.page(begun.ref, appended.last_seq - len(texts), MEGABYTE)
            assert [each.content for each in page] == texts

        comes_back()

    def test_any_json_comes_back_exactly(self, ledger: Ledger) -> None:
        begun = born(ledger)
        more = st.dictionaries(ANY_TEXT, ANY_JSON, max_size=3)

        @examples(30)
        @given(ANY_JSON, more)
        def comes_back(content: Any, extra: dict[str, Any]) -> None:
            drafts = [draft("tool", content, extra)]
            batch = Batch(session=begun, drafts=drafts, schedule=NO_RULES)
            appended = ledger.messages.append(batch, NOON)
            assert appended is not None
            [found] = ledger.messages.page(begun.ref, appended.last_seq - 1, MEGABYTE)
            assert (found.content, found.extra) == (content, extra)
            assert repr(found.content) == repr(content)  # True is not 1, -0.0 is not 0.0

        comes_back()

    def test_ten_megabytes_fit_in_one_message(self, ledger: Ledger) -> None:
        begun = born(ledger)
        big = "äöü\0" * (10 * MEGABYTE // 7)
        assert say(ledger, begun, "before", big, "after")
        found = heard(ledger, begun)
        assert [each.content for each in found] == ["before", big, "after"]
        assert reread(ledger, begun).byte_count == len(big.encode()) + len("beforeafter")

    def test_a_page_has_one_message_at_least_and_little_more_than_was_asked_for(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        say(ledger, begun, *["x" * MEGABYTE] * 40)
        assert len(ledger.messages.page(begun.ref, 0, 1)) == 1
        assert len(ledger.messages.page(begun.ref, 0, 3 * MEGABYTE)) in (3, 4)
        assert len(heard(ledger, begun, 3 * MEGABYTE)) == 40
        small = born(ledger, "small")
        extra = {"padding": "x" * MEGABYTE}
        drafts = [draft("tool", None, extra)] * 5
        assert ledger.messages.append(Batch(session=small, drafts=drafts, schedule=NO_RULES), NOON)
        assert len(ledger.messages.page(small.ref, 0, 2 * MEGABYTE)) in (2, 3)

    def test_a_hundred_thousand_messages_are_read_in_order_and_in_small_pages(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        for first in range(0, MANY, 5_000):
            say(ledger, begun, *(f"message {n}" for n in range(first, first + 5_000)))
        last = 0
        while page := ledger.messages.page(begun.ref, last, MEGABYTE):
            assert len(page) <= 1_000
            assert page[0].seq == last + 1
            for each in page:
                assert (each.seq, each.content) == (last + 1, f"message {last}")
                last = each.seq
        assert last == reread(ledger, begun).message_count == MANY

    def test_a_write_to_an_ended_session_changes_nothing(self, ledger: Ledger) -> None:
        begun = born(ledger)
        say(ledger, begun, "before")
        now = reread(ledger, begun)
        assert ledger.book.end(seen(now), IDLE, entry(begun), at(1))
        ended = reread(ledger, begun)
        assert say(ledger, begun, "too", "late", now=at(2)) is None
        assert reread(ledger, begun) == ended
        assert [each.content for each in heard(ledger, begun)] == ["before"]

    def test_a_write_with_another_epoch_changes_nothing(self, ledger: Ledger) -> None:
        begun = born(ledger)
        for epoch in (0, 2):
            assert say(ledger, replace(begun, epoch=epoch), "fenced", now=at(2)) is None
        assert reread(ledger, begun) == begun
        assert heard(ledger, begun) == []

    def test_a_write_to_a_session_that_is_not_there_changes_nothing(self, ledger: Ledger) -> None:
        begun = born(ledger)
        assert say(ledger, replace(begun, ref=begun.ref + 1), "lost", now=at(2)) is None
        assert reread(ledger, begun) == begun

    def test_a_clock_that_was_wrong_is_forgotten_by_the_next_write(self, ledger: Ledger) -> None:
        begun = born(ledger)
        say(ledger, begun, "later", now=at(5))
        say(ledger, begun, "earlier", now=at(-5))
        assert reread(ledger, begun).active_at == at(-5)
        assert [each.at for each in heard(ledger, begun)] == [at(5), at(-5)]

    def test_the_due_time_of_the_last_write_stands(self, ledger: Ledger) -> None:
        begun = born(ledger, schedule=Schedule(1, at=at(10)))
        say(ledger, begun, "one", schedule=Schedule(1, at=at(20)))
        assert reread(ledger, begun).due_at == at(20)
        say(ledger, begun, "two", schedule=Schedule(1))
        assert reread(ledger, begun).due_at is None

    def test_a_write_in_the_last_turn_allowed_keeps_the_session_due(self, ledger: Ledger) -> None:
        begun = born(ledger, worker=enrol(ledger, "anna"))
        limited = Schedule(1, at=at(100), at_turns=2)
        for turn in (1, 2):
            assert ledger.book.start_turn(begun, "anna", limited, at(turn))
            say(ledger, begun, "hello", schedule=limited, now=at(turn))
            assert reread(ledger, begun).due_at == at(100 if turn == 1 else turn)

    def test_a_write_that_reaches_a_limit_makes_the_session_due(self, ledger: Ledger) -> None:
        for key, limit in (
            ("messages", Schedule(1, at=at(99), at_messages=3)),
            ("bytes", Schedule(1, at=at(99), at_bytes=3)),
        ):
            begun = born(ledger, key)
            say(ledger, begun, "1", "2", schedule=limit, now=at(1))
            assert reread(ledger, begun).due_at == at(99)
            say(ledger, begun, "3", schedule=limit, now=at(2))
            assert reread(ledger, begun).due_at == at(2)

    def test_the_first_preview_and_the_touch_of_a_person_stay(self, ledger: Ledger) -> None:
        begun = born(ledger)
        for preview, human in ((None, False), ("Hello", True), ("Bye", False)):
            batch = Batch(
                session=begun,
                drafts=[draft("user", "x")],
                schedule=NO_RULES,
                preview=preview,
                from_human=human,
            )
            assert ledger.messages.append(batch, NOON)
            now = reread(ledger, begun)
            assert (now.preview, now.human_touched) == (
                (None, False) if preview is None else ("Hello", True)
            )

    def test_a_write_says_which_policies_are_in_force_and_which_warnings_were_given(
        self, ledger: Ledger
    ) -> None:
        begun = born(ledger)
        ledger.policies.publish("digest", "text", "test", NOON)
        assert ledger.index.warn(seen(begun), Limit.BYTES, entry(begun), NOON)
        assert say(ledger, begun, "x") == Appended(1, Limit.BYTES, 1)
