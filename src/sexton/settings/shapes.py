"""The shapes that settings are written in: sections, lists and mappings of values.

A shape reads what a file says and adds every mistake to those found before; it shows a value the
way it is written, and describes itself to an editor.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from types import NoneType
from typing import Any, Protocol, get_args, get_origin, get_type_hints

from sexton.core.record import record, settings_of
from sexton.core.setting import NOTHING, Setting
from sexton.settings.kinds import SHOWN, Kind, of_words, shown
from sexton.settings.settings_problems import Found, Path, did_you_mean
from sexton.settings.vocabulary import BY_TYPE, NAME, NAMED

_LIST_OF_WORDS = re.compile(r"[A-Za-z0-9_., -]+")


class Shape(Protocol):
    """What a setting's value can look like."""

    @property
    def words(self) -> str:
        """What can be written, for people."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The same as JSON Schema."""

    def read(self, value: object, path: Path, found: Found) -> Any:
        """The value as it is used; mistakes are added to what was found."""

    def show(self, value: Any, /) -> Any:
        """A value as it is written."""


@record(kw_only=False)
class Field:
    """One setting: its name in the file, the attribute that it becomes, and its declaration.

    `inherits` says that its section takes what it leaves out from another one, `blank` that it says
    nothing where all its lines are commented out.
    """

    name: str
    attribute: str
    shape: Shape
    declared: Setting
    inherits: bool = False
    blank: bool = False

    def read(self, value: object, path: Path, found: Found) -> Any:
        """The value as it is used; mistakes are added to what was found."""
        if value is None and self.blank:
            value = [] if isinstance(self.shape, Items) else {}
        return self.shape.read(value, path, found)

    @property
    def is_required(self) -> bool:
        """Whether every entry must have it."""
        unconditional = self.declared.needed and not self.declared.belongs
        return unconditional or (self.declared.default is NOTHING and not self.declared.otherwise)

    @property
    def is_one_value(self) -> bool:
        """Whether it fits into an environment variable: one value, or a list of such."""
        plain = self.shape.item if isinstance(self.shape, Items) else self.shape
        return isinstance(plain, Kind)

    @property
    def default(self) -> Any:
        """The default as it is written; NOTHING where there is none that one could write."""
        declared, shape = self.declared, self.shape
        default = declared.default
        if declared.usual:
            is_of_one_kind = len(declared.belongs) == 1
            default = declared.usual[declared.belongs[0]] if is_of_one_kind else NOTHING
        if default is NOTHING or declared.match or self.inherits:
            return NOTHING
        if isinstance(shape, Kind):
            written = None if default is None else shape.show(default)
            return written if shape.takes(written) else NOTHING
        return shape.show(default)

    @property
    def usual(self) -> dict[str, Any]:
        """The defaults of single kinds as they are written."""
        return {
            kind: value if isinstance(value, str) else self.shape.show(value)
            for kind, value in self.declared.usual.items()
        }

    @property
    def schema(self) -> dict[str, Any]:
        """The setting for an editor, with its description and default."""
        default = {} if self.default is NOTHING else {"default": self.default}
        return {**self.shape.schema, "description": self.declared.text, **default}


@record(kw_only=False)
class Section:
    """A mapping of known settings; read, it has what was written only, by attribute.

    Some can be `null` as a whole.
    """

    about: str
    fields: Mapping[str, Field]
    words: str = "settings"
    null: bool = False

    def read(self, value: object, path: Path, found: Found) -> Any:
        """The written settings by attribute; None where the section is null as a whole."""
        if value is None and self.null:
            return None
        if not isinstance(value, dict):
            found.add(path, f"expected a mapping of settings, not {shown(value)}")
            return {}
        for name in value:
            if name not in self.fields:
                found.add((*path, name), self._unknown(name, found), at_key=True)
        for name, field in self.fields.items():
            if field.is_required and name not in value:
                found.add((*path, name), "is required")
        return {
            field.attribute: field.read(value[name], (*path, name), found)
            for name, field in self.fields.items()
            if name in value
        }

    def _unknown(self, name: str, found: Found) -> str:
        if name == "<<":
            return "YAML merge keys are not supported; a rule inherits from reset by itself"
        near = did_you_mean(name, self.fields) or found.elsewhere.get(name)
        return f"unknown setting; did you mean '{near}'?" if near else "unknown setting"

    def show(self, value: Any, /) -> dict[str, Any] | None:
        """The settings of a record."""
        if value is None:
            return None
        return {
            name: field.shape.show(getattr(value, field.attribute))
            for name, field in self.fields.items()
        }

    @property
    def schema(self) -> dict[str, Any]:
        required = [name for name, field in self.fields.items() if field.is_required]
        described = {
            "type": "object",
            "description": self.about,
            "properties": {name: field.schema for name, field in self.fields.items()},
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }
        return {"anyOf": [described, {"type": "null"}]} if self.null else described


