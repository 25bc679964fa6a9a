"""What does the API answer? Asked of a real server, on both engines where it matters."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.keeper.sealing import digest_of
from sexton.processes.model import Ending
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.settings.settings_values import Settings
from sexton.testing import ManualClock
from tests.scenario.process_programs import lives
from tests.surface.web_site import HOST, PATIENCE, Served, serving

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202eevil"


@pytest.fixture
def site(new_file: Path, tmp_path: Path) -> Iterator[Served]:
    with serving(str(new_file), tmp_path) as served:
        yield served


@pytest.fixture
def any_site(engine_url: str, tmp_path: Path) -> Iterator[Served]:
    with serving(engine_url, tmp_path) as served:
        yield served


def events(site: Served, least: int, after: str | None = None) -> list[dict[str, str]]:
    """The first events that a listener is told of."""
    found: list[dict[str, str]] = []
    more = f"Last-Event-ID: {after}\r\n" if after else ""
    request = (
        f"GET /v1/events HTTP/1.1\r\nHost: {HOST}:{site.port}\r\n"
        f"Authorization: Bearer {site.token}\r\n{more}\r\n"
    )
    with socket.create_connection((HOST, site.port), timeout=PATIENCE) as opened:
        opened.sendall(request.encode())
        with opened.makefile("r", encoding="utf-8") as lines:
            event: dict[str, str] = {}
            for line in lines:
                name, _, value = line.strip().partition(": ")
                if name in ("id", "event", "data"):
                    event[name] = value
                elif event and not line.strip():
                    found.append(event)
                    event = {}
                    if len(found) >= least:
                        return found
    raise AssertionError(f"the stream ended after {found}")


def test_sessions_are_listed_in_pages_and_shown_with_why(any_site: Served) -> None:
    site = any_site
    ids = [site.talk(f"key {number}", "hello") for number in range(5)]
    first = site.get("/v1/sessions?limit=3").json()
    second = site.get(f"/v1/sessions?limit=3&after={first['next']}").json()
    assert [each["id"] for each in first["items"] + second["items"]] == ids[::-1]
    assert second["next"] is None
    shown = site.get(f"/v1/sessions/{ids[0]}").json()
    assert (shown["id"], shown["verdict"], shown["message_count"]) == (ids[0], "waiting", 1)
    assert site.get(f"/v1/sessions/native/{ids[0]}").json()["id"] == ids[0]
    why = site.get(f"/v1/sessions/{ids[0]}/why").json()
    assert why["answers"][0]["question"] == "state"
    missing = site.get("/v1/sessions/nowhere")
    assert (missing.status, missing.json()["error"]) == (404, "SessionNotFound")
    assert missing.headers["content-type"] == "application/problem+json"


def test_activity_is_answered_with_304_while_nothing_changes(
    engine_url: str, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with serving(engine_url, tmp_path, manual_clock) as site, site.house.worker() as worker:
        session = worker.session("talk", source="telegram")
        with session.turn():
            reply = site.get("/v1/activity")
            (told,) = reply.json()["sessions"]
            assert (told["id"], told["home"], told["source"]) == (session.id, "native", "telegram")
            assert (told["verdict"], told["busy"], told["worker"]) == ("live", True, worker.id)
            assert told["host"] == site.house.processes.myself().host
            tag = reply.headers["etag"]
            manual_clock.advance(60)
            assert site.get("/v1/activity", If_None_Match=tag).status == 304
        assert site.get("/v1/activity", If_None_Match='"other"').status == 200
        manual_clock.advance(60)
        changed = site.get("/v1/activity", If_None_Match=tag)
        assert (changed.status, changed.json()["sessions"][0]["busy"]) == (200, False)


def test_the_same_activity_has_the_same_tag_and_a_change_another(
    new_file: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with serving(str(new_file), tmp_path, manual_clock) as site:
        site.talk("one", "hello")
        tag = site.get("/v1/activity").headers["etag"]
        manual_clock.advance(60)
        unchanged = site.get("/v1/activity", If_None_Match=f'"x", W/{tag}')
        assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", tag)
        site.talk("two", "hello")
        assert site.get("/v1/activity", If_None_Match=tag).status == 304  # a moment is good enough
        manual_clock.advance(60)
        assert site.get("/v1/activity", If_None_Match=tag).status == 200


def test_of_two_tabs_that_end_a_session_the_second_is_told_that_it_was_skipped(
    any_site: Served,
) -> None:
    site = any_site
    id = site.talk("talk", "hello")
    shown = [site.get(f"/v1/plan/end?session={id}").json() for _ in range(2)]
    assert shown[0]["actions"][0]["reason"]["code"] == "closed"
    first, second = (site.post("/v1/apply", {"digest": each["digest"]}).json() for each in shown)
    assert (first["done"], first["outcomes"][0]["result"]) == (1, "done")
    assert first["undo"] == {"verb": "undo", "receipt": first["receipt"]}
    assert (second["done"], second["outcomes"][0]["result"]) == (0, "skipped")
    assert site.get(f"/v1/sessions/{id}").json()["end_reason"] == "closed"
    assert site.get(f"/v1/plan/end?session={id}").status == 409
    undone = site.post("/v1/undo", first["undo"]).json()
    assert (undone["opened_again"], undone["verb"]) == (1, "undo")
    assert site.get(f"/v1/sessions/{id}").json()["state"] == "open"
    for receipt in (first["receipt"], undone["receipt"]):
        refused = site.post("/v1/undo", {"receipt": receipt})
        assert (refused.status, refused.json()["error"]) == (404, "NothingToUndo")
    assert "'sexton plan'" in refused.json()["hint"], "an undo is not undone itself"


def test_a_plan_is_applied_as_it_was_shown_or_not_at_all(site: Served) -> None:
    id = site.talk("talk", "hello")
    shown = site.get(f"/v1/plan/reset?session={id}").json()
    edited = json.loads(json.dumps(shown))
    edited["actions"][0]["reason"]["code"] = "other"
    refused = site.post("/v1/apply", edited)
    assert (refused.status, refused.json()["error"]) == (422, "PlanEdited")
    assert site.post("/v1/apply", {"digest": "sha256:unknown"}).status == 422
    assert site.post("/v1/apply", shown).json()["done"] == 1
    assert site.get(f"/v1/sessions/{id}").json()["end_reason"] == "reset"


def test_what_is_sent_back_whole_is_done_only_with_the_key_of_the_ledger(any_site: Served) -> None:
    site = any_site
    key = site.house.ledger.plan_key()
    for action in ("end", "pin"):
        id = site.talk(f"talk {action}", "hello")
        shown = site.get(f"/v1/plan/{action}?session={id}").json()
        content = {name: value for name, value in shown.items() if name != "digest"}
        assert shown["digest"] == digest_of(content, key)
        forged = content | {"digest": digest_of(content, b"a guess")}
        assert site.post("/v1/apply", forged).status == 422
        assert site.get(f"/v1/sessions/{id}").json()["state"] == "open"
        assert site.post("/v1/apply", shown).json()["done"] == 1


def test_an_end_that_this_site_never_showed_is_not_done_even_with_the_key(
    any_site: Served,
) -> None:
    site = any_site
    id = site.talk("talk", "hello")
    content = site.get(f"/v1/plan/end?session={id}").json() | {"id": "another"}
    del content["digest"]
    forged = content | {"digest": digest_of(content, site.house.ledger.plan_key())}
    told = site.post("/v1/apply", forged).json()
    assert (told["done"], told["skipped"]) == (0, 1)
    assert site.get(f"/v1/sessions/{id}").json()["state"] == "open"


def test_no_answer_holds_the_key_that_signs_plans(any_site: Served) -> None:
    site = any_site
    site.talk("talk", "hello")
    key = site.house.ledger.plan_key().hex().encode()
    paths = (
        "v1/plan",
        "v1/overview",
        "v1/settings",
        "v1/homes",
        "v1/workers",
        "metrics",
        "healthz",
    )
    for path in (*paths, "plan", "settings", ""):
        assert key not in site.get(f"/{path}").body, path


def test_looking_at_a_plan_again_keeps_nothing_more(
    new_file: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    rules = Rulebook(reset=ResetPolicy(mode=Mode.IDLE))
    with serving(str(new_file), tmp_path, manual_clock, Settings(rulebook=rules)) as site:
        site.house.publish()
        for number in range(40):
            site.talk(f"key {number}", "hello")
        manual_clock.advance(timedelta(days=30))
        first = site.get("/v1/plan").json()
        assert len(first["actions"]) == 40
        size = site.desk.proposals.size
        shown = [site.get("/v1/plan").json()["digest"] for _ in range(20)]
        assert len(set(shown)) == 20
        assert site.desk.proposals.size < size + 20 * 1_500
        assert site.post("/v1/apply", {"digest": first["digest"]}).json()["done"] == 40


def test_pinning_is_shown_done_and_undone(site: Served) -> None:
    id = site.talk("talk", "hello")
    shown = site.get(f"/v1/plan/pin?session={id}").json()
    done = site.post("/v1/apply", {"digest": shown["digest"]}).json()
    assert (done["done"], done["undo"]["verb"]) == (1, "unpin")
    assert site.get(f"/v1/sessions/{id}").json()["pinned"] is True
    again = site.post("/v1/apply", {"digest": shown["digest"]}).json()
    assert (again["skipped"], again["outcomes"][0]["result"]) == (1, "skipped")
    entries = site.get(f"/v1/journal?receipt={done['receipt']}").json()["items"]
    assert [each["action"] for each in entries] == ["pin"]


def test_a_stop_says_what_it_spares_and_spares_it(site: Served) -> None:
    with site.house.worker() as worker:
        session = worker.session("talk", source="telegram")
        command = ["sh", "-c", "sleep 600 & echo $!; wait"]
        with session.spawn(command, stdout=subprocess.PIPE) as child:
            assert child.popen.stdout
            with child.popen.stdout as said:
                below = session.register_process(int(said.readline()))
            site.house.ledger.registry.keep(below.ref, True, site.house.clock.now())
            try:
                path = f"/v1/plan/stop_process?process={child.process.ref}"
                shown = site.get(path).json()
                steps = {each["what"]: each for each in shown["actions"][0]["steps"]}
                stops, spares = (
                    next(step for what, step in steps.items() if what.startswith(f"pid {pid}:"))
                    for pid in (child.pid, below.identity.pid)
                )
                assert (stops["verb"], spares["verb"]) == ("stop", Ending.SPARED)
                done = site.post("/v1/apply", {"digest": shown["digest"]}).json()
                assert (done["done"], done["undo"]) == (1, None)
                detail = done["outcomes"][0]["detail"]
                assert f"1 {Ending.TERM}" in detail
                assert f"1 {Ending.SPARED}" in detail
                assert lives(below.identity.pid)
            finally:
                os.kill(below.identity.pid, signal.SIGKILL)
                child.wait(PATIENCE)


def test_garbage_goes_to_the_trash_and_comes_back(
    new_file: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with serving(str(new_file), tmp_path, manual_clock) as site:
        id = site.talk("talk", "hello")
        with site.house.worker() as worker:
            worker.session("talk", source="telegram").end("closed")
        manual_clock.advance(timedelta(days=30))
        before = site.get(f"/v1/sessions/{id}").json()["state"]
        plan = site.house.plan(gc=True)
        done = site.house.apply(plan, "receipt-1")
        assert [each.result for each in done] == ["done"]
        assert site.get(f"/v1/sessions/{id}").json()["state"] == "trashed"
        (file,) = site.get("/v1/vault?kind=trash").json()["items"]
        assert file["receipt"] == "receipt-1"
        undone = site.post("/v1/undo", {"receipt": "receipt-1"}).json()
        assert [each["sessions"] for each in undone["files"]] == [1]
        assert site.get(f"/v1/sessions/{id}").json()["state"] == before
        assert site.post("/v1/undo", {"receipt": "receipt-1"}).status == 404


def test_events_are_told_with_ids_and_resumed(any_site: Served) -> None:
    site = any_site
    ended = [site.talk(f"key {number}", "hello", source="cli") for number in range(3)]
    told = events(site, 3, after="0")
    assert [json.loads(each["data"])["session"] for each in told] == ended
    resumed = events(site, 2, after=told[0]["id"])
    assert [each["id"] for each in resumed] == [each["id"] for each in told[1:]]
    fresh = events(site, 1)
    assert fresh[0]["event"] == "ready"


def test_messages_are_text_in_pages(site: Served) -> None:
    id = site.talk("talk", "one", HOSTILE, "x" * 50_000)
    first = site.get(f"/v1/sessions/{id}/messages?limit=2").json()
    assert [each["text"] for each in first["items"]] == ["one", HOSTILE]
    rest = site.get(f"/v1/sessions/{id}/messages?after={first['next']}").json()
    assert (rest["items"][0]["characters"], len(rest["items"][0]["text"])) == (50_000, 20_000)
    assert rest["next"] is None


def test_the_overview_and_its_history_count_what_is_there(site: Served) -> None:
    site.talk("talk", "hello")
    site.house.sweep()
    shown = site.get("/v1/overview").json()
    assert (shown["open"], shown["waiting"], shown["leaked"]) == (1, 1, 0)
    lines = site.get("/v1/history?span=1d").json()["lines"]
    assert lines["waiting"][-1]["value"] == 1
    assert lines["dead_letters"][-1]["value"] == 0
    for path in ("homes", "workers", "processes", "finalizers", "settings"):
        assert site.get(f"/v1/{path}").status == 200


def test_metrics_say_how_it_does_and_nothing_that_was_said(site: Served) -> None:
    id = site.talk("a secret key", "a secret word")
    with site.house.worker() as worker:
        keeper = site.house.keeper(worker, watchful=False)
        site.desk.sweeps.add(keeper.sweep())
        keeper.close()
    text = site.get("/metrics").body.decode()
    for line in (
        'sexton_sessions{home="native",state="open"} 1.0',
        'sexton_open_sessions{home="native",verdict="waiting"} 1.0',
        'sexton_leak_ratio{home="native"} 0.0',
        "sexton_sweep_seconds_count 1.0",
        "sexton_reap_latency_seconds_count 0.0",
        "sexton_dead_letters 0.0",
        "sexton_reclaimed_bytes_total 0.0",
    ):
        assert line in text
    assert "sexton_ledger_bytes " in text
    assert "secret" not in text
    assert id not in text


def test_a_ledger_that_is_gone_is_told_as_503(new_file: Path, tmp_path: Path) -> None:
    with serving(str(new_file), tmp_path) as site:
        assert site.ask("/healthz").status == 200
        hidden = tmp_path / "hidden.db"
        os.replace(new_file, hidden)
        for path in ("/healthz", "/v1/sessions", "/v1/plan"):
            reply = site.get(path)
            assert (reply.status, reply.json()["error"]) == (503, "LedgerGone")
            assert reply.headers["retry-after"]
        (told,) = events(site, 1, after="0")
        assert told["event"] == "trouble"
        os.replace(hidden, new_file)
        assert site.get("/v1/sessions").status == 200


def test_a_clock_that_was_set_back_changes_no_answer(
    new_file: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with serving(str(new_file), tmp_path, manual_clock) as site:
        id, cookie = site.talk("talk", "hello"), site.cookie
        manual_clock.set(manual_clock.now() - timedelta(days=2))
        assert site.ask("/v1/sessions", Cookie=cookie).status == 200
        shown = site.get("/v1/sessions?active_within=1h").json()["items"]
        assert [each["id"] for each in shown] == [id]
        assert "sexton_last_sweep_age_seconds -" not in site.get("/metrics").body.decode()
