"""Do dependencies point inward, and would it be noticed if one did not?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    """The layers contract, checked on the tree below a root."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=root, env=os.environ | {"PYTHONPATH": str(root / "src")},
        check=False, capture_output=True, text=True, timeout=240,
    )  # fmt: skip


@pytest.fixture
def skeleton(tmp_path: Path) -> Path:
    """A tree with our contract and an empty package for each of its layers."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    rows: list[str] = contract["contracts"][0]["layers"]
    for name in ["", *(layer.strip() for row in rows for layer in re.split(r"[|:]", row))]:
        (tmp_path / "src" / "sexton" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / "sexton" / name / "__init__.py").touch()
    return tmp_path


def test_dependencies_point_inward() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("errors/outward.py", "import sexton.core"),
        ("keeper/outward.py", "def f():\n    import sexton.wiring"),
        ("wiring/outward.py", "from sexton import operations"),
        ("operations/outward.py", "import sexton.web"),
        ("web/sideways.py", "import sexton.cli"),
    ],
)
def test_an_import_in_the_wrong_direction_is_noticed(skeleton: Path, path: str, text: str) -> None:
    (skeleton / "src" / "sexton" / path).write_text(text)
    done = lint_imports(skeleton)
    assert done.returncode != 0
    assert f"sexton.{path.removesuffix('.py').replace('/', '.')} ->" in done.stdout


def test_a_sound_tree_passes(skeleton: Path) -> None:
    (skeleton / "src" / "sexton" / "wiring" / "inward.py").write_text("import sexton.keeper")
    assert lint_imports(skeleton).returncode == 0


def test_a_package_outside_the_layers_is_noticed(skeleton: Path) -> None:
    (skeleton / "src" / "sexton" / "odds_and_ends.py").write_text("")
    done = lint_imports(skeleton)
    assert done.returncode != 0
    assert "odds_and_ends" in done.stdout + done.stderr
