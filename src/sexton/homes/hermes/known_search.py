"""Decides whether a trigger, view or full-text index belongs to Hermes's search and does no more.

Those of the published schema must be Hermes's own, token for token. Those of the unpublished schema
differ from build to build, so Sexton judges what they can do: each statement of such a trigger
writes to the one index that the trigger is named for, and its expressions are made of a closed set
of words, none of which writes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import apsw

from sexton.homes.hermes.sql_tokens import tokens

PUBLISHED = 22
"""The newest schema of a published Hermes; `demo/schema.sql` has its triggers and indexes."""
INDEXES = ("messages_fts", "messages_fts_trigram")
_MADE_FOR_SEARCH = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' OR sql LIKE '%USING fts5%'"
_EXPRESSION = frozenset(
    re.findall(
        r"\S+",
        """
    ( ) , . = <> < > <= >= || - new old and or not is null in case when then else end
    select from where cast as integer exists coalesce substr json_extract json_valid json_object
    sessions state_meta id role content tool_name tool_calls session_id source model_config
    key value
    """,
    )
)
_VIEW = _EXPRESSION | {"messages", "join", "on", "m", "s"}
_ARGUMENTS = frozenset(
    re.findall(
        r"\S+",
        """
    , = content tool_name tool_calls content_rowid tokenize 'id' 'trigram' 'messages'
    'messages_fts_src' 'messages_fts_trigram_src'
    """,
    )
)
_SHORTEST = ("create", "view", "name", "as", "select", "1")
_CONSTANT = re.compile(r"'(?:[^']|'')*+'|[0-9]+")

Words = Sequence[str]


def is_of_search(words: tuple[str, ...], version: int) -> bool:
    """Whether the object with that definition is one of Hermes's search in that schema."""
    if words in _published():
        return True
    if version <= PUBLISHED or len(words) < len(_SHORTEST):
        return False
    match words[:2]:
        case ("create", "trigger"):
            return _only_indexes(words)
        case ("create", "view"):
            sources = [f"{index}_src" for index in INDEXES]
            return words[2] in sources and words[3] == "as" and _within(words[3:], _VIEW)
        case ("create", "virtual"):
            return (
                words[3] in INDEXES
                and (words[2], *words[4:7]) == ("table", "using", "fts5", "(")
                and words[-1] == ")"
                and all(word in _ARGUMENTS for word in words[7:-1])
            )
        case _:
            return False


@cache
def _published() -> frozenset[tuple[str, ...]]:
    """The triggers and full-text indexes of the published Hermes."""
    text = resources.files("sexton.homes.hermes.demo").joinpath("schema.sql").read_text()
    trial = apsw.Connection(":memory:")
    try:
        trial.execute(text)
        rows: list[Any] = trial.execute(_MADE_FOR_SEARCH).fetchall()
    finally:
        trial.close()
    return frozenset(tokens(sql) for (sql,) in rows)


def _only_indexes(words: Words) -> bool:
    """Whether a trigger of `messages` can write only to the index it is named for."""
    index, _, event = words[2].rpartition("_")
    if index not in INDEXES or tuple(words[3:5]) != ("after", event) or "begin" not in words:
        return False
    begin = words.index("begin")
    return _is_head(words[5:begin]) and _is_body(words[begin + 1 :], index)


def _is_head(words: Words) -> bool:
    """OF any columns, ON messages, WHEN a harmless condition holds."""
    if "on" not in words:
        return False
    place = words.index("on")
    columns, rest = words[:place], words[place:]
    return (
        tuple(columns[:1]) in ((), ("of",))
        and tuple(rest[:2]) == ("on", "messages")
        and tuple(rest[2:3]) in ((), ("when",))
        and _within(rest[3:], _EXPRESSION)
    )


def _is_body(words: Words, index: str) -> bool:
    if tuple(words[-2:]) != (";", "end"):
        return False
    statement: list[str] = []
    for word in words[:-1]:
        if word != ";":
            statement.append(word)
        elif not _is_of_index(statement, index):
            return False
        else:
            statement = []
    return True


def _is_of_index(statement: list[str], index: str) -> bool:
    """Whether a statement removes the old row from the index or adds to it."""
    if statement == ["delete", "from", index, "where", "rowid", "=", "old", ".", "id"]:
        return True
    if statement[:4] != ["insert", "into", index, "("] or ")" not in statement:
        return False
    end = statement.index(")")
    columns, rest = statement[4:end], statement[end + 1 :]
    return (
        set(columns) <= {index, ",", "rowid", "content", "tool_name", "tool_calls"}
        and rest[:1] in (["values"], ["select"])
        and _within(rest[1:], _EXPRESSION)
    )


def _within(words: Words, allowed: frozenset[str]) -> bool:
    return all(word in allowed or _CONSTANT.fullmatch(word) for word in words)
