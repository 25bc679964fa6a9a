"""Refuses a schema in which a write of ours could set off anything that Hermes did not put there.

Triggers, views and full-text indexes must belong to Hermes's search. Tables and indexes grow by
ALTER TABLE in any order, so Sexton judges them item by item: plain columns, constant defaults and
references to sessions. Then no expression, collation or generated value of theirs runs on a write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from sexton.errors import HomeRefused
from sexton.homes.hermes.fingerprint import Shape
from sexton.homes.hermes.hermes_writer import SHADOWS
from sexton.homes.hermes.known_search import INDEXES, is_of_search
from sexton.homes.hermes.sql_tokens import lower, tokens

LONGEST_DEFINITION = 65_536
OBJECTS = f"""
    SELECT CAST(type AS BLOB), CAST(name AS BLOB), CAST(tbl_name AS BLOB),
           CASE WHEN octet_length(sql) <= {LONGEST_DEFINITION} THEN CAST(sql AS BLOB) ELSE '' END
    FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name"""

_NAME = r'(?:[a-z_][\w$]*|"(?:[^"]|"")*+")'
_NAMES = rf"\( {_NAME}(?: , {_NAME})* \)"
_LITERAL = r"(?:'(?:[^']|'')*+'|x'[0-9a-f]*'|(?:[-+] )?[0-9][\w.]*|null|true|false)"
_REFERENCE = rf"references {_NAME}(?: \( {_NAME} \))?(?: on delete (?:cascade|no action|restrict))?"
_COLUMN = re.compile(
    rf"{_NAME}(?: (?:text|integer|int|real|blob|numeric|boolean))?"
    rf"(?: not null| primary key(?: autoincrement)?| default {_LITERAL}| {_REFERENCE})*"
)
_CONSTRAINT = re.compile(rf"primary key {_NAMES}|foreign key \( {_NAME} \) {_REFERENCE}")
_KEY = re.compile(rf"(?:{_NAME}|coalesce {_NAMES})(?: asc| desc)?")
_TERM = re.compile(rf"{_NAME}|{_LITERAL}")
_JOINED = frozenset({"=", "<>", "is", "not", "null", "and", "or"})
_UNIQUE = frozenset(
    {
        "sessions ( title ) where title is not null",
        "telegram_dm_topic_bindings ( session_id )",
    }
)


class _Object(NamedTuple):
    kind: str
    name: str
    table: str
    sql: str

    @property
    def words(self) -> tuple[str, ...]:
        return tokens(self.sql)


def refuse_strangers(db: apsw.Connection, database: Path, shape: Shape) -> None:
    """HomeRefused, naming the first object that is not as Hermes makes it. Changes nothing."""
    for stranger in _strangers(db, shape):
        raise HomeRefused(
            f"{database} is not changed: it has {stranger}",
            hint="Find out who made it, and drop it if Hermes did not. "
            "Sexton still observes the home.",
        )


def _strangers(db: apsw.Connection, shape: Shape) -> Iterator[str]:
    rows: list[Any] = db.execute(OBJECTS).fetchall()
    objects = [_Object(*map(_text, row)) for row in rows]
    tables = [each.name for each in objects if each.kind == "table"]
    references = {table: list(_references(db, table)) for table in tables}
    deleted = {"sessions", "messages"}
    deleted |= {table for table, found in references.items() if "sessions" in dict(found)}
    written = deleted.union(SHADOWS, (parent for parent, _ in references.get("sessions", ())))
    for each in objects:
        problem = _problem(db, each, shape, {lower(name) for name in written})
        if problem is not None:
            yield f"the {each.kind} '{each.name}', which {problem}"
    for table, found in references.items():
        for parent, action in found:
            if parent == "sessions" and action not in _allowed_actions(table):
                yield f"the table '{table}', which changes with sessions.{action}"
            elif parent != "sessions" and lower(parent) in {lower(name) for name in deleted}:
                yield f"the table '{table}', which refers to '{parent}'"


def _references(db: apsw.Connection, table: str) -> Iterator[tuple[str, str]]:
    """To which tables a table refers; the column there, and what happens on update and delete."""
    quoted = table.replace('"', '""')
    rows: list[Any] = db.execute(f'PRAGMA foreign_key_list("{quoted}")').fetchall()
    for _, seq, parent, _, column, on_update, on_delete, _ in rows:
        meant = "id" if column is None and not seq else column
        yield str(parent), f"{meant}: {on_update}, {on_delete}"


def _allowed_actions(table: str) -> tuple[str, ...]:
    """A row may keep its session from going or go with it; a session never goes with another."""
    kept = ("id: NO ACTION, NO ACTION", "id: NO ACTION, RESTRICT")
    return kept if table == "sessions" else (*kept, "id: NO ACTION, CASCADE")


def _text(raw: object) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def _problem(db: apsw.Connection, each: _Object, shape: Shape, written: set[str]) -> str | None:
    name = lower(each.name)
    match each.kind:
        case "trigger" | "view":
            return None if is_of_search(each.words, shape.version) else "is not Hermes's own"
        case "table" if name in INDEXES:
            return None if is_of_search(each.words, shape.version) else "is not Hermes's own"
        case "table" if name in written:
            return _table_problem(db, each)
        case "index" if lower(each.table) in written:
            return None if _is_plain_index(each) else "is not plain"
        case "table" | "index":
            return None
        case _:
            return "is of no known kind"


def _table_problem(db: apsw.Connection, each: _Object) -> str | None:
    """What keeps Sexton from writing to a table, if anything does."""
    name = lower(each.name)
    shadow = name in SHADOWS
    if each.words[:2] != ("create", "table") or each.words[3:4] != ("(",):
        return "is not a plain table"
    if _bare(each.words[2]) != name:
        return "has another name in its definition"
    end = _closing(each.words, 3)
    if each.words[end + 1 :] and not shadow:
        return f"is {' '.join(each.words[end + 1 :])}"
    for item in _items(each.words[4:end]):
        if not _COLUMN.fullmatch(item) and not _CONSTRAINT.fullmatch(item):
            return f"has more than plain columns: {item[:60]}"
    if name in ("sessions", "messages") and _keys(db, name) != ["id"]:
        return "has another primary key than id"
    return None


def _is_plain_index(each: _Object) -> bool:
    """CREATE INDEX name ON table (columns) WHERE simple comparisons."""
    unique = each.words[1:2] == ("unique",)
    words = each.words[2 if unique else 1 :]
    if words[:1] != ("index",) or words[2:3] != ("on",) or words[4:5] != ("(",):
        return False
    if unique:
        return " ".join(words[3:]) in _UNIQUE
    end = _closing(words, 4)
    rest = words[end + 1 :]
    return (
        all(_KEY.fullmatch(item) for item in _items(words[5:end]))
        and rest[:1] in ((), ("where",))
        and _is_comparison(rest)
    )


def _is_comparison(words: Sequence[str]) -> bool:
    """Whether a condition compares columns and constants, and calls no function."""
    for before, word in pairwise(words):
        if word == "(" and before not in ("where", "and", "or", "not", "("):
            return False
        if word not in _JOINED and word not in "()" and not _TERM.fullmatch(word):
            return False
    return not {"collate", "like", "glob", "match", "regexp", "in", "select"} & set(words)


def _items(words: Sequence[str]) -> Iterator[str]:
    """What stands between the commas that are in no parentheses."""
    item: list[str] = []
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if word == "," and not depth:
            yield " ".join(item)
            item = []
        else:
            item.append(word)
    yield " ".join(item)


def _closing(words: Sequence[str], opening: int) -> int:
    """Where the parenthesis that opens there is closed; past the end if it never is."""
    depth = 0
    for place in range(opening, len(words)):
        depth += (words[place] == "(") - (words[place] == ")")
        if not depth:
            return place
    return len(words)


def _bare(word: str) -> str:
    return lower(word[1:-1]) if word[:1] in "'\"" else word


def _keys(db: apsw.Connection, table: str) -> list[Any]:
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
