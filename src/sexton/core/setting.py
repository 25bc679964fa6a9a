"""What people can set: a field of a record that says all there is to say about one setting.

`sexton.settings` reads files, finds mistakes, shows values and writes the reference from it. A
library that only uses the record pays for a few texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, TypeVar

T = TypeVar("T")

KindName: TypeAlias = Literal[
    "address", "amount", "at_once", "command", "directory", "endpoint", "event", "file",
    "home_kind", "home_name", "hour", "large_size", "minutes", "money", "pattern", "plain_name",
    "port", "price", "share", "size", "source", "steps", "tokens", "variable", "zone",
]  # fmt: skip
"""The kinds of value that a type alone does not tell; `settings/vocabulary.py` has all."""


class Setting:
    """The declaration of one setting; `setting` says what each part means."""

    __slots__ = (
        "about", "belongs", "change", "default", "kind", "match", "name", "needed", "null",
        "otherwise", "unit", "usual",
    )  # fmt: skip
    default: Any
    about: str
    change: str
    kind: KindName | None
    unit: str
    null: str | None
    otherwise: str
    match: bool
    name: str | None
    belongs: tuple[str, ...]
    needed: bool
    usual: Mapping[str, Any]

    def __init__(self, **parts: Any) -> None:
        for part in self.__slots__:
            setattr(self, part, parts[part])

    @property
    def text(self) -> str:
        """The whole paragraph."""
        return f"{self.about} {self.change}".strip()


NOTHING: Any = object()
"""The default of a setting that has none."""


def setting(  # noqa: PLR0913  # a declaration says everything at once
    *,
    default: T = NOTHING,
    about: str,
    change: str,
    kind: KindName | None = None,
    unit: str = "",
    null: str | None = None,
    otherwise: str = "",
    match: bool = False,
    name: str | None = None,
    belongs: tuple[str, ...] = (),
    needed: bool = False,
    usual: Mapping[str, Any] | None = None,
) -> T:
    """Declare a field that can be set.

    `about` says what it means and why its default is what it is; `change` says when to change it.
    The field's type tells what can be written, more exactly a `kind`; `unit` is what a number
    counts, `null` what null means where it can be written. `otherwise` describes the default where
    it is no value that one could write; `match` is a list that matches any where it is left out,
    and so is never empty. `name` is its name in the file where that is another one.

    In a section whose entries are of several kinds, `belongs` has the kinds that have the setting,
    `needed` says that those cannot do without it, and `usual` has defaults of single kinds.
    """
    declared: Any = Setting(
        default=default,
        about=about,
        change=change,
        kind=kind,
        unit=unit,
        null=null,
        otherwise=otherwise,
        match=match,
        name=name,
        belongs=belongs,
        needed=needed,
        usual=usual or {},
    )
    field: T = declared
    return field
