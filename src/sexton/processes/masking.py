"""What of a command line may people and logs see?

More is hidden than need be rather than less: nobody misses the value of `--tokenizer`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LONGEST = 4000
MASK = "***"

_MOST = 4 * LONGEST
"""So much of a line is looked at; what is hidden may be longer than what is shown."""
_BETWEEN = "\0"
"""Stands between two arguments, in none of which it can be."""

_NAME = (
    r"(?:[\w.-]{0,200}(?:token|secret|passw(?:or)?d|passphrase|credential|authorization|cookie"
    r"|bearer)[\w.-]{0,200}"
    r"|[\w.-]{0,200}(?:key|pass|pwd|auth)s?"
    r"|(?:[\w.-]{0,200}[-_.])?(?:key|pass|pwd|pw|pat|sig|signature|auth)(?:[-_.][\w.-]{0,200})?)"
)
_BEGINS = r"(?<![\w.-])"
_QUOTED = r"\"(?:[^\"\\]|\\.)*(?:\"|$)|'[^']*(?:'|$)"
_VALUE = rf"(?:{_QUOTED}|\\?[\"']?[^\s\0\"'&;,}}\]\\]+)"
# What is looked for from many places is looked for near them only: whoever chooses a command line
# could else keep those who read it busy for hours.
_HEADER = (
    r"((?:authorization|cookie|(?<![\w-])x-[\w-]{0,60}(?:key|token|auth)[\w-]{0,60}):[\s\0]*)"
    r"(?:(?:bearer|basic|token|digest)[\s\0]+)?[^\0\"']+"
)
_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), shown)
    for pattern, shown in (
        (r"(://[^/\s\0:@]{0,400}):[^\s\0]{1,1000}@", rf"\1:{MASK}@"),
        (r"://[^/\s\0:@]{20,}@", f"://{MASK}@"),
        (_HEADER, rf"\1{MASK}"),
        (r"\b(bearer|basic)[\s\0]+[^\s\0\"']{6,}", rf"\1 {MASK}"),
        (rf"((?:^|\0)-{{0,2}}{_NAME}[=:])(?:(?:{_QUOTED})[^\0]*|[^\0]+)", rf"\1{MASK}"),
        (rf"({_BEGINS}{_NAME}\\?[\"']?\s*[=:]\s*){_VALUE}", rf"\1{MASK}"),
        (
            rf"({_BEGINS}--?{_NAME})(?:(\0)(?!--?{_NAME}\0)[^\0]+|([ \t]+){_VALUE})",
            rf"\1 {MASK}",
        ),
        (r"((?:^|[\s\0])(?:-u|--user|--proxy-user)[\s\0=]?[^\s\0:]+):[^\s\0]+", rf"\1:{MASK}"),
        (r"(\b(?:mysql|mariadb|sshpass)[^;|&]{0,400}?[\s\0]-p)[\s\0]?[^\s\0]+", rf"\1{MASK}"),
        (r"(\bredis-cli\b[^;|&]{0,400}?[\s\0]-a[\s\0])[^\s\0]+", rf"\1{MASK}"),
        (r"\beyJ[\w-]{4,1000}\.[\w-]+(?:\.[\w-]*)?", MASK),
        (r"\b(?:sk|pk|rk|gsk|hf|gh[a-z]|github_pat|glpat|xox[a-z]|whsec)[-_][\w-]{8,}", MASK),
        (r"\bAKIA\w{12,}", MASK),
    )
)


def masked(arguments: Sequence[str]) -> str:
    """A command line for people, without what looks like a secret."""
    line = _BETWEEN.join(each.replace(_BETWEEN, " ") for each in arguments)[:_MOST]
    for pattern, shown in _RULES:
        line = pattern.sub(shown, line)
    return line.replace(_BETWEEN, " ")[:LONGEST]
