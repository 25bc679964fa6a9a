"""Whose is an open row of a Hermes home?"""

from __future__ import annotations

from typing import Any

import pytest

from sexton.homes.hermes.hermes_claims import Claims, Execution
from sexton.homes.hermes.hermes_turns import APART, LONGEST
from sexton.homes.hermes.holders import Census, Holder, Kind
from sexton.homes.hermes.owners import OpenRow, owners
from sexton.liveness.evidence import Evidence, Verdict

LIVE, DEAD, SUSPECT, UNKNOWN = Verdict.LIVE, Verdict.DEAD, Verdict.SUSPECT, Verdict.UNKNOWN
GATEWAY, KEEPER = Holder(7, 1, Kind.GATEWAY), Holder(10, 1, Kind.SEXTON)
CLI, OTHER = (Holder(pid, 1, kind, (), 5000.0) for pid, kind in ((8, Kind.CLI), (9, Kind.OTHER)))

NOBODY = Census()
GATEWAY_ONLY = Census(holders=(GATEWAY,), gateway=7)
WITH_CLI = Census(holders=(GATEWAY, CLI), gateway=7)
HIDDEN = Census(gap="a process that can not be seen from here has the database open")


def row(id: str = "one", source: str = "cli", **facts: Any) -> OpenRow:
    given: dict[str, Any] = {"key": None, "parent": None, "handoff": None, "started_at": 1000.0}
    given["active_at"] = 2000.0
    return OpenRow(id=id, source=source, **(given | facts))


def owner(
    asked: OpenRow, census: Census, claims: Claims | None = None, *others: OpenRow
) -> Evidence:
    rows = {each.id: each for each in (asked, *others)}
    return owners([asked.id], rows, claims or Claims(), census)[asked.id]


@pytest.mark.parametrize(
    ("census", "verdict"),
    [
        (NOBODY, DEAD),
        (GATEWAY_ONLY, DEAD),
        (Census(holders=(KEEPER,)), DEAD),
        (Census(holders=(GATEWAY,)), DEAD),
        (WITH_CLI, SUSPECT),
        (Census(holders=(OTHER,)), SUSPECT),
        (HIDDEN, UNKNOWN),
        (Census(holders=(CLI,), gap="something"), UNKNOWN),
    ],
)
def test_a_row_of_the_command_line_is_dead_only_if_nobody_is_there_who_may_own_it(
    census: Census, verdict: Verdict
) -> None:
    found = owner(row(), census)
    assert found.verdict is verdict
    assert found.signals
    assert (found.code == "owner_gone") == (verdict is DEAD)


@pytest.mark.parametrize("census", [NOBODY, GATEWAY_ONLY, WITH_CLI, HIDDEN])
@pytest.mark.parametrize(
    "talk",
    [
        row(source="telegram"),
        row(source="a_plugin_of_tomorrow"),
        row(source="cli", key="agent:main:telegram:dm:1"),
        row("routed", source="unknown"),
    ],
)
def test_a_conversation_of_the_gateway_is_never_dead(talk: OpenRow, census: Census) -> None:
    found = owner(talk, census, Claims(routed=frozenset({"routed"})))
    assert found.verdict is (UNKNOWN if census.gateway is None else LIVE)


@pytest.mark.parametrize(
    ("source", "alone", "beside_gateway", "beside_cli"),
    [
        ("cli", DEAD, DEAD, SUSPECT),
        ("api_server", UNKNOWN, LIVE, LIVE),
        ("webhook", DEAD, UNKNOWN, SUSPECT),
        ("cron", DEAD, UNKNOWN, SUSPECT),
        ("tui", DEAD, UNKNOWN, SUSPECT),
        ("acp", DEAD, UNKNOWN, SUSPECT),
        ("subagent", DEAD, UNKNOWN, SUSPECT),
        ("unknown", DEAD, UNKNOWN, SUSPECT),
    ],
)
def test_what_a_gateway_may_own_is_not_dead_beside_one(
    source: str, alone: Verdict, beside_gateway: Verdict, beside_cli: Verdict
) -> None:
    asked = row(source=source)
    found = [owner(asked, census).verdict for census in (NOBODY, GATEWAY_ONLY, WITH_CLI)]
    assert found == [alone, beside_gateway, beside_cli]


@pytest.mark.parametrize("census", [NOBODY, GATEWAY_ONLY, WITH_CLI, HIDDEN])
def test_what_a_living_process_claims_is_live(census: Census) -> None:
    claims = Claims(live={"one": "evidence"})
    assert owner(row(), census, claims).signals == ("evidence",)
    assert owner(row(), census, claims).verdict is LIVE
    child = row("child", source="subagent", parent="one")
    assert owner(child, census, claims, row()).verdict is LIVE, "it runs in the same process"


def test_a_subagent_has_the_owner_of_whoever_started_it() -> None:
    child = row("child", source="subagent", parent="one")
    grandchild = row("grandchild", source="subagent", parent="child")
    assert owner(grandchild, GATEWAY_ONLY, None, child, row()).verdict is DEAD
    chat = row("chat", source="telegram")
    of_chat = row("of chat", source="subagent", parent="chat")
    assert owner(of_chat, GATEWAY_ONLY, None, chat).verdict is UNKNOWN
    assert owner(of_chat, NOBODY, None, chat).verdict is DEAD
    assert owner(of_chat, Census(holders=(CLI,)), None, chat).verdict is SUSPECT


