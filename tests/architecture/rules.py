"""The rules of the tree; each is a function of a root directory and returns what breaks it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from tests.architecture.source import (
    PACKAGE,
    Module,
    imports,
    modules,
    package_files,
    repository_files,
)

GUIDE_LIMIT = 80

TIME_READERS = frozenset(
    {f"time.{name}" for name in (
        "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
        "process_time", "process_time_ns", "thread_time", "thread_time_ns",
        "clock_gettime", "clock_gettime_ns", "localtime", "gmtime", "ctime", "asctime",
    )}
    | {f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")}
    | {"datetime.date.today", "os.times"}
)  # fmt: skip

SQL_TIME = re.compile(
    r"\b(CURRENT_(TIMESTAMP|TIME|DATE)|LOCALTIME(STAMP)?|(now|unixepoch|julianday|clock_timestamp"
    r"|statement_timestamp|transaction_timestamp)\s*\()|'now'",
    re.IGNORECASE,
)

THOUGHT = frozenset({
    "__future__", "abc", "base64", "bisect", "calendar", "collections", "copy", "dataclasses",
    "datetime", "decimal", "difflib", "enum", "fnmatch", "fractions", "functools", "hashlib",
    "heapq", "itertools", "json", "math", "numbers", "operator", "re", "reprlib", "sexton",
    "statistics", "string", "struct", "textwrap", "types", "typing", "unicodedata", "zoneinfo",
})  # fmt: skip
"""What a module that only decides may import."""

WORLD = frozenset({"open", "print", "input", "breakpoint", "exec", "eval", "__import__"})
GENERATES = {"core/record.py": {"exec"}}  # constructors, from the names of fields

NOTHING_NAMES = frozenset({
    "base", "common", "handler", "handlers", "helper", "helpers", "manager", "managers", "misc",
    "util", "utils",
})  # fmt: skip


DECIDES = (
    "core/*.py", "*/model.py", "*/policy.py",
    "liveness/evidence.py", "liveness/mass_death.py", "liveness/missed_heartbeats.py",
    "processes/handling.py", "processes/masking.py",
    "resets/*.py", "rules/rulebook.py", "sessions/family.py",
    "retention/blast_radius.py", "retention/disk_budget.py", "retention/garbage.py",
    "retention/protection.py",
    "spending/breaker.py", "spending/budgets.py", "spending/loop_detection.py",
    "spending/pricing.py", "spending/runaway.py",
)  # fmt: skip
"""Modules that touch nothing outside: nouns and decisions."""
TOUCHES = frozenset({"core/clock.py", "core/locks.py", "core/troubles.py", "core/zone.py"})
USUAL = frozenset({"__init__.py", "model.py", "policy.py", "store.py"})
"""File names that every capability has."""


class Allowed(NamedTuple):
    """An exception from a rule: where, what, and why it is right there."""

    path: str
    what: str
    why: str

    def covers(self, module: Module, what: str) -> bool:
        return fnmatchcase(module.inside, self.path) and fnmatchcase(what, self.what)


CLOCKS = (
    Allowed("core/clock.py", "*", "it is the clock"),
    Allowed("liveness/heartbeat.py", "time.monotonic", "one thread waits for members of any clock"),
    Allowed("core/troubles.py", "time.monotonic", "works when nothing else does any more"),
    Allowed("store/*", "time.monotonic", "deadlines inside a driver's call, where no port reaches"),
)
BOUNDARIES = (
    Allowed("keeper/keeper.py", "*", "one failed sweep must not end the keeper"),
    Allowed("finalizers/runner.py", "*", "an effect's bug is one failed attempt, no more"),
    Allowed(
        "finalizers/effects/entry_point.py",
        "BaseException",
        "whatever somebody else's code raises is one failed attempt",
    ),
    Allowed(
        "liveness/heartbeat.py", "Exception", "a process whose heartbeat dies is taken for dead"
    ),
    Allowed("core/troubles.py", "Exception", "a line in the log must not end a thread"),
    Allowed("web/lookout.py", "Exception", "who lives would not be known any more"),
    Allowed("web/web_serving.py", "Exception", "the program ends with an error instead"),
    Allowed("store/postgres_pool.py", "Exception", "late calls would not be cut any more"),
    Allowed("sessions/compression.py", "BaseException", "the agent's own code; its caller is told"),
    Allowed(
        "spending/digests.py", "Exception", "a value that can not be looked at is still a value"
    ),
    Allowed(
        "integrations/hermes_plugin/plugin_rows.py",
        "Exception",
        "whatever Hermes's own library raises is an error that its home gives",
    ),
    Allowed(
        "integrations/hermes_plugin/trying.py",
        "Exception",
        "Hermes makes the call whose guard raises, so that nothing would bound it",
    ),
    Allowed("cli/*", "*", "the surface turns what nobody foresaw into a message and a report"),
    Allowed("store/group_commit.py", "*", "carried to the callers that wait, and raised there"),
)


def one_sqlite(root: Path) -> list[str]:
    """apsw is the only SQLite library of the package."""
    return [
        module.at(found.node, f"imports {found.name}")
        for module in modules(root)
        for found in imports(module)
        if found.name.partition(".")[0] in {"sqlite3", "_sqlite3", "pysqlite3", "aiosqlite"}
    ]


def one_clock(root: Path) -> list[str]:
    """Only the clock reads the time."""
    return [
        module.at(node, f"reads {what}")
        for module in modules(root)
        for node, what in time_readings(module)
        if not any(entry.covers(module, what) for entry in CLOCKS)
    ]


def time_readings(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Every mention of something that reads the time, called or handed on."""
    for node in module.nodes:
        if isinstance(node, ast.Name | ast.Attribute):
            what = module.meaning(node)
            if what in TIME_READERS:
                yield node, what


