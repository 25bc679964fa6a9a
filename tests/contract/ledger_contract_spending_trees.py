"""What every ledger promises about what the dead held, what is forgotten, and trees of sessions."""

from __future__ import annotations

from sexton.core.record import replace
from sexton.core.session import Relation
from sexton.spending.model import Scope, Unit
from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_compression import shorter
from tests.contract.ledger_contract_reviving import worker
from tests.contract.ledger_contract_samples import (
    NOON,
    at,
    born,
    enrol,
    observe,
    say,
)
from tests.contract.ledger_contract_spending_samples import (
    DAY,
    HOUR,
    budget,
    granted,
    settle,
    standing,
    used,
)


class SpendingTreesContract:
    """Nothing is held for ever, and a tree spends as one."""

    def test_what_the_dead_and_those_who_left_held_is_given_back_once(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=1000)
        for name in ("dead", "left", "alive"):
            enrol(ledger, name)
            granted(ledger, session, limit, by=name, input_tokens=100)
        granted(ledger, session, limit, by="unknown", input_tokens=100)
        ledger.reaping.declare([(worker(ledger, "dead"), "process_gone: x")], at(1))
        ledger.book.leave("left", (), at(1))
        held = {Unit.TOKENS: 100}
        freed = sorted(ledger.spending.free(at(2)), key=lambda each: each.worker)
        assert freed == [(name, session.id, held) for name in ("dead", "left", "unknown")]
        assert ledger.spending.free(at(3)) == []
        assert used(ledger, session, limit) == 100

    def test_what_was_used_under_a_freed_grant_is_counted_once(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget(limit=1000)
        grant = granted(ledger, session, limit, by="gone", input_tokens=100)
        ledger.spending.free(at(2))
        assert settle(ledger, grant, session, input_tokens=70)
        assert not settle(ledger, grant, session, input_tokens=70)
        found = standing(ledger, session, limit)
        assert (found.spent, found.reserved) == (70, 0)

    def test_what_is_old_is_forgotten_and_what_is_not_stays(self, ledger: Ledger) -> None:
        session = born(ledger)
        rolling, lasting = budget(Scope.TREE, per=HOUR), budget()
        granted(ledger, session, rolling, lasting, by="gone", input_tokens=10)
        ledger.spending.free(at(0))
        enrol(ledger, "agent")
        granted(ledger, session, rolling, lasting, input_tokens=10)
        ledger.spending.free(NOON + 34 * DAY)
        assert used(ledger, session, rolling) == used(ledger, session, lasting) == 10
        ledger.spending.free(NOON + 36 * DAY)
        assert used(ledger, session, rolling) == 0
        assert used(ledger, session, lasting) == 10
        ledger.spending.free(NOON + 399 * DAY)
        assert used(ledger, session, lasting) == 10
        granted(ledger, session, lasting, now=NOON + 300 * DAY, input_tokens=10)
        ledger.spending.free(NOON + 401 * DAY)
        assert used(ledger, session, lasting) == 20
        ledger.spending.free(NOON + 701 * DAY)
        assert used(ledger, session, lasting) == 0

    def test_a_freed_grant_that_is_old_is_forgotten(self, ledger: Ledger) -> None:
        session, limit = born(ledger), budget()
        grant = granted(ledger, session, limit, by="gone", input_tokens=10)
        ledger.spending.free(at(0))
        ledger.spending.free(NOON + 34 * DAY)
        kept = granted(ledger, session, limit, by="gone", input_tokens=20)
        ledger.spending.free(NOON + 36 * DAY)
        assert settle(ledger, kept, session)  # it holds nothing any more
        assert used(ledger, session, limit) == 0
        # The ledger has forgotten it, so it counts as lost.
        assert settle(ledger, grant, session, input_tokens=10)
        assert used(ledger, session, limit) == 10

    def test_subagents_and_compressions_are_of_one_tree_and_branches_are_not(
        self, ledger: Ledger
    ) -> None:
        root = born(ledger)
        child = born(ledger, None, parent=root.id, relation=Relation.SUBAGENT)
        grandchild = born(ledger, None, parent=child.id, relation=Relation.SUBAGENT)
        branch = born(ledger, None, parent=root.id, relation=Relation.BRANCH)
        lost = born(ledger, None, parent="gone", relation=Relation.SUBAGENT)
        say(ledger, child, *"abcdef")
        family = (root, child, grandchild, shorter(ledger, child))
        assert [ledger.spending.root(each.ref) for each in family] == [root.ref] * 4
        assert ledger.spending.root(branch.ref) == branch.ref
        assert ledger.spending.root(lost.ref) == lost.ref

    def test_a_tree_whose_root_was_not_kept_is_followed_up(self, ledger: Ledger) -> None:
        kept = born(ledger)
        leaf = born(ledger, None, parent="middle", relation=Relation.SUBAGENT)
        middle = born(ledger, None, id="middle", parent="top", relation=Relation.SUBAGENT)
        top = born(ledger, None, id="top", parent=kept.id, relation=Relation.FORK)
        other = born(ledger, None, id="other", parent="mutual", relation=Relation.SUBAGENT)
        mutual = born(ledger, None, id="mutual", parent="other", relation=Relation.SUBAGENT)
        roots = [ledger.spending.root(each.ref) for each in (leaf, middle, top)]
        assert roots == [top.ref] * 3
        assert ledger.spending.root(other.ref) in (other.ref, mutual.ref)
        below = born(ledger, None, parent=leaf.id, relation=Relation.SUBAGENT)
        assert ledger.spending.root(below.ref) == top.ref

    def test_a_session_of_another_home_is_nobodys_root(self, ledger: Ledger) -> None:
        home = ledger.homes.attach("elsewhere", "hermes", "/home", "host", False)
        own = born(ledger)
        observe(ledger, home, replace(own, home="elsewhere", id="theirs"))
        child = born(ledger, None, parent="theirs", relation=Relation.SUBAGENT)
        assert ledger.spending.root(child.ref) == child.ref

    def test_how_the_tools_did_is_kept_with_the_session(self, ledger: Ledger) -> None:
        session, other = born(ledger), born(ledger, "other")
        assert ledger.spending.snapshot(session.ref) is None
        ledger.book.finish_turn(session, "agent", False, '{"errors": 3}')
        ledger.book.finish_turn(session, "agent", False)
        assert ledger.spending.snapshot(session.ref) == '{"errors": 3}'
        assert ledger.spending.snapshot(other.ref) is None
        say(ledger, session, *"abcdef")
        child = shorter(ledger, session)
        assert ledger.spending.snapshot(child.ref) == '{"errors": 3}'
        ledger.book.finish_turn(child, "agent", False, '{"errors": 4}')
        assert ledger.spending.snapshot(child.ref) == '{"errors": 4}'

    def test_what_a_home_has_compressed_is_one_conversation_to_the_breaker(
        self, ledger: Ledger
    ) -> None:
        home, sample = (
            ledger.homes.attach("elsewhere", "hermes", "/home", "host", False),
            born(ledger),
        )
        for id, parent in (("a", "c"), ("b", "a"), ("c", "b"), ("d", None), ("e", "d")):
            relation = None if parent is None else Relation.COMPRESSION
            told = replace(
                sample, home="elsewhere", id=id, key=None, parent=parent, relation=relation
            )
            observe(ledger, home, told)
        first, second = (ledger.index.find("elsewhere", id)[0] for id in "de")
        ledger.book.finish_turn(first, "agent", False, '{"errors": 3}')
        assert ledger.spending.snapshot(second.ref) == '{"errors": 3}'
        assert [part.ref for part in ledger.compression.chain(second.ref)] == [
            first.ref,
            second.ref,
        ]
        [circular] = ledger.index.find("elsewhere", "a")
        assert ledger.compression.chain(circular.ref)[-1].ref == circular.ref
