"""What does an agent pay for embedding Sexton? Only modules it needs are loaded."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {"click", "fastapi", "httpx", "psycopg", "pydantic", "rich", "yaml"}
SLOW = {
    "contextvars", "dataclasses", "getpass", "hashlib", "heapq", "importlib", "inspect",
    "ipaddress", "json", "logging", "pathlib", "random", "socket", "urllib", "uuid",
    "sexton.agent.turn", "sexton.errors.spending", "sexton.model.process",
}  # fmt: skip
EMBEDDED = {"apsw", "psutil", "sexton"}

PROBE = """
import sys
before = set(sys.modules)
{statement}
loaded = sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})
print([loaded, sorted(sys.modules)])
"""


def loaded_by(statement: str) -> tuple[set[str], set[str]]:
    """The top-level packages a statement loads, and all modules that are loaded then."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(statement=statement)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    loaded, everything = ast.literal_eval(done.stdout)
    return set(loaded), set(everything)


@pytest.mark.parametrize("statement", ["import sexton; sexton.open", "import sexton.agent"])
def test_embedding_loads_the_standard_library_apsw_and_psutil_only(statement: str) -> None:
    loaded, everything = loaded_by(statement)
    assert loaded - sys.stdlib_module_names - EMBEDDED == set()
    assert not HEAVY & everything


def test_embedding_loads_no_module_that_is_slow_to_load_and_rarely_needed() -> None:
    _, everything = loaded_by("import sexton; sexton.open")
    assert not SLOW & everything


def test_the_probe_notices_a_heavy_import() -> None:
    loaded, everything = loaded_by("import sexton, yaml")
    assert "yaml" in loaded
    assert HEAVY & everything == {"yaml"}
