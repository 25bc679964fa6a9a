"""Does every rule say what it selects and protects right now?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sexton.core.plan import Held, Tending
from sexton.core.record import replace
from sexton.core.session import Session, State
from sexton.finalizers.policy import Owing
from sexton.keeper.propose import decide
from sexton.liveness.model import Holder, Identity, Worker
from sexton.liveness.policy import LivenessPolicy
from sexton.processes.model import Doing, Figures, Process, ProcessKind, Watched
from sexton.resets.policy import Mode, ResetPolicy, reset_reason
from sexton.rules.rulebook import ResetRule, Rulebook
from sexton.settings.lint import RuleEffect, effect
from sexton.spending.model import Budget, Scope, Unit
from sexton.spending.policy import SpendRules
from tests.contract.examples import examples
from tests.golden import golden

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

PLUGIN = Holder(
    worker=Worker(
        id="w",
        identity=Identity(host="h", boot_id="b", pid=1, started=1),
        kind="hermes",
        version="1",
        beat=1,
        registered_at=NOW,
    ),
    joined_at=NOW,
)

RULEBOOK = Rulebook(
    reset=ResetPolicy(max_bytes=10**7),
    reset_rules=(
        ResetRule(
            sources=("telegram",),
            policy=ResetPolicy(mode=Mode.IDLE, idle_minutes=120, max_messages=1000),
        ),
        ResetRule(
            keys=("vip:*",), chat_types=("dm", "group"), policy=ResetPolicy(max_age=10 * HOUR)
        ),
        ResetRule(sources=("nowhere",), policy=ResetPolicy(mode=Mode.DAILY)),
    ),
)


def a_session(idle: timedelta = timedelta(), **facts: Any) -> Session:
    known: dict[str, Any] = {"source": "discord", "key": None, "started_at": NOW - idle}
    return Session(ref=1, home="native", id="s", active_at=NOW - idle, **known | facts)


def at_work(pid: int) -> Watched:
    """A process that holds a reset back."""
    process = Process(
        identity=Identity(host="h", boot_id="b", pid=pid, started=1), session="s", task=None,
        kind=ProcessKind.JOB, command="make", cwd="/", started_at=NOW - HOUR,
    )  # fmt: skip
    return Watched(
        process=process, doing=Doing.WORKING, figures=Figures(), because="it works",
        holds_until=NOW + HOUR, holds=True,
    )  # fmt: skip


def decided(
    session: Session, rules: Rulebook = RULEBOOK, pid: int | None = None
) -> Tending | Held | None:
    """What a plan says of a session of which nothing else is known."""
    policy, liveness = rules.reset_policy(session), LivenessPolicy()
    return decide(
        session, policy, liveness, {}, NOW, lambda *_: [] if pid is None else [at_work(pid)]
    )


def resets(rules: Rulebook, sessions: list[Session]) -> list[RuleEffect]:
    """The effect of the reset rules alone."""
    return [each for each in effect(rules, sessions, decided) if each.where.startswith("reset")]


def test_every_rule_tells_what_it_selects_and_protects() -> None:
    sessions = [
        a_session(source="telegram", idle=3 * HOUR),
        a_session(source="telegram", idle=HOUR),
        a_session(source="telegram", idle=HOUR / 2),
        a_session(source="telegram", message_count=1000),
        a_session(source="telegram", idle=9 * HOUR, state=State.ENDED),
        a_session(source="telegram", key="vip:1", chat_type="dm", idle=9 * HOUR),
        a_session(idle=1000 * HOUR),
        a_session(byte_count=10**7),
    ]
    found = resets(RULEBOOK, sessions)
    golden("config", "what rules of resets select", "\n".join(each.matches for each in found))
    assert [replace(each, matches="") for each in found] == [
        RuleEffect(
            rule=None,
            where="reset",
            matches="",
            governs=2,
            over={"max_bytes": 1},
            held={},
            protects=1,
            next_due=None,
        ),
        RuleEffect(
            rule=0,
            where="reset.rules[0]",
            matches="",
            governs=4,
            over={"idle": 1, "max_messages": 1},
            held={},
            protects=2,
            next_due=NOW + HOUR,
        ),
        RuleEffect(
            rule=1,
            where="reset.rules[1]",
            matches="",
            governs=1,
            over={},
            held={},
            protects=1,
            next_due=NOW + HOUR,
        ),
        RuleEffect(
            rule=2,
            where="reset.rules[2]",
            matches="",
            governs=0,
            over={},
            held={},
            protects=0,
            next_due=None,
        ),
    ]


def test_every_finalizer_tells_whose_sessions_it_is_for_and_how_many_are_open() -> None:
    rules = Rulebook(
        finalizers=(
            Owing(name="log", sources=("cli", "cron"), min_messages=1),
            Owing(name="memories", spared=("cron",), min_messages=4),
            Owing(name="hook", sources=("*", "cron"), spared=("cron",)),
        )
    )
    sessions = [
        a_session(source="cli"),
        a_session(source="cron"),
        a_session(source="telegram"),
        a_session(source="telegram", state=State.ENDED),
        replace(a_session(source="telegram"), home="work"),
    ]
    found = effect(rules, sessions, decided)
    finalizers = [each for each in found if each.where.startswith("finalizers")]
    assert [(each.where, each.governs) for each in finalizers] == [
        ("finalizers[0]", 2), ("finalizers[1]", 3), ("finalizers[2]", 4),
    ]  # fmt: skip
    golden("config", "what finalizers select", "\n".join(each.matches for each in finalizers))
    assert all((each.over, each.protects, each.next_due) == ({}, 0, None) for each in finalizers)


def test_what_is_over_and_held_back_is_protected_and_does_not_end() -> None:
    pinned = a_session(source="telegram", idle=3 * HOUR, pinned=True)
    (_, rule, *_) = effect(RULEBOOK, [pinned], decided)
    assert (rule.over, rule.held, rule.protects, rule.next_due) == ({}, {"pinned": 1}, 1, None)
    working = [a_session(source="telegram", idle=hours * HOUR) for hours in (3, 4)]
    pids = iter((7, 8))
    _, rule, *_ = effect(RULEBOOK, working, lambda s: decided(s, pid=next(pids)))
    assert (rule.over, rule.held, rule.protects) == ({}, {"process": 2}, 2)


def test_a_pin_leaves_no_next_end() -> None:
    _, rule, *_ = resets(RULEBOOK, [a_session(source="telegram", pinned=True)])
    assert (rule.governs, rule.protects, rule.held, rule.next_due) == (1, 1, {}, None)


def test_what_ends_because_its_owner_is_dead_is_not_called_protected() -> None:
    liveness = LivenessPolicy(inactivity_bound=(("discord", HOUR),))
    session = a_session(idle=2 * HOUR)
    default, *_ = effect(
        RULEBOOK,
        [session],
        lambda s: decide(s, RULEBOOK.reset, liveness, {}, NOW, lambda *_: []),
    )
    assert (default.over, default.protects) == ({"reaped:inactive": 1}, 0)


def test_every_budget_tells_what_it_bounds_and_how_many_open_sessions_ask_for_it() -> None:
    spend = SpendRules(
        budgets=(
            Budget(name="a", scope=Scope.TREE, unit=Unit.TOKENS, limit=5000, per=HOUR),
            Budget(
                name="b", scope=Scope.DAY, unit=Unit.USD, limit=2_500_000, sources=("cli", "cron")
            ),
            Budget(name="c", scope=Scope.TURN, unit=Unit.TOKENS, limit=1, sources=("nosuch",)),
        )
    )
    sessions = [
        a_session(source="cli"),
        a_session(source="telegram"),
        a_session(source="cron", state=State.ENDED),
        replace(a_session(source="cli"), home="work"),
        replace(a_session(source="cli"), home="work", holders=(PLUGIN,)),
    ]
    _, *budgets = effect(Rulebook(spend=spend), sessions, decided)
    assert [(each.where, each.governs) for each in budgets] == [
        ("budgets[a]", 3), ("budgets[b]", 2), ("budgets[c]", 0),
    ]  # fmt: skip
    golden("config", "what budgets select", "\n".join(each.matches for each in budgets))


def test_the_rules_of_a_home_are_told_by_its_name_and_for_its_sessions_only() -> None:
    own = Rulebook(
        reset=ResetPolicy(mode=Mode.IDLE, idle_minutes=30),
        reset_rules=(ResetRule(sources=("cli",), policy=ResetPolicy()),),
    )
    sessions = [
        replace(a_session(idle=idle, pinned=pinned, source=source), home=home)
        for home, source, idle, pinned in (
            ("work", "telegram", HOUR, False),
            ("work", "telegram", HOUR, True),
            ("work", "telegram", HOUR / 4, False),
            ("work", "cli", HOUR, False),
            ("ruleless", "cli", HOUR, False),
            ("native", "cli", HOUR, False),
        )
    ]
    found = effect(Rulebook(), sessions, lambda s: decided(s, own), {"work": own})
    told = {each.where: each for each in found}
    assert (told["reset"].governs, list(told)[-2:]) == (
        1,
        ["homes[work] reset", "homes[work] reset.rules[0]"],
    )
    default, rule = told["homes[work] reset"], told["homes[work] reset.rules[0]"]
    assert (default.governs, default.over, default.held) == (3, {"idle": 1}, {"pinned": 1})
    assert (default.protects, default.next_due) == (2, NOW + HOUR / 4)
    assert (rule.governs, rule.protects) == (1, 1)
    golden("config", "what a rule of a home selects", rule.matches)


@examples(50)
@given(
    st.lists(
        st.builds(
            a_session,
            idle=st.timedeltas(timedelta(), timedelta(days=3)),
            source=st.sampled_from(["telegram", "discord", "nowhere"]),
            key=st.sampled_from([None, "vip:1", "x"]),
            chat_type=st.sampled_from([None, "dm"]),
            message_count=st.integers(0, 1100),
            pinned=st.booleans(),
        )
    )
)
def test_every_open_session_is_counted_once_and_nothing_is_over_before_its_due_time(
    sessions: list[Session],
) -> None:
    effects = resets(RULEBOOK, sessions)
    assert sum(each.governs for each in effects) == len(sessions)
    assert all(each.governs == each.protects + sum(each.over.values()) for each in effects)
    over = [s for s in sessions if reset_reason(s, RULEBOOK.reset_policy(s), NOW)]
    assert sum(sum(each.held.values()) for each in effects) == sum(s.pinned for s in over)
    alive = [s for s in sessions if s not in over and not s.pinned]
    due = min((each.next_due for each in effects if each.next_due), default=None)
    for session in alive:
        policy = RULEBOOK.reset_policy(session)
        if due:
            assert reset_reason(session, policy, due - timedelta(microseconds=1)) is None
    if due:
        assert any(reset_reason(s, RULEBOOK.reset_policy(s), due) for s in alive)
