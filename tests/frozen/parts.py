"""What is frozen but the commands: schemas, statements, public names, and what campaigns choose."""

from __future__ import annotations

import ast
import enum
import inspect
import random
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import apsw
import psycopg

import sexton
import sexton.errors
import sexton.testing
from tests.crash import __main__ as crash
from tests.crash.running import ENGINES, Tally
from tests.frozen.places import place

PRAGMAS = ("application_id", "user_version", "journal_mode", "page_size", "auto_vacuum", "encoding")
SEED, ROUNDS, DRAWS, DAYS = 1, 3, 6, 3.0


def sqlite_schema(file: Path) -> str:
    """What there is in a fresh file, however it came about: migrations may be joined."""
    sexton.open(str(file)).close()
    connection = apsw.Connection(str(file))
    try:
        named = [f"PRAGMA {name} = {connection.pragma(name)};" for name in PRAGMAS]
        rows = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
        made = [_tidy(sql) if sql else f"-- {type} {name}" for type, name, sql in rows]
    finally:
        connection.close()
    return "\n\n".join(("\n".join(named), *made)) + "\n"


def _tidy(sql: str) -> str:
    """A statement without its comments and its author's lines: each part on one of its own."""
    sql = re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", sql)).strip()
    sql = (
        re.sub(r" ?([(),]) ?", r"\1", sql).replace(",", ", ").replace("(", " (").replace(")", ") ")
    )
    depth, found = 0, ""
    for sign in (
        re.sub(r" +", " ", sql).replace(") ,", "),").replace(") )", "))").replace("( (", "((")
    ):
        depth += (sign == "(") - (sign == ")")
        is_end = sign == "," and depth == 1 and sql.startswith("CREATE TABLE")
        found += f"{sign}\n   " if is_end else sign
    return found.strip() + ";"


CATALOG = """
WITH here AS (
    SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
), relations AS (
    SELECT c.*, c.oid::regclass::text AS named FROM pg_class AS c
    WHERE c.relnamespace IN (SELECT oid FROM here)
)
SELECT 'schema', nspname, '' FROM pg_namespace WHERE oid IN (SELECT oid FROM here)
UNION ALL SELECT 'extension', extname, '' FROM pg_extension
UNION ALL SELECT 'relation', named, concat_ws(' ', relkind, relpersistence, reloptions::text)
    FROM relations WHERE relkind NOT IN ('i', 'I')
UNION ALL SELECT 'column', named || '.' || lpad((row_number()
        OVER (PARTITION BY attrelid ORDER BY attnum))::text, 2, '0') || ' ' || a.attname,
        concat_ws(' ', format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL'
        END,
        'identity ' || nullif(a.attidentity::text, ''),
        'generated ' || nullif(a.attgenerated::text, ''),
        'COLLATE ' || nullif(c.collname, 'default'), 'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
    FROM relations AS r
    JOIN pg_attribute AS a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef AS d ON d.adrelid = r.oid AND d.adnum = a.attnum
    LEFT JOIN pg_collation AS c ON c.oid = a.attcollation
    WHERE relkind IN ('r', 'p', 'v', 'm')
UNION ALL SELECT 'constraint', conrelid::regclass || ' ' || conname, pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace IN (SELECT oid FROM here)
UNION ALL SELECT 'index', indexrelid::regclass::text, pg_get_indexdef(indexrelid)
    FROM pg_index JOIN relations AS r ON r.oid = indrelid
UNION ALL SELECT 'view', named, pg_get_viewdef(oid) FROM relations WHERE relkind IN ('v', 'm')
UNION ALL SELECT 'sequence', schemaname || '.' || sequencename,
        concat_ws(' ', data_type, start_value, increment_by, cycle) FROM pg_sequences
UNION ALL SELECT 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid)
    FROM pg_proc AS p WHERE p.pronamespace IN (SELECT oid FROM here)
UNION ALL SELECT 'trigger', tgrelid::regclass || ' ' || tgname, pg_get_triggerdef(oid)
    FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'type', oid::regtype::text, typtype::text FROM pg_type
    WHERE typnamespace IN (SELECT oid FROM here) AND typtype NOT IN ('c', 'b')
ORDER BY 1, 2, 3
"""


