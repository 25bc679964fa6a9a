"""Every package has a floor of its coverage, or a reason why it has none."""

from __future__ import annotations

import json
from pathlib import Path

from scripts import coverage_floor
from scripts.coverage_floor import FLOORS, NO_FLOOR

PACKAGES = Path(__file__).parents[2] / "src" / "sexton"


def checked(place: Path, shares: dict[str, int]) -> int:
    """The exit code for a report in which so many per cent of each package were covered."""
    files = {
        f"src/sexton/{'' if name == 'sexton' else name + '/'}x.py": {
            "summary": {
                "covered_lines": share, "covered_branches": 0,
                "num_statements": 100, "num_branches": 0,
            }
        }
        for name, share in shares.items()
    }  # fmt: skip
    report = place / "coverage.json"
    report.write_text(json.dumps({"files": files}))
    return coverage_floor.main(str(report))


def test_every_package_has_a_floor_or_a_reason() -> None:
    packages = {path.parent.name for path in PACKAGES.glob("*/__init__.py")} | {"sexton"}
    assert {*FLOORS, *NO_FLOOR} == packages
    assert not FLOORS.keys() & NO_FLOOR.keys()


def test_a_package_below_its_floor_in_neither_list_or_not_measured_fails(tmp_path: Path) -> None:
    reached = FLOORS | dict.fromkeys(NO_FLOOR, 0)
    assert checked(tmp_path, reached) == 0
    assert checked(tmp_path, reached | {"core": FLOORS["core"] - 1}) == 1
    assert checked(tmp_path, reached | {"newcomer": 100}) == 1
    assert checked(tmp_path, {name: reached[name] for name in reached if name != "store"}) == 1
