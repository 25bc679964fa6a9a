"""What the jobs of a plan may cost is the same on every surface."""

from __future__ import annotations

from pathlib import Path

import yaml

import sexton
from sexton.operations.outlook import job_lines
from tests.surface.program import Cli
from tests.surface.visitor import visiting
from tests.surface.web_site import serving

MEMORY = {
    "name": "memories", "kind": "memory", "base_url": "http://127.0.0.1:9", "model": "own",
    "min_messages": 1, "file": "memories.md",
}  # fmt: skip
PRICES = {"models": {"own": {"input": 1000, "output": 1000}}}


def test_the_command_line_the_api_and_the_page_name_the_same_cost_of_a_plan(
    cli: Cli, tmp_path: Path
) -> None:
    """The command line plans with settings that are not in force yet, their prices included."""
    file = tmp_path / "settings.yaml"
    content = {"finalizers": [MEMORY], "prices": PRICES, "reset": {"max_messages": 3}}
    file.write_text(yaml.safe_dump(content))
    cli.talk("a", "1", "2", "3")
    planned = cli.ok("plan", "--config", str(file))
    previewed = cli.ok("apply", "--dry-run", "--config", str(file))
    with sexton.open(cli.url, file) as house:
        with serving(cli.url, tmp_path, settings=house.settings) as site:
            [job] = site.get("/v1/plan").json()["outlook"]["will"]["jobs"]
        with visiting(house) as visitor:
            page = visitor.see("/plan").html
    assert job["calls"]["cost_micros"] == 500_000
    [line] = job_lines([job])
    assert f"starts {line}" in planned
    assert f"starts {line}" in previewed
    assert f"Starts {line}." in page
    assert planned.count("starts ") == page.count("Starts ") == 1
