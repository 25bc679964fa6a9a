"""Texts claim no more than the product does."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLAIM = re.compile(r"exactly[-\s]+once", re.IGNORECASE)
WHERE_IT_HOLDS = {
    "CHANGELOG.md": "the built-in memory",
    "docs/finalizers.md": "the built-in memory, beside what holds for the other kinds",
    "docs/guarantees.md": "a session ends once",
    "src/sexton/finalizers/effects/memory_effect.py": "the built-in memory",
    "src/sexton/finalizers/effects/memory_file.py": "the built-in memory",
}


def test_exactly_once_is_claimed_only_where_it_holds() -> None:
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    texts += [each for kind in ("*.py", "*.html") for each in (ROOT / "src").rglob(kind)]
    claiming = {
        each.relative_to(ROOT).as_posix() for each in texts if CLAIM.search(each.read_text())
    }
    assert claiming <= set(WHERE_IT_HOLDS)
