"""What of a command line may people and logs see?"""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST = 4000
MASK = "***"

_WORDS = (
    r"(?:token|secret|passw(?:or)?d|passphrase|api[-_]?key|key|auth(?:orization)?|credentials?"
    r"|cookie|bearer)"
)
_NAMED = re.compile(rf"^(-{{0,2}}[\w.-]*{_WORDS}[\w.-]*)([=:]).+$", re.IGNORECASE | re.DOTALL)
_FLAG = re.compile(rf"^--?[\w.-]*{_WORDS}$", re.IGNORECASE)
_HEADER = re.compile(
    r"(authorization|cookie|x-[\w-]*(?:key|token)):\s*.+", re.IGNORECASE | re.DOTALL
)
_INSIDE = re.compile(rf"\b([\w.-]*{_WORDS}[\w.-]*=)[^\s&\"']+", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(://[^/\s:@]*):[^/\s@]+@")
_LOOKS_SECRET = re.compile(
    r"\b(sk|pk|rk|gsk|hf|gh[a-z]|glpat|xox[a-z]|whsec)[-_][\w-]{8,}|\bAKIA\w{12,}"
)


def masked(arguments: Sequence[str]) -> str:
    """A command line for people, without what looks like a secret."""
    words, hide = [], False
    for argument in arguments:
        words.append(MASK if hide else _masked(argument))
        hide = not hide and bool(_FLAG.match(argument))
    return " ".join(words)[:LONGEST]


def _masked(argument: str) -> str:
    if named := _NAMED.match(argument):
        return f"{named[1]}{named[2]}{MASK}"
    text = _HEADER.sub(lambda found: f"{found[1]}: {MASK}", argument)
    text = _INSIDE.sub(rf"\1{MASK}", text)
    text = _IN_ADDRESS.sub(rf"\1:{MASK}@", text)
    return _LOOKS_SECRET.sub(MASK, text)
