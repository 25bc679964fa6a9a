"""Without room for the copy, nothing of it is left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.crash.small_disk import told_on_a_small_disk


def test_on_a_full_disk_a_vault_file_is_refused_and_nothing_of_it_left(tmp_path: Path) -> None:
    told = told_on_a_small_disk(tmp_path, sys.executable, "-m", "tests.crash.small_vault", "fill")
    assert told == ["refused kept"]


def test_where_a_file_may_not_grow_nothing_of_it_is_left_either(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.crash.small_vault", "limit", str(tmp_path)],
        check=True, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["[]", "True"]
