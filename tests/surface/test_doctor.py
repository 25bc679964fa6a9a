"""`sexton doctor`: first figures of a real Hermes home and of our own sessions."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sexton.cli.examination import STILL_OPEN
from sexton.core.clock import SystemClock
from sexton.core.session import Session, State
from sexton.homes.home_ports import Sighting
from tests.golden import golden
from tests.scenario.hermes_home import HermesScene
from tests.surface.holding import holder
from tests.surface.program import Cli


@pytest.fixture
def damaged(scene: HermesScene) -> HermesScene:
    """A home with open and ended sessions of several sources, and files beside the database."""
    for number in range(3):
        scene.start(f"cli-{number}", "cli")
        scene.say(f"cli-{number}", "hello")
    scene.say("cli-0", "once more")
    scene.end("cli-0")
    scene.start("cron-1", "cron")
    scene.ask("end_session", "cron-1", "cron_complete")
    folder = scene.path / "sessions"
    folder.mkdir()
    (folder / "session_cli-0.json").write_text("{}")
    (folder / "session_cli-1.json").write_text("{}")
    (folder / "request_dump_cli-0_1.json").write_text("x" * 1000)
    (folder / "cli-0.jsonl").write_text("{}\n")
    return scene


def home_of(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """The report of one home."""
    (found,) = [home for home in answer["homes"] if home["name"] == name]
    assert isinstance(found, dict)
    return found


def parts(out: str, first: int, last: int) -> str:
    """Some of the paragraphs of a report, which end where the sizes of the ledger are told."""
    return "\n\n".join(out.split("\n\n")[first:last])


def test_a_hermes_home_is_examined_without_being_changed(
    any_cli: Cli, damaged: HermesScene
) -> None:
    damaged.close()
    before = damaged.stamps()
    answer = any_cli("doctor", str(damaged.path), "--json").json()
    assert damaged.stamps() == before
    home = home_of(answer, "hermes")
    assert (home["sessions"], home["open"], home["ended"]) == (4, 2, 2)
    assert home["open_share"] == 0.5
    assert home["open_by"] == {"live": 0, "waiting": 0, "leaked": 2, "unproven": 0}
    assert home["messages"] == 4
    assert {each["reason"]: each["sessions"] for each in home["end_reasons"]} == {
        STILL_OPEN: 2, "cli_close": 1, "cron_complete": 1,
    }  # fmt: skip
    assert {each["source"]: each["open"] for each in home["sources"]} == {"cli": 2, "cron": 0}
    assert home["disk"]["database_bytes"] > 0
    assert home["disk"]["files"]["snapshots"] == {"files": 2, "bytes": 4}
    assert home["disk"]["files"]["request_dumps"]["bytes"] == 1000
    assert home["oldest"] <= home["newest"]
    assert answer["keeper"]["last_sweep"] is None
    assert answer["keeper"]["notice"]


def test_a_person_reads_the_same_figures(cli: Cli, damaged: HermesScene) -> None:
    damaged.sql("UPDATE sessions SET started_at = started_at - 864000")
    damaged.sql("UPDATE messages SET timestamp = timestamp - 864000")
    answer = cli("doctor", str(damaged.path))
    assert answer.code == 0
    golden("doctor", "figures of a Hermes home", parts(answer.out, 0, 5) + "\n\n" + answer.err)


def test_a_home_once_seen_is_known_by_name_and_path(cli: Cli, damaged: HermesScene) -> None:
    cli.ok("doctor", str(damaged.path))
    damaged.start("later", "cli")
    by_name = cli("sessions", "list", "--home", "hermes", "--json").items()
    assert len(by_name) == 4
    by_path = cli("sessions", "list", "--home", str(damaged.path), "--json").items()
    assert len(by_path) == 5
    assert {each["home"] for each in by_path} == {"hermes"}
    whole = cli("doctor", "--json").json()
    assert [home["name"] for home in whole["homes"]] == ["native", "hermes"]
    assert home_of(whole, "hermes")["sessions"] == 5
    assert cli("why", "hermes/cli-1", "--json").json()["session"]["id"] == "cli-1"
    assert cli("plan", "--home", "hermes", "--json").json()["actions"] == []


def test_a_home_named_by_a_bare_directory_is_observed_too(
    cli: Cli, damaged: HermesScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(damaged.path.parent)
    assert len(cli("sessions", "list", "--home", "hermes", "--json").items()) == 4


def test_homes_of_the_settings_are_told_even_where_they_are_not_there(
    cli: Cli, damaged: HermesScene, tmp_path: Path
) -> None:
    file = tmp_path / "homes.yaml"
    file.write_text(
        f"homes:\n  - path: {damaged.path}\n    name: work\n  - path: {tmp_path}/gone\n"
    )
    told = cli("doctor", "--json", "--config", str(file)).json()
    assert [home["name"] for home in told["homes"]] == ["native", "work", "gone"]
    assert home_of(told, "work")["sessions"] == 4
    assert home_of(told, "gone")["trouble"]
    assert home_of(told, "gone")["sessions"] == 0


def test_a_new_home_can_be_listed_and_planned_by_its_path_alone(
    cli: Cli, damaged: HermesScene
) -> None:
    listed = cli("sessions", "list", "--home", str(damaged.path), "--json").items()
    assert len(listed) == 4
    assert cli("plan", "--home", str(damaged.path)).code == 0


def test_sessions_of_an_observed_home_are_not_changed_by_hand(
    cli: Cli, damaged: HermesScene
) -> None:
    cli.ok("doctor", str(damaged.path))
    damaged.close()
    before = damaged.stamps()
    for command in (["end", "cli-1", "--yes"], ["reset", "cli-1"], ["pin", "cli-1"]):
        assert cli("sessions", *command).code == 53
    assert cli("sessions", "export", "cli-1").code == 62
    assert damaged.stamps() == before


def test_a_home_that_went_away_is_told_and_its_facts_stay(cli: Cli, damaged: HermesScene) -> None:
    copy = damaged.path.with_name("copy")
    damaged.close()
    shutil.copytree(damaged.path, copy)
    cli.ok("doctor", str(copy))
    shutil.rmtree(copy)
    home = home_of(cli("doctor", "--json").json(), "copy")
    assert str(copy) in home["trouble"]
    assert home["sessions"] == 4
    told = parts(cli.ok("doctor"), 1, 2)
    golden("doctor", "a home went away", "\n".join(told.splitlines()[:2]))
    assert cli("sessions", "list", "--home", str(copy)).code == 50


@pytest.mark.parametrize("place", ["nowhere", "."])
def test_what_is_no_home_is_refused(cli: Cli, tmp_path: Path, place: str) -> None:
    error = cli("doctor", str(tmp_path / place), "--json").error()
    assert (error["exit_code"], bool(error["hint"])) == (50, True)


def test_our_own_sessions_are_told_apart_by_who_holds_them(any_cli: Cli) -> None:
    any_cli.talk("waiting", "hello")
    with any_cli.opened() as opened, opened.worker() as worker:
        worker.session("held", source="telegram").append(role="user", content="x")
        home = home_of(any_cli("doctor", "--json").json(), "native")
        assert home["open_by"] == {"live": 1, "waiting": 1, "leaked": 0, "unproven": 0}


def test_a_session_is_leaked_from_its_holders_death_until_the_next_sweep(any_cli: Cli) -> None:
    with holder(any_cli.url, "a", "telegram") as (process, _), holder(any_cli.url, "b", "cli"):
        process.kill()
        process.wait()
        home = home_of(any_cli("doctor", "--json").json(), "native")
        assert home["open_by"] == {"live": 1, "waiting": 0, "leaked": 1, "unproven": 0}
        any_cli.ok("keep", "--once")
        home = home_of(any_cli("doctor", "--json").json(), "native")
        assert home["open_by"] == {"live": 1, "waiting": 1, "leaked": 0, "unproven": 0}


@pytest.mark.usefixtures("still")
def test_ages_of_the_open_and_the_biggest_sessions_are_told(
    any_cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTON_SERVE__MESSAGES", "true")  # a shared ledger hides it else
    small = any_cli.talk("small", "x")
    big = any_cli.talk("big", "x" * 5000, "y", title="a big one")
    ended = any_cli.talk("ended", "x" * 700, source="cli", title="one that has ended")
    home = home_of(any_cli("doctor", "--json").json(), "native")
    assert home["open_ages"] == [
        {"under": "1h", "sessions": 2},
        *({"under": under, "sessions": 0} for under in ("24h", "7d", "30d", None)),
    ]
    assert [each["session"] for each in home["biggest"]] == [big, ended, small]
    assert {name: home["biggest"][0][name] for name in ("source", "state", "messages")} == {
        "source": "telegram", "state": "open", "messages": 2,
    }  # fmt: skip
    assert home["biggest"][0]["bytes"] >= 5001
    assert home["shadow"] is None
    golden("doctor", "figures of our own sessions", parts(any_cli.ok("doctor"), 0, 5))


@pytest.mark.usefixtures("still")
def test_every_figure_of_a_home_is_counted_over_all_its_sessions(any_cli: Cli) -> None:
    now = SystemClock().now()
    ages = [timedelta(minutes=5), *[timedelta(hours=3)] * 2, *[timedelta(days=3)] * 3]
    ages += [timedelta(days=10), *[timedelta(days=90)] * 5]
    still_open = [
        seen(f"open {place}", now - age, source="cli" if place % 4 else "telegram", byte_count=1)
        for place, age in enumerate(ages)
    ]
    ended = [
        seen(f"ended {place}", now - timedelta(days=9), end_reason=reason, byte_count=1000 * place)
        for place, reason in enumerate(["cli_close"] * 7 + ["reaped:process_gone"])
    ]
    with any_cli.opened() as opened:
        home = opened.ledger.homes.attach("far", "hermes", "/far", "elsewhere", False)
        opened.ledger.homes.store(home, Sighting(seen=(*still_open, *ended), mark={}), None, now)
    told = home_of(any_cli("doctor", "--json").json(), "far")
    assert (told["sessions"], told["open"], told["ended"], told["open_share"]) == (20, 12, 8, 0.6)
    assert told["open_by"] == {"live": 0, "waiting": 0, "leaked": 0, "unproven": 12}
    assert [each["sessions"] for each in told["open_ages"]] == [1, 2, 3, 1, 5]
    assert [tuple(each.values()) for each in told["end_reasons"]] == [
        (STILL_OPEN, 12, 0.6), ("cli_close", 7, 0.35), ("reaped:process_gone", 1, 0.05),
    ]  # fmt: skip
    assert [tuple(each.values()) for each in told["sources"]] == [
        ("cli", 17, 0.85, 9), ("telegram", 3, 0.15, 3),
    ]  # fmt: skip
    assert [each["session"] for each in told["biggest"]] == [
        f"far/ended {place}" for place in (7, 6, 5, 4, 3)
    ]
    assert told["bytes"] == 12 + 28_000
    golden("doctor", "figures of a home on another host", parts(any_cli.ok("doctor"), 0, 6))


def seen(id: str, started_at: datetime, *, source: str = "cli", **facts: Any) -> Session:
    """A session as it was seen in a foreign home."""
    if "end_reason" in facts:
        facts |= {"state": State.ENDED, "ended_at": started_at}
    return Session(
        ref=0, home="far", id=id, key=None, source=source, started_at=started_at,
        active_at=started_at, **facts,
    )  # fmt: skip


def test_a_keeper_of_an_observed_home_tells_what_it_would_have_reaped_and_what_was_wrong(
    any_cli: Cli, scene: HermesScene, tmp_path: Path
) -> None:
    for id in ("left", "returns"):
        scene.start(id, "telegram")
        scene.say(id, "hello")
    scene.sql("UPDATE sessions SET started_at = started_at - 864000")
    scene.sql("UPDATE messages SET timestamp = timestamp - 864000")
    scene.start("fresh")
    plain, bound = tmp_path / "plain.yaml", tmp_path / "bound.yaml"
    plain.write_text(f"homes:\n  - path: {scene.path}\n")
    bound.write_text(f"{plain.read_text()}liveness:\n  inactivity_bound: {{telegram: 7d}}\n")

    def kept(file: Path) -> dict[str, Any]:
        any_cli.ok("keep", "--once", "--config", str(file))
        return home_of(any_cli("doctor", str(scene.path), "--json").json(), "hermes")

    def shadow() -> str:
        return any_cli.ok("doctor", str(scene.path)).splitlines()[5]

    before = scene.sql("SELECT * FROM sessions"), scene.sql("SELECT * FROM messages")
    home = kept(plain)
    assert home["shadow"] == {
        "home": "hermes", "recorded": 0, "contradicted": 0, "since": None,
    }  # fmt: skip
    assert home["open_by"] == {"live": 0, "waiting": 0, "leaked": 0, "unproven": 3}
    golden("doctor", "a keeper of an observed home has found nothing", shadow())
    for _ in range(2):
        home = kept(bound)
        assert (home["shadow"]["recorded"], home["shadow"]["contradicted"]) == (2, 0)
        assert home["open_by"] == {"live": 0, "waiting": 0, "leaked": 2, "unproven": 1}
    lines = any_cli("journal", "--json").items()
    assert sorted(each["session"] for each in lines if each["result"] == "recorded") == [
        "left", "returns",
    ]  # fmt: skip
    assert (scene.sql("SELECT * FROM sessions"), scene.sql("SELECT * FROM messages")) == before
    scene.say("returns", "I was only asleep")
    home = kept(bound)
    assert (home["shadow"]["recorded"], home["shadow"]["contradicted"]) == (2, 1)
    golden("doctor", "a keeper of an observed home was wrong once", shadow())
    assert home["shadow"]["since"][:10] in shadow()
    assert shadow() in any_cli.ok("report", "leaks")
    assert any_cli("report", "leaks", "--json").json()["shadow"] == [
        {"home": "hermes", **home["shadow"]}
    ]


def test_without_anything_to_look_at_no_ledger_is_made(cli: Cli) -> None:
    answer = cli("doctor")
    assert answer.code == 10
    golden("errors", "there is no ledger", answer.err)
    assert not Path(cli.url).exists()


def test_everything_of_ours_tells_its_size(any_cli: Cli) -> None:
    any_cli.talk("a", "hello")
    ledger = any_cli("doctor", "--json").json()["ledger"]
    assert {"sessions", "messages", "journal", "vault"} <= ledger["tables"].keys()
    assert ledger["vault"]["trash"] == {"files": 0, "bytes": 0}
    assert ledger["files"] == {"sessions": 0, "bytes": 0}
    assert 0 < ledger["disk"]["free_bytes"] <= ledger["disk"]["total_bytes"]
    *_, unused, vault = any_cli.ok("doctor").splitlines()
    _, _, held = vault.partition(": ")
    golden("doctor", "the room of a ledger", f"{unused}\n{held}")


def test_directories_that_can_not_be_used_are_told_of_and_keep_nothing_from_being_told(
    cli: Cli, damaged: HermesScene, tmp_path: Path
) -> None:
    for name in ("vault", "files"):
        (tmp_path / f"ledger.db.{name}").symlink_to(damaged.path)
    answer = cli("doctor", str(damaged.path), "--json").json()
    assert home_of(answer, "hermes")["findings"]
    assert len(answer["ledger"]["troubles"]) == 2
    golden("doctor", "directories can not be used", cli("doctor", str(damaged.path)).err)
