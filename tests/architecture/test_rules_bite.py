"""Would a rule notice if it were broken? Each is shown trees that do and do not break it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture import rules
from tests.architecture.error_rules import explained_errors
from tests.architecture.test_rules_hold import RULES, Rule
from tests.architecture.threads import known_threads
from tests.architecture.words import words_apart

ERRORS = '''"""Exit codes: 1x the ledger, 2x sessions."""
SAID = "nobody has it open any more"
class SextonError(Exception):
    """Any."""
    exit_code = 1
    hint = ""
'''
FIRST = "class A(SextonError):\n    'Told.'\n    exit_code = 10\n    hint = 'x'\n"
NOTE = "# TO" + "DO: later"
PARAMETRIZED = "import pytest\n@pytest.mark.parametrize"
LEFT_OUT = "@pytest.mark.sk" + "ip"

BROKEN: list[tuple[Rule, str, str]] = [
    (known_threads, "src/sexton/web/x.py", "import threading\nthreading.Thread(target=f).start()"),
    (known_threads, "src/sexton/web/x.py", "from threading import Timer as t\nt(1, f).start()"),
    (known_threads, "src/sexton/web/x.py", "import threading\nclass A(threading.Thread): ..."),
    (rules.one_sqlite, "src/sexton/homes/x.py", "import sqlite3"),
    (rules.one_sqlite, "src/sexton/homes/x.py", "from sqlite3 import connect"),
    (rules.one_sqlite, "src/sexton/homes/x.py", "def f():\n    import sqlite3.dbapi2 as d"),
    (rules.one_sqlite, "src/sexton/homes/x.py", "__import__('sqlite3')"),
    (
        rules.one_sqlite,
        "src/sexton/homes/x.py",
        "from importlib import import_module as i\ni('sqlite3')",
    ),
    (rules.one_clock, "src/sexton/keeper/x.py", "import time\nnow = time.time()"),
    (rules.one_clock, "src/sexton/keeper/x.py", "import time as t\nt.monotonic()"),
    (rules.one_clock, "src/sexton/keeper/x.py", "from time import perf_counter as p\np()"),
    (rules.one_clock, "src/sexton/keeper/x.py", "import time\nclock = time.monotonic"),
    (rules.one_clock, "src/sexton/keeper/x.py", "import datetime as d\nd.datetime.now(d.UTC)"),
    (rules.one_clock, "src/sexton/keeper/x.py", "from datetime import datetime as d\nd.utcnow()"),
    (rules.one_clock, "src/sexton/keeper/x.py", "from datetime import date\ndate.today()"),
    (rules.one_clock, "src/sexton/store/x.py", "import time\nnow = time.time()"),
    (rules.one_clock, "src/sexton/processes/alarm_clock.py", "import time\ntime.time()"),
    (rules.timeless_sql, "src/sexton/store/x.sql", "SELECT current_timestamp;"),
    (rules.timeless_sql, "src/sexton/store/x.sql", "SELECT now() - :at;"),
    (rules.timeless_sql, "src/sexton/store/x.sql", "SELECT datetime('now');"),
    (rules.timeless_sql, "src/sexton/store/x.sql", "DEFAULT (unixepoch())"),
    (rules.pure_thought, "src/sexton/retention/policy.py", "import os"),
    (rules.pure_thought, "src/sexton/retention/policy.py", "from pathlib import Path"),
    (rules.pure_thought, "src/sexton/spending/model.py", "def f():\n    import logging"),
    (rules.pure_thought, "src/sexton/spending/model.py", "import threading, json"),
    (rules.pure_thought, "src/sexton/spending/model.py", "import pydantic"),
    (rules.pure_thought, "src/sexton/core/x.py", "open('f')"),
    (rules.narrow_excepts, "src/sexton/keeper/x.py", "try: f()\nexcept Exception: g()"),
    (rules.narrow_excepts, "src/sexton/keeper/x.py", "try: f()\nexcept: g()"),
    (rules.narrow_excepts, "src/sexton/keeper/x.py", "try: f()\nexcept BaseException: g()"),
    (rules.narrow_excepts, "src/sexton/web/x.py", "try: f()\nexcept (OSError, Exception): g()"),
    (
        rules.narrow_excepts,
        "src/sexton/keeper/x.py",
        "from contextlib import suppress\nwith suppress(Exception): f()",
    ),
    (rules.telling_names, "src/sexton/keeper/utils.py", ""),
    (rules.telling_names, "src/sexton/helpers/x.py", ""),
    (rules.one_place, "src/sexton/cli/clock.py", ""),
    (rules.telling_names, "src/sexton/keeper/lock_manager.py", ""),
    (rules.own_text, "docs/x.md", "see .." + "/sha" + "red/style.md"),
    (rules.own_text, "tests/x.py", "'/work/" + "main/src'"),
    (rules.own_text, "README.md", "https://py" + "pi.org/project/x"),
    (rules.own_text, "uv.lock", "https://files.python" + "hosted.org/x"),
    (rules.own_text, "constraints.txt", "--index-url http://" + "mirror.example/simple"),
    (rules.finished_work, "src/sexton/keeper/x.py", NOTE),
    (rules.finished_work, "tests/unit/test_x.py", f"{LEFT_OUT}\ndef test_x(): ..."),
    (rules.short_guide, "README.md", "AGENTS.md is missing"),
    (rules.short_guide, "AGENTS.md", "a rule\n" * 81),
    (rules.explained_modules, "src/sexton/keeper/x.py", "x = 1"),
    (rules.explained_modules, "src/sexton/keeper/__init__.py", "x = 1"),
    (
        explained_errors,
        "src/sexton/errors/__init__.py",
        f"{ERRORS}class A(SextonError):\n    exit_code = 10",
    ),
    (
        explained_errors,
        "src/sexton/errors/__init__.py",
        f"{ERRORS}class A(SextonError):\n    'Told.'\n    hint = 'x'",
    ),
    (
        explained_errors,
        "src/sexton/errors/__init__.py",
        f"{ERRORS}class A(SextonError):\n    'Told.'\n    exit_code = 30\n    hint = 'x'",
    ),
    (
        explained_errors,
        "src/sexton/errors/__init__.py",
        f"{ERRORS}{FIRST}class B(SextonError):\n    'Told.'\n    exit_code = 10\n    hint = 'x'\n",
    ),
    (
        explained_errors,
        "src/sexton/keeper/x.py",
        "from sexton.errors import SextonError\nraise SextonError('told')",
    ),
    (
        explained_errors,
        "src/sexton/keeper/x.py",
        "from sexton import errors\nclass Mine(errors.SextonError):\n    'Told.'",
    ),
    (words_apart, "tests/unit/x.py", "assert 'has it open' in told"),
    (words_apart, "tests/unit/x.py", "assert told == f'{name} has it open, {more}'"),
    (words_apart, "tests/unit/x.py", "import pytest\npytest.raises(OSError, match='it open any')"),
    (
        words_apart,
        "tests/unit/x.py",
        f"{PARAMETRIZED}(('a', 'b'), [(1, 'has it open')])\ndef test_x(): ...",
    ),
    (words_apart, "tests/e2e/x.py", "expect(page).to_contain_text('nobody has it open')"),
    (words_apart, "tests/contract/x.py", "assert found == ['open any more']"),
]

SOUND: list[tuple[Rule, str, str]] = [
    (
        known_threads,
        "src/sexton/web/lookout.py",
        "import threading as t\nt.Thread(target=self._listen)",
    ),
    (rules.one_sqlite, "src/sexton/store/x.py", "import apsw\nname = 'sqlite3'"),
    (rules.one_clock, "src/sexton/core/clock.py", "import time\ntime.time()"),
    (rules.one_clock, "src/sexton/store/x.py", "import time\ntime.monotonic()"),
    (rules.one_clock, "src/sexton/keeper/x.py", "def f(clock):\n    return clock.now()"),
    (rules.one_clock, "src/sexton/keeper/x.py", "import time\ntime.sleep(1)"),
    (rules.timeless_sql, "src/sexton/store/x.sql", "-- not now()\nUPDATE s SET at = :now;"),
    (
        rules.pure_thought,
        "src/sexton/retention/policy.py",
        "from zoneinfo import ZoneInfo\nimport re",
    ),
    (rules.pure_thought, "src/sexton/keeper/x.py", "import os"),
    (rules.narrow_excepts, "src/sexton/keeper/keeper.py", "try: f()\nexcept Exception: g()"),
    (rules.narrow_excepts, "src/sexton/cli/x.py", "try: f()\nexcept Exception: g()"),
    (
        rules.narrow_excepts,
        "src/sexton/store/x.py",
        "try: f()\nexcept BaseException:\n    g()\n    raise",
    ),
    (rules.narrow_excepts, "src/sexton/store/x.py", "try: f()\nexcept OSError: g()"),
    (rules.telling_names, "src/sexton/store/database.py", ""),
    (rules.one_place, "src/sexton/store/database.py", ""),
    (rules.own_text, "docs/x.md", "see ../style.md, shared by all"),
    (rules.own_text, "constraints.txt", "rich==15.0.0"),
    (rules.finished_work, "src/sexton/keeper/x.py", "# done"),
    (rules.short_guide, "AGENTS.md", "a rule\n" * 80),
    (rules.explained_modules, "src/sexton/keeper/x.py", '"""What is it for?"""\nx = 1'),
    (rules.explained_modules, "src/sexton/keeper/__init__.py", ""),
    (
        explained_errors,
        "src/sexton/errors/__init__.py",
        f"{ERRORS}{FIRST}class B(A):\n    'Told.'\nclass C(A):\n    'Told.'\n    exit_code = 11\n",
    ),
    (
        explained_errors,
        "src/sexton/keeper/x.py",
        "from sexton.errors import SextonError\nraise SextonError('told', hint='x')",
    ),
    (words_apart, "tests/unit/x.py", "golden('errors', 'nobody has it open', str(problem))"),
    (words_apart, "tests/unit/x.py", "assert told == 'it opens any more'"),
    (
        words_apart,
        "tests/unit/x.py",
        f"{PARAMETRIZED}(('a', 'scene'), [(1, 'has it open')])\ndef test_x(): ...",
    ),
]


def plant(root: Path, path: str, text: str) -> None:
    for name, content in (("src/sexton/errors/__init__.py", ERRORS), (path, text)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)


@pytest.mark.parametrize(("rule", "path", "text"), BROKEN)
def test_a_broken_rule_is_noticed_where_it_is_broken(
    rule: Rule, path: str, text: str, tmp_path: Path
) -> None:
    plant(tmp_path, "src/sexton/core/clock.py", "")
    plant(tmp_path, path, text)
    place = "AGENTS.md" if rule is rules.short_guide else path.rpartition("/")[0]
    assert any(finding.startswith(place) for finding in rule(tmp_path))


@pytest.mark.parametrize(("rule", "path", "text"), SOUND)
def test_sound_work_is_left_in_peace(rule: Rule, path: str, text: str, tmp_path: Path) -> None:
    plant(tmp_path, path, text)
    assert not rule(tmp_path)


def test_every_rule_has_been_broken_and_kept_here() -> None:
    assert {rule for rule, *_ in BROKEN} == set(RULES) == {rule for rule, *_ in SOUND}
