"""How is a stranger's text shown, so that it is read and never acts?

Escaping markup is the template's work and always on. Here what a browser would obey rather than
show is made visible: control characters, marks of direction, and what takes no place at all.
"""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup, escape

LINE = 400
"""So many characters of a title or a reason are shown in one line."""

_PICTURE = "\U0001f000-\U0001faff\u2190-\u2bff\ufe0f"
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
    # Between pictures it makes one of them, between Arabic letters it is how people write.
    f"|(?<![{_PICTURE}])\u200d|\u200d(?![{_PICTURE}])|(?<![\u0600-\u06ff])\u200c"
)


def visible(text: str) -> str:
    """Text without a character that acts; line breaks and tabs stay."""
    return _ODD.sub(lambda found: f"\u2039{_called(found[0])}\u203a", text)


def marked(text: str) -> Markup:
    """The same for a page, where what was hidden stands out."""
    parts: list[Markup] = []
    end = 0
    for found in _ODD.finditer(text):
        parts.append(escape(text[end : found.start()]))
        parts.append(Markup('<span class="odd">{}</span>').format(_called(found[0])))
        end = found.end()
    return Markup("").join((*parts, escape(text[end:])))


def finalized(value: object) -> object:
    """What a template puts out for a value, whichever it is; nothing is left to be remembered."""
    if isinstance(value, Markup):
        return value
    return marked(value) if isinstance(value, str) else value


def line(text: object, most: int = LINE) -> str:
    """One line of a text, no longer than a line may be."""
    said = str(text)
    words = " ".join(said[: 4 * most].split())
    return words if len(words) <= most and len(said) <= 4 * most else words[: most - 1] + "…"


def _called(character: str) -> str:
    """What a character that can not be seen is called."""
    if character == "\x1b":
        return "ESC"
    if character < " ":
        return f"^{chr(ord(character) + 64)}"
    name = unicodedata.name(character, "")
    known = _SHORT.get(character)
    return known or (name.title() if 0 < len(name) <= 12 else f"U+{ord(character):04X}")


_SHORT = {
    "\xad": "SHY", "\u200b": "ZWSP", "\u200c": "ZWNJ", "\u200d": "ZWJ", "\u200e": "LRM",
    "\u200f": "RLM", "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO",
    "\u202e": "RLO", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI",
    "\ufeff": "BOM", "\x7f": "DEL",
}  # fmt: skip
