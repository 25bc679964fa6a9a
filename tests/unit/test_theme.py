"""Everybody can read the pages: text stands out from its ground, by day and by night."""

from __future__ import annotations

import re
from importlib import resources

import pytest

TEXT = ("ink", "soft", "faint")
GROUNDS = ("ground", "surface", "raised", "sunken")
TONES = ("live", "waiting", "suspect", "leaked", "unproven", "held", "busy", "dead", "done")
ENOUGH = 4.5


def colours() -> dict[str, dict[str, str]]:
    """The colours of the style sheet; what the night does not name is as by day."""
    sheet = resources.files("sexton.web").joinpath("static/theme.css").read_text(encoding="utf-8")
    day, night = sheet.split("@media (prefers-color-scheme: dark)")
    found = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", part)) for part in (day, night)]
    return {"light": found[0], "dark": found[0] | found[1]}


def brightness(colour: str) -> float:
    """As a person sees it (WCAG 2, relative luminance)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast_to_whatever_it_stands_on(scheme: str) -> None:
    known = colours()[scheme]
    pairs = [
        *((text, ground) for text in TEXT for ground in GROUNDS),
        *((tone, f"{tone}-wash") for tone in TONES),
        *((tone, ground) for tone in (*TONES, "accent") for ground in ("surface", "raised")),
        ("accent", "accent-wash"),
        ("accent-ink", "accent"),
        ("surface", "dead"),
    ]
    poor = {
        f"{one} on {other}": round(found, 2)
        for one, other in pairs
        if (found := contrast(known[one], known[other])) < ENOUGH
    }
    assert poor == {}
