"""Every guarantee names a test that exists, and the pages are sound."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guarantees.md"
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench" / "README.md"]
REPORTED = ROOT / "docs" / "hermes.md"
PROOF = re.compile(r"`((?:tests|src)/[\w/]+\.py)(?:::(test_\w+))?`")

HEADS = ("| promise | shown by |", "| reported |")


def unproven(page: str, root: Path) -> list[str]:
    """The lines of the page's tables that name no proof, or one that does not exist."""
    found = []
    for line in page.splitlines():
        if line.startswith("| ") and not line.startswith(HEADS):
            proofs = PROOF.findall(line)
            exist = all(_exists(root / file, name) for file, name in proofs)
            if not proofs or not exist:
                found.append(line)
    return found


def _exists(file: Path, name: str) -> bool:
    return file.is_file() and f"def {name}(" in file.read_text() if name else file.is_file()


def test_every_guarantee_names_a_test_that_exists() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert PROOF.search(page)
    assert unproven(page, ROOT) == []


def test_a_guarantee_without_a_proof_is_noticed() -> None:
    lines = ("| trust us | |", "| x | `tests/unit/test_gone.py::test_x` |")
    assert unproven("\n".join(lines), ROOT) == list(lines)


def test_all_that_was_reported_about_hermes_names_a_test_that_exists() -> None:
    page = REPORTED.read_text(encoding="utf-8")
    _, _, section = page.partition("\n## What was reported")
    section, _, _ = section.partition("\n## ")
    lines = [each for each in section.splitlines() if each.startswith("| ")]
    assert section.count("\n### ") == sum(each.startswith(HEADS) for each in lines) == 5
    assert unproven(section, ROOT) == []
    rows = [each for each in lines if not each.startswith(HEADS)]
    assert [each for each in rows if not any(name for _, name in PROOF.findall(each))] == []


def test_every_place_that_the_guides_name_exists() -> None:
    place = re.compile(r"`((?:src|tests|docs|scripts)/[\w/.]+)`")
    named = [
        each
        for guide in ("AGENTS.md", "CONTRIBUTING.md")
        for each in place.findall((ROOT / guide).read_text(encoding="utf-8"))
    ]
    assert "src/sexton/errors" in named
    assert [each for each in named if not (ROOT / each).exists()] == []


def test_every_page_that_is_linked_exists() -> None:
    link = re.compile(r"\]\((?!https?:)([^)#]+)")
    dead = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in link.findall(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert dead == []


def test_no_page_says_a_small_word_twice() -> None:
    small = "a|an|and|are|as|at|be|by|for|in|is|it|of|on|or|that|the|to|was|with"
    twice = re.compile(rf"\b({small})\s+\1\b", re.IGNORECASE)
    assert twice.search("a list of\nof names")
    found = [
        f"{page.name}: {each.group()}"
        for page in PAGES
        for each in twice.finditer(page.read_text(encoding="utf-8"))
    ]
    assert found == []
