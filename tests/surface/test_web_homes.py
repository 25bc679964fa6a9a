"""The API and the pages answer alike for the same state of a home."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient

from sexton.core.clock import SystemClock
from sexton.core.session import Session
from sexton.homes.hermes.demo.demo_writer import write_home
from sexton.homes.home_ports import Sighting
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from tests.surface.visitor import routes_of, serving_client

LISTS = ("/v1/sessions?{home}", "/sessions?{home}")
PLANS = (
    "/v1/plan?{home}", "/plan?{home}", "/plan?what=session&{pair}", "/act/apply?{home}",
    "/v1/leaks?{home}", "/v1/findings?{home}", "/v1/vault?{home}",
    "/v1/plan/empty_trash?{home}", "/act/empty_trash?{home}",
)  # fmt: skip
GC = ("/plan?what=gc&{home}", "/v1/plan/gc?{home}", "/act/gc?{home}")
OF_RECEIPTS = ("/v1/plan/undo", "/act/undo")
ONE_SESSION = (
    "/v1/sessions/{name}", "/v1/sessions/{name}/why", "/v1/sessions/{name}/lineage",
    "/v1/journal?session={name}", "/session?{pair}", "/v1/processes?session={name}",
    "/v1/finalizers?session={name}", "/v1/budgets?session={name}",
    "/v1/plan/stop_process?session={name}", "/act/stop_process?session={name}",
    "/v1/plan/retry_finalizer?session={name}", "/act/retry_finalizer?session={name}",
    "/v1/plan/discard_finalizer?session={name}", "/act/discard_finalizer?session={name}",
)  # fmt: skip
MESSAGES = ("/v1/sessions/{name}/messages", "/session?{pair}&messages=0")
CHANGES = (
    "/v1/plan/end?session={name}", "/v1/plan/reset?session={name}",
    "/v1/plan/pin?session={name}", "/v1/plan/unpin?session={name}",
    "/act/end?session={name}", "/act/pin?session={name}", "/act/unpin?session={name}",
    "/act/reset?session={name}",
    *(
        f"{path}?session={{name}}&unit=tokens&amount=5"
        for verb in ("set_budget", "raise_budget", "clear_budget")
        for path in (f"/v1/plan/{verb}", f"/act/{verb}")
    ),
)  # fmt: skip
AWAY = ("/v1/plan/restore?session={name}", "/act/restore?session={name}")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sexton]:
    """A ledger that knows a home which is gone by now, and one of another machine."""
    tmp_path = tmp_path_factory.mktemp("homes")
    clock, place = SystemClock(), tmp_path / "gone"
    place.mkdir()
    write_home(place, clock.now(), "UTC")
    homes = (HomeSetting(path=place, name="gone"),)
    with Sexton(open_ledger(str(tmp_path / "ledger.db")), Settings(homes=homes)) as opened:
        opened.sweep()
        other = opened.ledger.homes.attach("elsewhere", "hermes", "/elsewhere", "another", False)
        now = clock.now()
        session = Session(
            ref=0, home="elsewhere", id="there", key=None, message_count=1, source="cli",
            started_at=now, active_at=now,
        )  # fmt: skip
        opened.ledger.homes.store(other, Sighting(mark={}, seen=(session,)), None, now)
        shutil.move(place, tmp_path / "moved")
        yield opened


@pytest.fixture(scope="module")
def client(house: Sexton) -> Iterator[TestClient]:
    with serving_client(house) as found:
        yield found


def asked(client: TestClient, paths: tuple[str, ...], home: str, id: str) -> set[int]:
    """The statuses of all these paths for one session of a home."""
    pair = urlencode({"home": home, "id": id})
    statuses = {
        path: client.get(path.format(home=f"home={home}", name=f"{home}/{id}", pair=pair))
        for path in paths
    }
    return {each.status_code for each in statuses.values()}


def test_every_route_that_names_a_home_is_asked_here(house: Sexton) -> None:
    names = {"home", "id", "session"}
    naming = {
        route.path.replace("{id:path}", "{name}")
        for route in routes_of(house)
        if route.methods
        and "GET" in route.methods
        and names
        & {each.name for each in (*route.dependant.query_params, *route.dependant.path_params)}
    } - {"/receipt"}  # whose id is a receipt's
    every = (*LISTS, *PLANS, *GC, *OF_RECEIPTS, *ONE_SESSION, *MESSAGES, *CHANGES, *AWAY)
    assert naming <= {each.partition("?")[0] for each in every}


def test_a_home_that_nobody_knows_is_404_everywhere(client: TestClient) -> None:
    every = (*PLANS, *GC, *ONE_SESSION, *MESSAGES, *CHANGES, *AWAY)
    assert asked(client, every, "nowhere", "there") == {404}
    assert client.get("/v1/plan?home=nowhere").json()["error"] == "NoSuchHome"
    assert asked(client, LISTS, "nowhere", "there") == {200}  # a filter that matches nothing


@pytest.mark.parametrize("home", ["gone", "elsewhere"])
def test_of_a_home_that_cannot_be_reached_the_facts_are_told_and_the_rest_is_409(
    house: Sexton, client: TestClient, home: str
) -> None:
    items = client.get(f"/v1/sessions?home={home}&limit=500").json()["items"]
    id = next(each["id"] for each in items if each["message_count"])
    assert house.find(f"{home}/{id}").home == home
    assert asked(client, (*LISTS, *PLANS, *ONE_SESSION), home, id) == {200}
    assert asked(client, GC, home, id) <= {200, 409}
    assert asked(client, MESSAGES, home, id) == {409}
    assert asked(client, CHANGES, home, id) == {409}
