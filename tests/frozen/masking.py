"""What differs from run to run gets a name by its kind and its place; long lists are shortened."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import sexton
from tests.frozen.places import place
from tests.surface.program import ROOT

LONG = 8
KINDS = (
    *("kind", "action", "result", "state", "event", "code"),
    *("holds", "finalizer", "verdict", "home"),
)
"""What tells things of a list apart: of each sort the first is shown."""
MEASURED = (
    *("boot_id", "inode", "seconds", "window_seconds", "memory_bytes", "database_bytes"),
    *("wal_bytes", "free_bytes", "total_bytes", "not_before"),
)
"""What no two runs have alike."""
SIZED = ("vault",)
"""Under these keys no size is the same in two runs; nor is that of a file with a digest."""
REFS = ("ref", "subject", "cursor", "process")
VALUES = (
    ("digest", r"\b(?:hmac-)?sha256:[0-9a-f]{64}\b|\b[0-9a-f]{64}\b"),
    ("id", r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b"),
    ("receipt", r"\b(?=[0-9a-f]*[1-9a-f])[0-9a-f]{12}\b"),
    ("pid", r"(?<=\bpid )\d+|(?<=\bprocesses (?:stop|keep) )\d+|(?<=\bkill )\d+"),
    ("port", r"(?<=127\.0\.0\.1:)\d{2,}\b"),
    ("code", r"(?<=login\?code=)[\w-]+"),
    ("user", r"[\w.-]+(?=@<host>)"),
)
MOMENTS = (
    (
        "<time>",
        r"\b20(?:2[1-9]|[3-9]\d)-\d\d-\d\d[T ]\d\d:\d\d(?::[\d.]+)?(?: UTC|Z|\+00:00)?",
    ),
    ("<seconds>", r"(?<= in )\d+\.\d s$"),
    ("<size>", r"(?<=, )\d+(?:\.\d)? K?B(?=, (?:could be brought|from the archive))"),
)
"""What the machine's own clock says, and how small a vault file is; that of the scene stands
in 2020."""


class Mask:
    """Names for what differs, numbered in order of appearance, the same for the same."""

    def __init__(self, known: Mapping[str, object]) -> None:
        usual = {"python": sys.executable, "repository": ROOT, "version": sexton.__version__}
        found = ((str(value), f"<{name}>") for name, value in {**known, **usual}.items())
        self._known = sorted(found, key=lambda each: -len(each[0]))
        host = re.escape(place("host")())
        self._host = re.compile(rf"(?<=@){host}\b|(?<=\bon ){host}\b|^{host}$")
        self._seen: dict[str, dict[str, str]] = defaultdict(dict)

    def name(self, kind: str, value: object) -> str:
        """The name of a value."""
        known = self._seen[kind]
        return known.setdefault(str(value), f"<{kind} {len(known) + 1}>")

    def text(self, text: str) -> str:
        """A text whose values have names."""
        for value, name in self._known:
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", name, text)
        text = self._host.sub("<host>", text)
        for kind, pattern in VALUES:
            text = re.sub(pattern, partial(self._named, kind), text)
        for name, pattern in MOMENTS:
            text = re.sub(pattern, name, text)
        return text

    def _named(self, kind: str, found: re.Match[str]) -> str:
        return self.name(kind, found[0])

    def value(self, value: Any, key: str = "", *, sized: bool = False) -> Any:
        """The same for a JSON value."""
        if isinstance(value, dict) and key == "tables":
            return dict.fromkeys(sorted(value), "<size>")
        if isinstance(value, dict):
            sized = sized or key in SIZED or "sha256" in value
            told = ((self.text(n), self.value(each, n, sized=sized)) for n, each in value.items())
            return dict(told)
        if isinstance(value, list):
            return [self.value(each, key, sized=sized) for each in shortened(value)]
        if isinstance(value, bool) or value is None:
            return value
        if key in MEASURED:
            return f"<{key}>"
        return self._leaf(value, key, sized=sized)

    def _leaf(self, value: Any, key: str, *, sized: bool) -> Any:
        ref = str(value).rpartition("-")[2]
        if key in REFS and len(ref) > 4 and ref.isdecimal():
            return str(value).removesuffix(ref) + self.name("ref", ref)
        if isinstance(value, str):
            return self.text(value)
        if key == "pid":
            return self.name("pid", value)
        return "<size>" if sized and value and key.endswith("bytes") else value


def shortened(values: list[Any]) -> Iterator[Any]:
    """A long list of records: of each sort the first, and how many more there are."""
    if len(values) <= LONG or not all(isinstance(each, dict) for each in values):
        yield from values
        return
    sorts = Counter(map(_sort, values))
    for each in values:
        more = sorts.pop(_sort(each), 0) - 1
        if more >= 0:
            yield each | ({"...": f"{more} more"} if more else {})


def _sort(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return " ".join(f"{name}={value[name]}" for name in KINDS if name in value) + "".join(
        f" ({_sort(value[name])})" for name in ("reason", "session") if name in value
    )


def as_json(value: Any) -> str:
    """A value as it is frozen."""
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=False) + "\n"