@record(kw_only=False)
class Items:
    """A list of values of one shape; one that matches any if it is left out is never empty."""

    item: Shape
    words: str
    is_match: bool = False

    def read(self, value: object, path: Path, found: Found) -> tuple[Any, ...]:
        if not isinstance(value, list):
            found.add(path, f"expected a list, not {shown(value)}{_as_list(value)}")
            return ()
        if not value and self.is_match:
            found.add(path, "the list is empty; leave it out to match any")
        return tuple(
            self.item.read(item, (*path, place), found) for place, item in enumerate(value)
        )

    def show(self, value: Any, /) -> list[Any]:
        return [self.item.show(item) for item in value]

    @property
    def schema(self) -> dict[str, Any]:
        least = {"minItems": 1} if self.is_match else {}
        return {"type": "array", "items": self.item.schema, **least}


@record(kw_only=False)
class Pairs:
    """A mapping from names of one's own to values of one shape; read, pairs in order."""

    value: Shape
    of: str

    @property
    def words(self) -> str:
        return f"a mapping of {self.of}"

    def read(self, value: object, path: Path, found: Found) -> tuple[tuple[str, Any], ...]:
        if not isinstance(value, dict):
            found.add(path, f"expected {self.words}, not {shown(value)}")
            return ()
        pairs = []
        for name, written in value.items():
            NAME.read(name, (*path, name), found, at_key=True)
            pairs.append((name, self.value.read(written, (*path, name), found)))
        return tuple(sorted(pairs, key=lambda pair: str(pair[0])))

    def show(self, value: Any, /) -> dict[str, Any]:
        return {name: self.value.show(paired) for name, paired in value}

    @property
    def schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "additionalProperties": self.value.schema,
            "propertyNames": NAME.schema,
        }


def declared(kind: type, *leave_out: str, **shapes: Shape) -> dict[str, Field]:
    """The settings that a class of records declares, by their names in the file.

    Their shapes follow from their types and declarations, but for those that are named here.
    """
    hints = get_type_hints(kind, localns={"Path": pathlib.Path})
    fields = {}
    for attribute, setting in settings_of(kind).items():
        if attribute not in leave_out:
            shape = shapes.get(attribute) or _shape(hints[attribute], setting)
            name = setting.name or attribute
            fields[name] = Field(name, attribute, shape, setting, blank=isinstance(shape, Pairs))
    return fields


def _shape(hint: Any, setting: Setting) -> Shape:
    inner = [part for part in get_args(hint) if part is not NoneType]
    is_list = get_origin(hint) is tuple
    plain = inner[0] if inner else hint
    kind = NAMED[setting.kind] if setting.kind else _kind(plain)
    kind = kind.of(setting.unit) if setting.unit else kind
    if is_list and kind.schema.get("type") != "array":
        return Items(kind, f"a list; each item is {kind.words}", setting.match)
    return kind if setting.null is None else kind.or_null(setting.null)


def _kind(plain: type) -> Kind:
    return of_words(plain) if issubclass(plain, StrEnum) else BY_TYPE[plain]


def _as_list(value: object) -> str:
    if not isinstance(value, str) or len(value) > SHOWN:
        return ""
    return f"; write [{value if _LIST_OF_WORDS.fullmatch(value) else shown(value)}]"


def sections_of(
    shape: Shape, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Section]]:
    """Every section below a shape with the names that lead to it, itself included."""
    match shape:
        case Items(item=inner) | Pairs(value=inner):
            yield from sections_of(inner, path)
        case Section(fields=fields, null=False):
            yield path, shape
            for name, field in fields.items():
                yield from sections_of(field.shape, (*path, name))
