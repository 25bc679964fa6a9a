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
    "sexton.sessions.turn", "sexton.errors.spending_errors", "sexton.processes.model",
}  # fmt: skip
EMBEDDED = {"apsw", "sexton"}
WITHOUT_PROC = set() if Path("/proc/self/stat").exists() else {"psutil"}
AT_WORK = """
import sexton
with sexton.open() as house, house.worker() as worker:
    session = worker.session("chat", source="telegram")
    with session.turn():
        session.append(role="user", content="hello")
"""

PROBE = """
import sys
before = set(sys.modules)
{statement}
loaded = sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})
print([loaded, sorted(sys.modules)])
"""


def loaded_by(statement: str, **environ: str) -> tuple[set[str], set[str]]:
    """The top-level packages a statement loads, and all modules that are loaded then."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(statement=statement)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | environ,
        check=True, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    loaded, everything = ast.literal_eval(done.stdout)
    return set(loaded), set(everything)


@pytest.mark.parametrize(
    "statement", ["import sexton; sexton.open", "import sexton.sessions.agent_worker"]
)
def test_embedding_loads_the_standard_library_and_apsw_only(statement: str) -> None:
    loaded, everything = loaded_by(statement)
    assert loaded - sys.stdlib_module_names - EMBEDDED == set()
    assert not HEAVY & everything


def test_an_agent_at_work_has_loaded_no_more_and_psutil_only_without_proc(tmp_path: Path) -> None:
    loaded, everything = loaded_by(
        AT_WORK, SEXTON_LEDGER=str(tmp_path / "ledger.db"), XDG_CONFIG_HOME=str(tmp_path)
    )
    assert "apsw" in loaded
    assert loaded - sys.stdlib_module_names - EMBEDDED == WITHOUT_PROC
    assert not HEAVY & everything


def test_embedding_loads_no_module_that_is_slow_to_load_and_rarely_needed() -> None:
    _, everything = loaded_by("import sexton; sexton.open")
    assert not SLOW & everything


def test_the_probe_notices_a_heavy_import() -> None:
    loaded, everything = loaded_by("import sexton, yaml")
    assert "yaml" in loaded
    assert HEAVY & everything == {"yaml"}
