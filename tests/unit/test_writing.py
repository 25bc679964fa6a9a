"""Strangers' text is shown, and never acts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from sexton.web.rendering import Templates
from sexton.web.writing import LINE, finalized, line, marked, visible

ACTING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


@given(st.text(st.characters(codec=None)))
def test_nothing_that_acts_is_left_in_a_text(text: str) -> None:
    shown = visible(text)
    left = {c for c in shown if unicodedata.category(c) in ACTING} - set("\n\t\u200c\u200d")
    known = {c for c in left if unicodedata.category(c) == "Cf"}
    assert left == known, "only marks that belong to a script may stay"
    assert not known & set(
        "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain — ünïcödé 漢字", "plain — ünïcödé 漢字"),
        ("\x1b[31mred", "‹ESC›[31mred"),
        ("evil\u202egnp.exe", "evil‹RLO›gnp.exe"),
        ("a\u200bb\ufeff", "a‹ZWSP›b‹BOM›"),
        ("\x00\x07\x9b", "‹^@›‹^G›‹U+009B›"),
        ("lone \ud800", "lone ‹U+D800›"),
        ("👩‍💻 at work", "👩‍💻 at work"),
        ("نامه\u200cای", "نامه\u200cای"),
        ("x\u200dy", "x‹ZWJ›y"),
        ("two\nlines\tand tab", "two\nlines\tand tab"),
    ],
)
def test_what_can_not_be_seen_is_named(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_what_was_hidden_stands_out_on_a_page_and_markup_is_text() -> None:
    assert marked("<b>\u202e") == '&lt;b&gt;<span class="odd">RLO</span>'
    assert finalized(Markup("<b>")) == "<b>"
    assert finalized(7) == 7


def test_a_line_is_one_line_of_bounded_length() -> None:
    assert line("  a\n\tb  ") == "a b"
    endless = line("x" * 10**6)
    assert len(endless) == LINE
    assert endless.endswith("x…")
    assert line("short" + " " * 10**6 + "end") == "short…"


def test_a_template_escapes_whatever_it_is_given_without_being_told() -> None:
    templates = Templates()
    page = templates.environment.from_string('<p title="{{ text }}">{{ text }}</p>{{ missing }}')
    with pytest.raises(Exception, match="missing"):
        page.render(text="x")
    page = templates.environment.from_string("<p>{{ text }}</p>")
    shown = page.render(text="<script>\u202e\x1b</script>")
    assert shown == (
        '<p>&lt;script&gt;<span class="odd">RLO</span><span class="odd">ESC</span>'
        "&lt;/script&gt;</p>"
    )
