"""How is an element of SVG written, so that nothing in it can be taken for markup?"""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from sexton.web.writing import visible

Point = tuple[float, float]


def element(name: str, *inside: Markup, **attributes: str | float) -> Markup:
    """An element; `class_` is its class, and `_` in other names stands for `-`."""
    given = "".join(
        f' {_name(each)}="{escape(_value(value))}"' for each, value in attributes.items()
    )
    return Markup(f"<{name}{given}>{Markup('').join(inside)}</{name}>")  # noqa: S704  # both escaped


def words(text: str) -> Markup:
    """Text inside an element."""
    return escape(visible(text))


def picture(width: float, height: float, told: str, *inside: Markup, class_: str) -> Markup:
    """A picture that is read aloud as `told`."""
    return element(
        "svg",
        element("title", words(told)),
        *inside,
        class_=class_,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
    )


def stretched(width: float, height: float, told: str, *inside: Markup, class_: str) -> Markup:
    """A picture that takes whatever place it is given, and is out of shape by that."""
    return element(
        "svg",
        element("title", words(told)),
        *inside,
        class_=class_,
        viewBox=f"0 0 {width:g} {height:g}",
        preserveAspectRatio="none",
        role="img",
    )


def path(points: Iterable[Point]) -> str:
    """A line through points."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _name(given: str) -> str:
    return given if given == "viewBox" else given.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return visible(value) if isinstance(value, str) else f"{round(value, 2):g}"