def postgres_schema(url: str) -> str:
    """What there is in a fresh database, by the server's own account."""
    sexton.open(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("SET search_path = pg_catalog")
        rows = connection.execute(CATALOG).fetchall()
    return "\n".join(" ".join(filter(None, row)) for row in rows) + "\n"


def statements() -> str:
    """Every statement by name: once where the engines have it alike but for its parameters."""
    found = {dialect: place("statements")(dialect) for dialect in ENGINES}
    parts = []
    for name in sorted({name for each in found.values() for name in each}):
        texts = {engine: _plain(found[engine][name]) for engine in ENGINES if name in found[engine]}
        if len(set(texts.values())) == 1 and len(texts) == len(ENGINES):
            parts.append(f"-- {name}\n{texts[ENGINES[0]]}\n")
        else:
            parts += [f"-- {name} [{engine}]\n{text}\n" for engine, text in texts.items()]
    return "\n".join(parts)


def _plain(sql: str) -> str:
    """A statement with one way of writing parameters, without the words about it."""
    sql = re.sub(r"%\((\w+)\)[sb]", r":\1", sql).replace("%%", "%")
    return re.sub(r"(?m)^\s*--.*\n|[ \t]+$", "", sql).strip()


def public(file: Path) -> str:
    """Public names and signatures, of the package and of what its users get into their hands."""
    parts = []
    for module in (sexton, sexton.errors, sexton.testing):
        names = getattr(module, "__all__", None) or [n for n in vars(module) if _is_public(n)]
        members = {name: getattr(module, name) for name in names}
        parts += [f"module {module.__name__}", *_lines(members, module)]
    given = [getattr(module, name) for module in (sexton, sexton.errors) for name in module.__all__]
    classes = {each.__name__: each for each in [*given, *_in_hand(file)] if isinstance(each, type)}
    for name, found in sorted(classes.items()):
        bases = ", ".join(each.__name__ for each in found.__bases__ if each is not object)
        made = "" if issubclass(found, enum.Enum) else _signature(found)
        parts.append(f"\nclass {name}{made}{f' is a {bases}' if bases else ''}")
        members = {}
        for base in reversed(found.__mro__):
            if base.__module__.startswith("sexton"):
                members |= {
                    member: value for member, value in vars(base).items() if _is_public(member)
                }
        parts += _lines(members, found)
    return "\n".join(parts) + "\n"


AWAITED = ("__enter__", "__aenter__", "__await__", "__iter__", "__call__", "__contains__")


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in AWAITED


def _lines(members: dict[str, Any], owner: object) -> Iterator[str]:
    """Each member in a line: what it is, and how it is called."""
    for name, value in sorted(members.items()):
        bare = inspect.unwrap(getattr(value, "__func__", value))
        if isinstance(value, ModuleType):
            continue
        if isinstance(value, property | cached_property):
            asked = value.fget if isinstance(value, property) else value.func
            gives = getattr(asked, "__annotations__", {}).get("return")
            yield f"    {name}: {_said(gives)} (property)"
        elif isinstance(value, type):
            yield f"    {name} (class)"
        elif callable(bare):
            kind = {classmethod: " (class)", staticmethod: " (static)"}.get(type(value), "")
            yield f"    {name}{_signature(bare)}{kind}"
        else:
            said = _annotated(owner).get(name)
            is_simple = isinstance(value, int | str) and name != "__version__"
            shown = f" = {getattr(value, 'value', value)!r}" if is_simple else ""
            yield f"    {name}{f': {_said(said)}' if said else ''}{shown}"


def _annotated(owner: object) -> dict[str, Any]:
    """The types that a class and those it comes from give to their values."""
    found: dict[str, Any] = {}
    for base in reversed(getattr(owner, "__mro__", ())):
        found |= getattr(base, "__annotations__", {})
    return found


def _signature(of: Any) -> str:
    try:
        text = str(inspect.signature(of))
    except (TypeError, ValueError):
        return "(...)"
    text = re.sub(r"<[^<>]*>|\b[\w.]+ object at 0x\w+", "...", text).replace("'", "")
    return _said(text)


def _said(text: object) -> str:
    """A type by its name alone, wherever it is."""
    return re.sub(r"\b[a-z_]\w*(?:\.\w+)*\.(?=\w)", "", str(text).strip("'"))


def _in_hand(file: Path) -> Iterator[type]:
    """What users of the library get, class by class."""
    with sexton.open(str(file)) as house, house.worker() as worker:
        session = worker.session("key")
        session.append(role="user", content="hello")
        with session.spawn(["sleep", "6000"]) as spawned:
            yield from map(type, (spawned, session.processes()[0]))
            spawned.stop()
        with session.turn() as turn:
            grant, call = turn.reserve(input_tokens=1), turn.tool("tool")
            yield from map(type, (worker, session, turn, grant, call))
        yield from map(type, (next(session.messages()), house.find(session.id)))
        yield from map(type, (house.plan(), house.why(session.id), house.sweep()))


def crash_seeds() -> str:
    """For each campaign the numbers it runs with, and how it draws its choices from a seed."""
    parts = []
    for each in crash.CAMPAIGNS:
        title = (each.__doc__ or "").partition(":")[0].strip()
        parts += [title, *(f"    {line}" for line in dict.fromkeys(_choices(each))), ""]
    parts.append(f"The first draws of rounds from SEED={SEED}")
    for engine in ENGINES:
        tally = Tally(module="", engine=engine, seed=SEED, number=ROUNDS, counted="rounds")

        def draw(chance: random.Random, at: int, tally: Tally = tally) -> None:
            tally.events["rounds"] += 1
            said = " ".join(f"{chance.random():.6f}" for _ in range(DRAWS))
            parts.append(f"    {tally.engine} {at}: {said}")

        tally.run(None, draw)
    parts.append("\nSimulated days, without a ledger")
    for seed in range(SEED, SEED + ROUNDS):
        outcome = place("simulate")(seed, DAYS)
        counts = ", ".join(f"{number} {name}" for name, number in sorted(outcome.counts.items()))
        parts.append(f"    SEED={seed} N={DAYS:g}: trace {outcome.trace}: {counts}")
    return "\n".join(parts) + "\n"


def _choices(campaign: ModuleType) -> Iterator[str]:
    """Simple constants, the order of a run, and every draw, in the order of the source."""
    tree = ast.parse(inspect.getsource(campaign))
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            text = ast.unparse(node)
            if (
                isinstance(_literal(node.value), int | float | tuple | list)
                and "tests." not in text
            ):
                yield text
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            text = ast.unparse(call)
            if re.match(r"(order|random\.Random|(self\._)?chance\.\w+)\(", text):
                yield text


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None
