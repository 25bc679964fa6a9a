"""How does text that others wrote get onto a page? As text, with nothing hidden in it."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

_PICTURES = 0x2400
_DELETE = "\x7f"


def visible(text: object, *, lines: bool = False) -> str:
    """Text in which control characters, direction marks and the like can be seen, and do nothing.

    With `lines` the line breaks and tabs of a transcript stay what they are.
    """
    said = str(text)
    kept = "\n\t" if lines else ""
    if said.isprintable():
        return said
    return "".join(c if c.isprintable() or c in kept else _picture(c) for c in said)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\u2421" if character == _DELETE else f"‹U+{code:04X}›"


class Templates:
    """The templates of the pages: always escaped, and a name that is not given is an error."""

    def __init__(self, **everywhere: Any) -> None:
        self.environment = Environment(
            loader=PackageLoader("sexton.web", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.environment.filters["visible"] = visible
        self.environment.globals.update(everywhere)

    def page(self, name: str, /, status: int = 200, **given: Any) -> HTMLResponse:
        """A page from the template of that name."""
        text = self.environment.get_template(name).render(**given)
        return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)