def timeless_sql(root: Path) -> list[str]:
    """SQL is given its times as parameters."""
    return [
        f"{path.relative_to(root)}:{number}: reads the time: {line.strip()}"
        for path in package_files(root)
        if path.suffix == ".sql"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if SQL_TIME.search(line.partition("--")[0])
    ]


def pure_thought(root: Path) -> list[str]:
    """Nouns and decisions touch no clock, file, log, thread or process."""
    return [
        finding
        for module in modules(root)
        if module.inside not in TOUCHES
        if any(fnmatchcase(module.inside, pattern) for pattern in DECIDES)
        for finding in (*_worldly_imports(module), *_worldly_calls(module))
    ]


def _worldly_imports(module: Module) -> Iterator[str]:
    for found in imports(module):
        if found.name.partition(".")[0] not in THOUGHT:
            yield module.at(found.node, f"imports {found.name}")


def _worldly_calls(module: Module) -> Iterator[str]:
    for node in module.nodes:
        if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Store):  # a field's name
            continue
        if node.id in WORLD - GENERATES.get(module.inside, set()):
            yield module.at(node, f"uses {node.id}")


def narrow_excepts(root: Path) -> list[str]:
    """What nobody foresaw is caught at the keeper's loop and at the surface only."""
    return [
        module.at(node, f"catches {what}")
        for module in modules(root)
        for node, what in broad_catches(module)
        if not any(entry.covers(module, what) for entry in BOUNDARIES)
    ]


def broad_catches(module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Every place that catches anything at all and does not raise it again."""
    for node in module.nodes:
        if isinstance(node, ast.ExceptHandler):
            what = _broad(node.type)
            if what and not _raises_again(node):
                yield node, what
        elif isinstance(node, ast.Call) and module.meaning(node.func) == "contextlib.suppress":
            yield from ((node, what) for what in map(_broad, node.args) if what)


def _broad(caught: ast.expr | None) -> str | None:
    match caught:
        case None:
            return "everything"
        case ast.Name(id="Exception" | "BaseException" as name):
            return name
        case ast.Tuple(elts=several):
            return next(filter(None, map(_broad, several)), None)
        case _:
            return None


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def telling_names(root: Path) -> list[str]:
    """No module is named for nothing in particular."""
    return [
        f"{path.relative_to(root)}: the name says nothing"
        for path in sorted((root / PACKAGE).rglob("*"))
        if path.is_dir() or path.suffix == ".py"
        if NOTHING_NAMES & set(path.stem.lower().split("_"))
    ]


def one_place(root: Path) -> list[str]:
    """No two modules have the same file name, but for those that every capability has."""
    named = defaultdict[str, list[Module]](list)
    for module in modules(root):
        if module.path.name not in USUAL:
            named[module.path.name].append(module)
    return [
        f"{module.path}: {len(several)} modules have this file name"
        for several in named.values()
        if len(several) > 1
        for module in several
    ]


def own_text(root: Path) -> list[str]:
    """No file names a place outside the repository that only one machine has."""
    # Put together here, so that this file does not name them either.
    shared, registry = "sha" + "red", "py" + "pi"
    foreign = re.compile(
        rf"\.\./{shared}\b|/work/({shared}|main)\b|\b{registry}\.org\b|python{'hosted'}"
        rf"|registry\.{'npm'}js",
    )
    return [*_mentions(root, repository_files(root), foreign), *_addresses(root)]


def _addresses(root: Path) -> list[str]:
    constraints = root / "constraints.txt"
    return _mentions(root, [constraints] if constraints.exists() else [], re.compile("://"))


def finished_work(root: Path) -> list[str]:
    """Nothing is put off: no notes to oneself, no tests left out."""
    # In pieces, so that this file does not find itself.
    words = "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"])
    left_out = "|".join(["sk" + "ip", "sk" + "ipif", "xf" + "ail"])
    notes = re.compile(rf"\b({words})\b|\b(pytest|mark)\.({left_out})\b")
    code = [p for p in repository_files(root) if p.suffix in {".py", ".sql", ".sh", ".js", ".html"}]
    one_place = root / "tests" / "layers.py"  # skips what this machine cannot have, and says why
    return _mentions(root, [path for path in code if path != one_place], notes)


def _mentions(root: Path, files: list[Path], pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path.relative_to(root)}:{number}: {found[0]}"
        for path in files
        for number, line in enumerate(path.read_bytes().decode(errors="replace").splitlines(), 1)
        if (found := pattern.search(line))
    ]


def short_guide(root: Path) -> list[str]:
    """AGENTS.md exists and has at most 80 lines."""
    guide = root / "AGENTS.md"
    lines = len(guide.read_text(encoding="utf-8").splitlines()) if guide.exists() else 0
    return [] if 0 < lines <= GUIDE_LIMIT else [f"AGENTS.md: {lines} lines, 1 to {GUIDE_LIMIT}"]


def explained_modules(root: Path) -> list[str]:
    """Every public module says what it is for."""
    return [
        f"{module.path}:1: no docstring"
        for module in modules(root)
        if module.tree.body and not _is_private(module.path.stem)
        if not ast.get_docstring(module.tree)
    ]


def _is_private(stem: str) -> bool:
    return stem.startswith("_") and not stem.startswith("__")
