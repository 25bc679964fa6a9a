"""A session that its Hermes home archives stays pinned, whatever is said from outside."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.scenario.hermes_home import HermesScene
from tests.surface.program import Cli

TALK = "agent:main:telegram:dm:7"


@pytest.fixture
def config(scene: HermesScene, tmp_path: Path) -> tuple[str, str]:
    """Settings that allow to change a home with a chat that it archives and one it does not."""
    scene.start("archived", "telegram", session_key=TALK)
    scene.start("other", "telegram", session_key=f"{TALK}0")
    scene.sql("UPDATE sessions SET archived = 1 WHERE id = 'archived'")
    scene.close()
    file = tmp_path / "sexton.yaml"
    file.write_text(yaml.safe_dump({"homes": [{"path": str(scene.path), "act": True}]}))
    return "--config", str(file)


def pinned(cli: Cli) -> dict[str, bool]:
    """Which sessions the list shows as pinned."""
    return {each["id"]: each["pinned"] for each in cli("sessions", "list", "--json").items()}


@pytest.mark.parametrize("before", [False, True], ids=["by its home only", "by both"])
def test_a_pin_of_the_home_outlasts_what_is_taken_off_from_outside(
    cli: Cli, config: tuple[str, str], before: bool
) -> None:
    cli.ok("plan", *config)
    for name in ("hermes/archived", "hermes/other"):
        if before:
            cli.ok("sessions", "pin", name, *config)
    off = {
        id: cli("sessions", "unpin", f"hermes/{id}", "--json", *config).json()["pinned"]
        for id in ("archived", "other")
    }
    assert off == {"archived": True, "other": False}
    assert pinned(cli) == off


def test_a_pin_from_outside_outlasts_that_of_the_home(
    cli: Cli, config: tuple[str, str], scene: HermesScene
) -> None:
    cli.ok("plan", *config)
    cli.ok("sessions", "pin", "hermes/archived", *config)
    scene.sql("UPDATE sessions SET archived = 0")
    scene.say("archived", "And again")
    scene.close()
    cli.ok("plan", *config)
    assert pinned(cli)["archived"]