def test_parents_in_a_circle_are_gone_through_once() -> None:
    one, two = (row(a, source="subagent", parent=b) for a, b in (("one", "two"), ("two", "one")))
    assert owner(one, NOBODY, None, two).verdict is DEAD


def test_a_session_that_is_being_handed_over_is_left_alone() -> None:
    assert owner(row(handoff="pending"), NOBODY).verdict is UNKNOWN
    assert owner(row(handoff="done"), NOBODY).verdict is DEAD


@pytest.mark.parametrize(
    ("alive", "since", "census", "verdict"),
    [
        (True, 1000.0, NOBODY, LIVE),
        (True, 1004.0, WITH_CLI, LIVE),
        (True, 1006.0, NOBODY, DEAD),
        (True, 1006.0, GATEWAY_ONLY, UNKNOWN),
        (False, 1000.0, GATEWAY_ONLY, DEAD),
        (False, 1006.0, GATEWAY_ONLY, UNKNOWN),
        (False, 1000.0, WITH_CLI, SUSPECT),
        (False, 1000.0, HIDDEN, UNKNOWN),
    ],
)
def test_a_job_lives_with_the_process_that_executes_it(
    alive: bool, since: float, census: Census, verdict: Verdict
) -> None:
    run = Execution(pid=5, alive=alive, since=since)
    claims = Claims(executions={"daily_news": (run,)})
    job = row("cron_daily_news_20260101_120000", source="cron")
    assert owner(job, census, claims).verdict is verdict


def test_a_gateway_that_resets_conversations_itself_is_known_as_such() -> None:
    talk, child = row(source="telegram"), row("child", source="subagent", parent="one")
    resets = Claims(gateway_resets=True)
    assert owner(talk, GATEWAY_ONLY, resets).resets
    assert not owner(talk, GATEWAY_ONLY).resets
    assert not owner(talk, NOBODY, resets).resets
    assert not owner(child, GATEWAY_ONLY, resets, talk).resets
    assert not owner(row(source="api_server"), GATEWAY_ONLY, resets).resets


def test_what_was_used_since_a_process_of_the_command_line_started_may_well_be_its() -> None:
    used, long_ago = row(active_at=4950.0), row(active_at=4900.0)
    assert owner(used, WITH_CLI).verdict is UNKNOWN
    assert owner(long_ago, WITH_CLI).verdict is SUSPECT
    later = Census(holders=(CLI, Holder(11, 1, Kind.CLI, (), 4000.0)))
    assert owner(long_ago, later).verdict is UNKNOWN


SERVER = Holder(12, 1, Kind.CLI, ("hermes", "dashboard"), 1000.0)
QUESTION = Holder(13, 1, Kind.CLI, ("hermes", "chat", "-q", "Good morning"), 1000.0)


@pytest.mark.parametrize(
    ("census", "by_gateway", "beside_gateway"),
    [
        (NOBODY, "", ""),
        (GATEWAY_ONLY, "", ""),
        (WITH_CLI, "terminal", "terminal"),
        (Census(holders=(GATEWAY, QUESTION), gateway=7), "", ""),
        (Census(holders=(GATEWAY, SERVER), gateway=7), "", "unclear"),
        (Census(holders=(GATEWAY, OTHER), gateway=7), "", "unclear"),
        (HIDDEN, "", "unclear"),
    ],
)
def test_who_may_have_a_chat_open_is_told_by_what_runs_and_by_who_used_the_chat_last(
    census: Census, by_gateway: str, beside_gateway: str
) -> None:
    asked = row(source="telegram")

    def held(used: float) -> str:
        found = owner(asked, census, Claims(used={"one": used}))
        return "terminal" if found.terminals else "unclear" if found.unclear else ""

    assert held(asked.active_at) == by_gateway
    assert held(asked.active_at - 1) == beside_gateway
    found = owner(asked, census)
    assert bool(found.terminals or found.unclear) is bool(beside_gateway), "no use is noted"


def test_a_row_that_is_not_there_or_has_ended_has_no_owner() -> None:
    assert owners(["gone"], {}, Claims(), NOBODY) == {}
    assert owners(["one"], {"one": row(over=1)}, Claims(), NOBODY) == {}


@pytest.mark.parametrize(
    ("facts", "claims", "busy"),
    [
        ({}, {}, False),
        ({"answered": 0}, {}, True),
        ({"answered": 0}, {"turns": 3}, True),
        ({"answered": 0}, {"turns": 0}, False),
        ({"answered": 0}, {"now": 2000.0 + LONGEST + 1}, False),
        ({}, {"turns": 1, "used": {"one": 2000.0 + APART + 1}}, True),
        ({}, {"turns": 1, "used": {"one": 2000.0 + APART}}, False),
        ({}, {"turns": 0, "live": {"agent:main:telegram:dm:1": "pid 8"}}, True),
    ],
)
def test_a_turn_of_a_conversation_is_seen_by_how_it_was_left(
    facts: dict[str, Any], claims: dict[str, Any], busy: bool
) -> None:
    """Only beside a gateway, which says how many turns it runs, for a day at most."""
    asked = row(source="telegram", key="agent:main:telegram:dm:1", **facts)
    given = {"now": 2100.0} | claims
    assert bool(owner(asked, GATEWAY_ONLY, Claims(**given)).busy) is busy
    if not given.get("live"):
        assert owner(asked, NOBODY, Claims(**given)).busy == ""
