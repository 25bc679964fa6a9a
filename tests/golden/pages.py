"""The visible text of a page as a scene: what its main part says, one piece of text per line."""

from __future__ import annotations

import re

from tests.golden import golden, masked
from tests.surface.visitor import Page

LEFT_OUT = re.compile(
    r'<article[^>]*id="tile-disk".*?</article>|<p[^>]*data-notice="disk_full".*?</p>'
    r"|<noscript>.*?</noscript>",
    re.DOTALL,
)
"""How full a disk is differs from machine to machine; every page says the same without scripts."""

MASKS = (
    (re.compile(r"\b\d\d:\d\d:\d\d UTC\b"), "<clock>"),
    (re.compile(r"\b[0-9a-f]{8}\b"), "<file>"),
    (re.compile(r"\b\d{3,} B\b|\b\d[\d.]* [KMGT]B\b"), "<size>"),
)
"""Times of a day, names in short, and sizes that depend on how well a file is compressed."""


def golden_page(screen: str, scene: str, page: Page) -> None:
    """Compare the main part of a page with its scene, or write it (GOLDEN=1)."""
    start, end = page.html.index("<main"), page.html.index("</main>") + len("</main>")
    main = Page(page.status, LEFT_OUT.sub("", page.html[start:end]))
    pieces = (" ".join(piece.split()) for piece in main.words)
    text = masked("\n".join(piece for piece in pieces if piece))
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    golden(screen, scene, text)
