"""What is found in the sessions, files, processes and database of a Hermes home?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.core.session import State as Open
from sexton.homes.hermes.condition import Compression, Condition, Small, State, Storage
from sexton.homes.hermes.config_files import read_configuration
from sexton.homes.hermes.findings.all import home_findings
from sexton.homes.hermes.findings.finding import Finding, Level, Names, Rules
from sexton.homes.hermes.findings.sessions_findings import Totals
from sexton.homes.hermes.findings.storage import is_mended
from sexton.homes.hermes.folder import FileSeen, kind_of
from sexton.homes.hermes.inherited import OwnRules
from sexton.homes.hermes.routing import Route, routes_in
from sexton.homes.hermes.running import Background
from sexton.homes.home_ports import Cohort
from sexton.processes.handling import ProcessPolicy
from sexton.processes.model import Doing
from sexton.retention.policy import Retention, RetentionClass
from sexton.rules.rulebook import Rulebook, decode
from sexton.wiring.diagnosing import totals
from tests.golden import golden

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)
HOME = Path("/home/me/.hermes")
KEY = "agent:main:telegram:dm:7"
BOTH = "session_reset: {mode: both, idle_minutes: 120, at_hour: 6}\n"


def found(
    home: Path | None = None,
    *,
    config: str = "",
    totals: Totals | None = None,
    ours: Rulebook = Rulebook(),  # noqa: B008  # a frozen value
    **facts: Any,
) -> dict[str, Finding]:
    """The findings for these facts, by their codes."""
    if home is not None:
        (home / "config.yaml").write_text(config)
    place = home or HOME
    rules = Rules(own=decode(OwnRules(place, "UTC").text()), ours=ours)
    names = Names(home="work", path=place, usual=True)
    said = read_configuration(place)
    facts.setdefault("storage", Storage(schema=22))
    told = home_findings(Condition(now=NOW, **facts), said, totals or Totals(), rules, names)
    return {each.code: each for each in told}


def file(name: str, owner: str | None, size: int = 10, age: timedelta = timedelta()) -> FileSeen:
    return FileSeen(name, size, (NOW - age).timestamp(), owner, kind_of(name))


def route(used: timedelta, **facts: Any) -> Route:
    usual = Route(KEY, "s1", "telegram", "dm", NOW - used, finalized=False)
    return usual._replace(**facts)


def test_a_home_in_order_has_no_findings() -> None:
    assert found(totals=Totals(sessions=5000, open=3), small=Small(10, 40, 30)) == {}


def test_leaks_are_told_with_number_share_and_repair() -> None:
    told = found(totals=Totals(sessions=3049, open=887, leaked=800, unproven=87, silent=60, api=4))
    assert told["leaked"].count == 800
    golden("findings", "leaks", told["leaked"].words)
    assert told["leaked"].repair == "sexton apply --home work"
    assert told["unproven"].count == 60
    assert told["api_open"].count == 4
    assert told["api_open"].repair == "sexton apply --home work"


@pytest.mark.parametrize(("served", "silent"), [(False, 3), (True, 5)])
def test_conversations_that_wait_are_not_taken_for_damage(served: bool, silent: int) -> None:
    """Of five that nothing is known of, two are conversations where no gateway serves them."""
    cohorts = [
        Cohort(
            source=source, state=Open.OPEN, end_reason=None, age=4, sessions=sessions, messages=0,
            bytes=0, oldest=NOW, newest=NOW,
        )
        for source, sessions in (("cli", 90), ("cron", 5), ("telegram", 1), ("api_server", 1))
    ]  # fmt: skip
    found = totals(cohorts, {"leaked": 92, "unproven": 5}, served=served)
    assert (found.open, found.leaked, found.silent, found.api) == (97, 92, silent, 1)


def test_trivial_sessions_are_told_when_they_are_many() -> None:
    totals = Totals(sessions=3049)
    told = found(totals=totals, small=Small(300, 2052, 1900))["trivial"]
    assert told.count == 2052
    golden("findings", "trivial sessions", told.words)
    assert told.repair == "sexton gc --home work"
    assert found(totals=totals, small=Small(10, 500, 500)) == {}


def test_files_are_told_by_what_became_of_their_session() -> None:
    owners = {"open": State(False, "cli"), "over": State(True, "cli"), "c": State(True, "cron")}
    day = timedelta(days=1)
    files = (
        file("session_open.json", "open", 1),
        file("session_over.json", "over", 20, 2 * day),
        file("session_c.json", "c", 300, 8 * day),
        file("request_dump_over_20260101_000000_000000.json", "over", 4000),
        file("session_gone.json", "gone", 50_000, timedelta(hours=2)),
        file("sessions.json", None, 1),
    )
    told = found(owners=owners, files=files)
    assert {code: (each.count, each.bytes) for code, each in told.items()} == {
        "orphan_files": (1, 0), "request_dumps": (1, 0), "stale_files": (2, 300),
    }  # fmt: skip
    for code in ("stale_files", "orphan_files"):
        golden("findings", code, "\n".join((told[code].words, *told[code].details)))
    at_once = Retention(general=RetentionClass(database_only=True))
    told = found(owners=owners, files=files, ours=Rulebook(retention=at_once))
    assert {code: each.bytes for code, each in told.items()} == {
        "orphan_files": 0, "request_dumps": 4000, "stale_files": 320,
    }  # fmt: skip


def test_a_reset_held_back_names_the_processes_and_their_age(tmp_path: Path) -> None:
    started = (NOW - timedelta(hours=20)).timestamp()
    servers = (
        Background(552, "python3 -m http.server 8765", KEY, started),
        Background(1863, "python3 -m http.server 8766", "s1", started),
        Background(9, "make", "another", started),
    )
    told = found(tmp_path, config=BOTH, routes=(route(timedelta(hours=36)),), processes=servers)
    assert set(told) == {"held"}
    assert [word for word in told["held"].repair.split() if word.isdigit()] == ["552", "1863"]
    assert [each.partition(",")[0] for each in told["held"].details] == ["pid 552", "pid 1863"]
    golden("findings", "a reset held back", "\n".join((told["held"].words, *told["held"].details)))


def test_a_reset_that_waits_for_a_process_at_work_is_no_forgotten_one(tmp_path: Path) -> None:
    """Until its time is over: then it is Hermes alone that waits for it."""
    began = (NOW - timedelta(hours=20)).timestamp()
    build = Background(7, "make world", KEY, began, doing=Doing.WORKING)
    late = route(timedelta(hours=3))
    told = found(tmp_path, config=BOTH, routes=(late,), processes=(build,))
    assert set(told) == {"waiting"}
    assert told["waiting"].level is Level.HINT
    assert "pid 7, 20 h: make world" in told["waiting"].details
    brief = Rulebook(processes=ProcessPolicy(ttl=timedelta(hours=1)))
    told = found(tmp_path, config=BOTH, routes=(late,), processes=(build,), ours=brief)
    assert set(told) == {"held"}
    old = build._replace(started_at=(NOW - timedelta(days=3)).timestamp())
    assert found(tmp_path, config=BOTH, processes=(old,)) == {}


def test_a_process_beyond_the_guards_time_holds_nothing_and_is_told_as_forgotten(
    tmp_path: Path,
) -> None:
    old = Background(552, "serve", KEY, (NOW - timedelta(days=3)).timestamp())
    told = found(tmp_path, config=BOTH, routes=(route(timedelta(hours=36)),), processes=(old,))
    assert set(told) == {"expired", "processes"}
    for_ever = BOTH.replace("mode", "bg_process_max_age_hours: 0, mode")
    told = found(tmp_path, config=for_ever, routes=(route(timedelta(hours=36)),), processes=(old,))
    assert set(told) == {"held"}


def test_before_there_was_a_time_limit_any_process_holds_a_reset_back(tmp_path: Path) -> None:
    old = Background(552, "serve", KEY, (NOW - timedelta(days=3)).timestamp())
    told = found(
        tmp_path, config=BOTH, routes=(route(timedelta(hours=36)),), processes=(old,),
        storage=Storage(schema=11),
    )  # fmt: skip
    assert set(told) == {"held"}


def test_expired_conversations_are_told_unless_finalized_or_ended(tmp_path: Path) -> None:
    late, fresh = timedelta(hours=9), timedelta(minutes=5)
    routes = (
        route(late), route(late, session="f", finalized=True), route(late, session="e"),
        route(fresh, session="n"), route(late, session="two", key="agent:main:x:dm:8"),
    )  # fmt: skip
    told = found(tmp_path, config=BOTH, routes=routes, ended=frozenset({"e"}))
    assert told["expired"].count == 2
    assert told["expired"].repair == "hermes gateway start"
    told = found(tmp_path, config=BOTH, routes=routes, gateway=77)
    assert told["expired"].count == 3
    assert told["expired"].repair == "sexton keep"
    assert found(tmp_path, config="", routes=routes) == {}


def test_failing_compressions_are_told_with_their_errors() -> None:
    failed = (Compression("a", "timed out after 240 s", 1), Compression("b", None, 3))
    told = found(compressions=failed)["compression"]
    assert told.count == 2
    golden("findings", "failing compressions", "\n".join((told.words, *told.details)))


def test_the_database_as_a_file_is_looked_at() -> None:
    storage = Storage(
        version=(3, 40, 1), bytes=100_000_000, wal_bytes=90_000_000, free_bytes=40_000_000
    )
    told = found(storage=storage)
    assert set(told) == {"unused_pages", "long_log", "old_sqlite"}
    assert told["unused_pages"].bytes == 40_000_000
    assert "3.40.1" in told["old_sqlite"].words


@pytest.mark.parametrize(
    ("version", "mended"),
    [
        ((3, 40, 1), False), ((3, 44, 5), False), ((3, 44, 6), True), ((3, 45, 0), False),
        ((3, 50, 6), False), ((3, 50, 7), True), ((3, 51, 2), False), ((3, 51, 3), True),
        ((3, 54, 1), True), ((0, 0, 0), True),
    ],
)  # fmt: skip
def test_each_line_of_sqlite_is_mended_from_its_own_release_on(
    version: tuple[int, int, int], mended: bool
) -> None:
    assert is_mended(version) is mended


def test_routes_are_read_with_the_machines_own_time_and_the_broken_left_out() -> None:
    whole = {"session_key": KEY, "session_id": "s", "updated_at": "2026-05-20T12:00:00"}
    entries: list[Any] = [
        whole,
        None,
        [],
        {},
        whole | {"updated_at": "soon"},
        whole | {"session_id": 3},
    ]
    (only,) = routes_in(entries, "Europe/Berlin")
    assert only.used_at == datetime(2026, 5, 20, 10, tzinfo=UTC)
    (flushed,) = routes_in([whole | {"memory_flushed": True}], "UTC")
    assert flushed.finalized
