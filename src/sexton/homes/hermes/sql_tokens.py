"""Splits SQL of a foreign schema into tokens, so that two spellings of one statement compare equal.

White space, comments, letter case, needless quotes and IF NOT EXISTS make no difference. The rules
are SQLite's own: only ASCII letters have a case, and only five characters are white space.
"""

from __future__ import annotations

import re
import string

import apsw

_TOKEN = re.compile(
    r"""
    (?P<gap>[ \t\n\f\r]++|--[^\n]*+|/\*.*?(?:\*/|\Z))
    |(?P<literal>'(?:[^']|'')*+'|[xX]'[0-9a-fA-F]*+')
    |(?P<quoted>"(?:[^"]|"")*+"|`(?:[^`]|``)*+`|\[[^\]]*+\])
    |(?P<number>[0-9][0-9A-Za-z_.]*+|\.[0-9][0-9A-Za-z_]*+)
    |(?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+)
    |(?P<mark>\|\||<>|<=|>=|==|!=|<<|>>|->>|->|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_$]*")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_WITH_A_MEANING = frozenset(word.translate(_LOWER) for word in apsw.keywords) | {"true", "false"}
_UNLESS_THERE = ("if", "not", "exists")


def tokens(sql: str) -> tuple[str, ...]:
    """The tokens of one statement; equal for statements that mean the same to SQLite."""
    found = [_token(part) for part in _TOKEN.finditer(sql) if part.lastgroup != "gap"]
    if found[-1:] == [";"]:
        del found[-1]
    if found[:1] == ["create"]:
        for place in (2, 3):
            if tuple(found[place : place + 3]) == _UNLESS_THERE:
                del found[place : place + 3]
    return tuple(found)


def lower(name: str) -> str:
    """A name in the case by which SQLite compares names."""
    return name.translate(_LOWER)


def _token(part: re.Match[str]) -> str:
    text = part[0]
    match part.lastgroup:
        case "quoted":
            return _unquoted(text)
        case "word" | "number":
            return lower(text)
        case _:
            return text


def _unquoted(text: str) -> str:
    """The bare name, unless it would mean something else without its quotes."""
    end = {"[": "]"}.get(text[0], text[0])
    inner = text[1:-1].replace(end * 2, end) if end != "]" else text[1:-1]
    name = lower(inner)
    if _PLAIN_NAME.fullmatch(name) and name not in _WITH_A_MEANING:
        return name
    return '"' + name.replace('"', '""') + '"'
