"""What would be done in a home that is only observed is shown apart, and done only if allowed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import sexton
from sexton.wiring import Sexton
from tests.golden import golden
from tests.golden.pages import golden_page
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import ends
from tests.surface.program import Cli
from tests.surface.test_pages import results
from tests.surface.visitor import Visitor, visiting
from tests.surface.web_site import Served, serving

HOOK = {"name": "hook", "kind": "webhook", "url": "http://127.0.0.1:9/none"}
MEMORY = {
    "name": "memories", "kind": "memory", "base_url": "http://127.0.0.1:9", "model": "own",
    "min_messages": 1, "file": "memories.md",
}  # fmt: skip
PRICES = {"models": {"own": {"input": 1000, "output": 1000}}}


@pytest.fixture
def settings(scene: HermesScene, tmp_path: Path) -> Path:
    """Settings with a home that is only observed and was left with two open sessions."""
    for number in range(2):
        scene.start(f"left {number}")
        scene.say(f"left {number}", "hello " * 100)
    scene.close()
    home = {"path": str(scene.path), "name": "work", "kind": "hermes"}
    content = {"homes": [home], "finalizers": [HOOK, MEMORY], "prices": PRICES}
    file = tmp_path / "settings.yaml"
    file.write_text(yaml.safe_dump({**content, "reset": {"max_messages": 3}}))
    return file


@pytest.fixture
def config(settings: Path) -> tuple[str, str]:
    return "--config", str(settings)


@pytest.fixture
def house(settings: Path, new_file: Path) -> Iterator[Sexton]:
    with sexton.open(str(new_file), settings) as opened:
        yield opened


@pytest.fixture
def visitor(house: Sexton) -> Iterator[Visitor]:
    with visiting(house) as found:
        yield found


@pytest.fixture
def site(house: Sexton, new_file: Path, tmp_path: Path) -> Iterator[Served]:
    with serving(str(new_file), tmp_path, settings=house.settings) as served:
        yield served


def due(house: Sexton) -> str:
    """A session of our own that a policy ends."""
    with house.worker() as worker:
        session = worker.session("talk", source="telegram")
        for number in range(3):
            session.append(role="user", content=f"{number}")
        return session.id


def is_open(scene: HermesScene) -> bool:
    """Whether nothing has ended; nobody has the home open afterwards."""
    found = set(ends(scene).values())
    scene.close()
    return found == {None}


def test_a_plan_tells_what_it_will_do_from_what_it_would_if_allowed(
    cli: Cli, config: tuple[str, str]
) -> None:
    session = cli.talk("a", "1", "2", "3")
    plan = cli("plan", "--json", *config).json()
    assert plan["observed"] == ["work"]
    observed = {each["session"]["id"]: each["observed"] for each in plan["actions"]}
    assert observed == {session: False, "left 0": True, "left 1": True}
    golden("plan", "of an observed home", cli.ok("plan", *config))


@pytest.mark.parametrize("from_file", [True, False])
def test_an_apply_leaves_observed_homes_alone_unless_it_is_allowed(
    cli: Cli, config: tuple[str, str], scene: HermesScene, tmp_path: Path, from_file: bool
) -> None:
    session = cli.talk("a", "1", "2", "3")
    cli.ok("plan", "-o", str(tmp_path / "plan.json"), *config)
    what = (str(tmp_path / "plan.json"),) if from_file else ("--yes",)
    done = cli("apply", *what, "--json", *config).json()
    assert (done["done"], done["observed"], done["left"]) == (1, 2, 0)
    assert is_open(scene)
    said = cli("apply", *what, *config)
    assert ("--allow-observed" in said.err, "left 0:" in said.out) == (True, False)
    assert is_open(scene)
    assert cli("sessions", "show", session, "--json").json()["state"] == "ended"
    with sexton.open(cli.url) as opened:
        tally = opened.ledger.finalizing.tally()
    assert {name: count for (name, _), count in tally.items()} == {"hook": 1, "memories": 1}
    done = cli("apply", *what, "--allow-observed", "--json", *config).json()
    assert (done["done"], done["observed"]) == (2, 0)
    assert set(ends(scene).values()) == {"reaped"}


@pytest.mark.parametrize("answers", ["y\ny\n", "y\nn\n"])
def test_a_person_is_asked_about_observed_homes_for_themselves(
    cli: Cli,
    config: tuple[str, str],
    scene: HermesScene,
    monkeypatch: pytest.MonkeyPatch,
    answers: str,
) -> None:
    cli.talk("a", "1", "2", "3")
    asked: list[str] = []

    def answer(question: str, **_: object) -> bool:
        asked.append(question)
        return answers.split()[len(asked) - 1] == "y"

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", answer)
    cli.ok("apply", *config)
    golden("apply", "questions about an observed home", "\n".join(asked))
    assert is_open(scene) == (answers == "y\nn\n")


def test_the_api_tells_both_parts_and_leaves_one_out_unless_it_is_allowed(
    site: Served, scene: HermesScene
) -> None:
    due(site.house)
    shown = site.get("/v1/plan").json()
    will, allowed = shown["outlook"]["will"], shown["outlook"]["if_allowed"]
    assert (will["actions"], will["homes"]) == (1, ["native"])
    assert (allowed["actions"], allowed["homes"]) == (2, ["work"])
    hook, memories = allowed["jobs"]
    assert (hook["finalizer"], hook["kind"], hook["jobs"]) == ("hook", "webhook", 2)
    assert hook["calls"] is None
    assert (memories["jobs"], memories["calls"]["calls"]) == (2, 2)
    tokens = memories["calls"]["tokens"]
    assert tokens == memories["bytes"] // 4 > 200
    assert memories["calls"]["cost_micros"] >= 1000 * tokens
    overview = site.get("/v1/overview").json()
    assert (overview["due"], overview["due_if_allowed"]) == (1, 2)
    done = site.post("/v1/apply", {"digest": shown["digest"]}).json()
    assert (done["done"], done["observed"]) == (1, 2)
    results = {each["session"]: each["result"] for each in done["outcomes"]}
    assert (results["left 0"], results["left 1"]) == ("observed", "observed")
    assert is_open(scene)
    done = site.post("/v1/apply", {**shown, "allow_observed": True}).json()
    assert (done["done"], done["observed"]) == (2, 0)
    assert set(ends(scene).values()) == {"reaped"}


def test_the_page_wants_a_box_ticked_before_it_changes_an_observed_home(
    house: Sexton, visitor: Visitor, scene: HermesScene
) -> None:
    due(house)
    page = visitor.see("/plan")
    assert 'name="allow_observed"' in page.html
    golden_page("page_plan", "of an observed home", page)
    told = visitor.send(page, "/apply")
    assert results(told) == {"done": 1, "observed": 2}
    assert is_open(scene)
    page = visitor.see("/plan")
    assert "required" in page.html, "there is nothing else to apply"
    visitor.send(page, "/apply", allow_observed="yes")
    assert set(ends(scene).values()) == {"reaped"}


def test_the_overview_says_what_the_next_sweep_does_and_it_does_it(
    house: Sexton, visitor: Visitor, scene: HermesScene
) -> None:
    id = due(house)
    visitor.see("/plan")
    told = visitor.fetch("/v1/overview")
    assert (told["due"], told["due_if_allowed"]) == (1, 2)
    assert 'id="next-if-allowed"' in visitor.see("/").html
    done = [each for each in house.sweep().outcomes if each.result == "done"]
    assert [each.action.seen.id for each in done] == [id]
    assert is_open(scene)
