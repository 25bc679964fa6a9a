"""Names of files are read as the real Hermes writes them."""

from __future__ import annotations

import json
import os
from pathlib import Path

from sexton.homes.hermes.session_files import HermesFileNames
from tests.scenario.hermes_starting import run

IDS = [
    "20260301_115900_a1b2c3",
    "cron_daily_20260301_115900",
    "a b",
    "../../etc/passwd",
    "a*[b]?",
    "_edge_",
    " padded ",
    "ümlaut",
    "名前",
    "x" * 300,
    "...",
    "api-0123456789abcdef",
]
PROGRAM = """
import json, sys
from run_agent import _safe_session_filename_component as safe
json.dump([safe(each) for each in json.loads(sys.argv[1])], sys.stdout)
"""


def test_an_id_is_made_fit_for_names_as_hermes_does_it(hermes_python: Path, tmp_path: Path) -> None:
    environment = dict(os.environ, HERMES_HOME=str(tmp_path), HERMES_DISABLE_LAZY_INSTALLS="1")
    command = [str(hermes_python), "-c", PROGRAM, json.dumps(IDS)]
    done = run(command, environment, tmp_path)
    names = HermesFileNames()
    assert [names.owner(each) for each in IDS] == json.loads(done.stdout.splitlines()[-1])
