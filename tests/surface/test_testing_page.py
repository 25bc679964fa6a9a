"""`sexton.testing` does what docs/testing.md shows, and leaves nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sexton.errors import SettingsInvalid
from sexton.testing import ManualClock, house

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
PATIENCE = 240.0


def test_the_tests_of_the_page_pass_where_a_stranger_runs_them(tmp_path: Path) -> None:
    """In a directory of their own; settings of the user that would spoil them are not read."""
    own, fixtures, with_fixture = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "conftest.py").write_text(fixtures)
    (tmp_path / "test_agent.py").write_text(own)
    (tmp_path / "test_said.py").write_text(with_fixture)
    broken = tmp_path / "sexton.yaml"
    broken.write_text("reset: {mode: none}\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts="],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={
            **os.environ, "SEXTON_CONFIG": str(broken), "TMPDIR": str(tmp_path),
            "SEXTON_LEDGER": str(tmp_path / "users.db"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
    )  # fmt: skip
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / "users.db").exists()


def test_nothing_is_left_of_a_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with house() as sx, sx.worker() as worker:
        worker.session("a", source="chat").append(role="user", content="hello")
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_a_house_goes_by_the_clock_that_it_is_given() -> None:
    clock = ManualClock()
    with house(clock=clock) as sx:
        clock.advance(60)
        assert sx.clock.now() == clock.now()


def test_settings_of_a_house_are_checked() -> None:
    with pytest.raises(SettingsInvalid), house({"reset": {"mode": "idel"}}):
        pass
