"""Is every answer of the API what its own description says: no name less, and none more?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from schemathesis import BaseSchema
from schemathesis.checks import response_schema_conformance

from sexton.testing import ManualClock
from sexton.wiring.choosing_ledger import load_settings
from tests.surface.web_site import Served, serving

pytestmark = pytest.mark.slow

WAITING = [sys.executable, "-c", "import signal; signal.pause()"]
SETTINGS = {
    "reset": {"mode": "idle", "idle_minutes": 60, "at_hour": 4},
    "finalizers": [
        {"name": "hook", "kind": "webhook", "url": "http://127.0.0.1:9/", "sources": ["telegram"]}
    ],
}
AS_TEXT = ("/metrics", "/v1/events")
EMPTY = {
    "/v1/plan": {"held", "observed", "troubles"},
    "/v1/budgets": {"items"},
    "/v1/findings": {"items"},
    "/v1/leaks": {"shadow"},
    "/v1/notifications": {"items"},
}
"""The lists that nothing is in: a plan that nothing holds back, of homes that can be read; no
budget of the day, no foreign home, no sweep that counted, nobody told.
"""


@contextmanager
def full_site(place: Path, clock: ManualClock) -> Iterator[tuple[Served, list[str]]]:
    """A site with something of every kind, and sessions that have it."""
    file = place / "sexton.yaml"
    file.write_text(json.dumps(SETTINGS), encoding="utf-8")
    with serving(str(place / "ledger.db"), place, clock, load_settings(file, {})) as site:
        site.house.publish()
        site.house.rules(None)
        removed = site.talk("garbage", "hello", source="cli")
        clock.advance(30 * 86_400)
        site.house.apply(site.house.plan(gc=True), "receipt-1")
        with site.house.worker() as worker:
            done = worker.session("done", source="telegram")
            done.append(role="user", content="hello")
            done.end()
        idle = site.talk("idle", "hello", source="telegram")
        clock.advance(2 * 3600)
        site.house.sweep()
        site.talk("due", "hello", source="web")
        clock.advance(2 * 3600)
        with site.house.worker() as worker:
            held = worker.session("held", source="telegram")
            held.append(role="user", content="hello")
            child = worker.session("child", source="sub", parent=held.id, relation="subagent")
            running = held.spawn(WAITING)
            try:
                with held.turn() as turn:
                    asked = turn.reserve(input_tokens=9, max_output_tokens=1)
                    asked.commit(input_tokens=8, output_tokens=1)
                    yield site, [held.id, child.id, done.id, idle, removed]
            finally:
                running.popen.kill()
                running.popen.wait()


def closed(described: Any) -> Any:
    """The same description, by which nothing may be sent that it does not name."""
    if isinstance(described, list):
        return [closed(each) for each in described]
    if not isinstance(described, dict):
        return described
    more = {"additionalProperties": False} if "properties" in described else {}
    return {name: closed(each) for name, each in described.items()} | more


def conforming(api: BaseSchema, site: Served, path: str, method: str = "GET", **sent: Any) -> Any:
    """The answer of a path, which is as it is described."""
    case = api[path][method].Case(**sent)
    reply = case.call(headers={"Authorization": f"Bearer {site.token}"})
    assert reply.status_code == 200, reply.text
    case.validate_response(reply, checks=[response_schema_conformance])
    return reply.json()


def test_every_answer_has_the_names_of_its_description_and_no_others(
    tmp_path: Path, manual_clock: ManualClock
) -> None:
    with full_site(tmp_path, manual_clock) as (site, sessions):
        described = closed(site.get("/v1/openapi.json").json())
        api = schemathesis.openapi.from_dict(described)
        api.config.update(base_url=site.origin)
        for path, methods in described["paths"].items():
            if "get" not in methods or path in AS_TEXT or path.startswith("/v1/plan/"):
                continue
            names = [{"id": each} for each in sessions] if "{id}" in path else [{}]
            told = [conforming(api, site, path, path_parameters=each) for each in names]
            lists = {name for name, value in told[0].items() if isinstance(value, list)}
            empty = {name for name in lists if not any(each[name] for each in told)}
            assert empty == EMPTY.get(path, set()), path  # else nothing was checked of what is in
        held = conforming(api, site, "/v1/sessions/{id}", path_parameters={"id": sessions[0]})
        (listed,) = conforming(api, site, "/v1/processes")["items"]
        (beside,) = held["processes"]
        assert beside["holds_until"] == listed["holds_until"]  # by the reset of its session
        plan = conforming(api, site, "/v1/plan")
        done = conforming(api, site, "/v1/apply", "POST", body=plan)  # the whole, as it was shown
        assert done["outcomes"]
        undone = conforming(api, site, "/v1/undo", "POST", body=done["undo"])
        assert undone["opened_again"] == 1
        pin = conforming(api, site, "/v1/plan/pin", query={"session": sessions[0]})
        conforming(api, site, "/v1/apply", "POST", body={"digest": pin["digest"]})
        conforming(api, site, "/v1/undo", "POST", body={"receipt": "receipt-1"})
        conforming(api, site, "/v1/links", "POST")
