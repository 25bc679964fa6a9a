"""A session whose Hermes home can not be reached just now: the answer says what is the matter."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sexton.errors import HomeNotFound
from tests.scenario.hermes_home import HermesScene
from tests.surface.program import Cli


@pytest.mark.parametrize(
    "words",
    [("sessions", "reset"), ("sessions", "pin"), ("budget", "set", "--tokens", "5")],
    ids=lambda words: words[1],
)
def test_a_listed_home_that_is_away_is_not_said_to_be_in_no_settings(
    cli: Cli, scene: HermesScene, tmp_path: Path, words: tuple[str, ...]
) -> None:
    scene.start("talk", "telegram", session_key="agent:main:telegram:dm:7")
    scene.close()
    file = tmp_path / "sexton.yaml"
    file.write_text(yaml.safe_dump({"homes": [{"path": str(scene.path), "act": True}]}))
    cli.ok("plan", "--config", str(file))
    scene.path.rename(tmp_path / "elsewhere")
    refused = cli(*words, "hermes/talk", "--config", str(file))
    assert refused.code == HomeNotFound.exit_code
    assert str(scene.path) in refused.err
    (tmp_path / "elsewhere").rename(scene.path)
    assert cli(*words, "hermes/talk", "--config", str(file)).code == 0
