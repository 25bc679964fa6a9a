"""What kinds of value can a setting have, how are they written, and what is a mistake?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from sexton.core.message import one_line
from sexton.core.record import record

Read = Callable[[object], object]
T = TypeVar("T")

SHOWN = 60


class Refused(ValueError):
    """The value is not of its kind; the text, if there is any, is what to write instead."""


def as_is(value: object) -> object:
    """A value that is written the way it is."""
    return value


@record
class Kind:
    """A kind of value: its words for people, how it is read, shown, and told to an editor.

    What may be a `secret` is not quoted in messages.
    """

    words: str
    read: Read
    schema: Mapping[str, Any]
    show: Callable[[Any], object] = as_is
    secret: bool = False

    def validate(self, value: object) -> object:
        """The value as the policies want it, or an error in our words."""
        try:
            return self.read(value)
        except Refused as refusal:
            hint = f"; {refusal}" if str(refusal) else ""
            hidden = self.secret and isinstance(value, str)
            found = "" if hidden else f", not {shown(value)}"
            text = f"expected {self.words}{found}{hint}"
            raise PydanticCustomError("setting", "{text}", {"text": text}) from None

    def takes(self, value: object) -> bool:
        """Whether the value is one of the kind."""
        try:
            self.read(value)
        except Refused:
            return False
        return True

    def or_null(self, meaning: str = "no limit") -> Kind:
        """The same kind where null means that there is none."""
        return Kind(
            words=f"{self.words}, or null for {meaning}",
            read=lambda value: None if value is None else self.read(value),
            schema={"anyOf": [dict(self.schema), {"type": "null"}]},
            show=lambda value: None if value is None else self.show(value),
            secret=self.secret,
        )

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.validate,
            serialization=core_schema.plain_serializer_function_ser_schema(self.show),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return dict(self.schema)


def shown(value: object) -> str:
    """A value as one short line, the way it is written in YAML."""
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            line = one_line(value[: SHOWN * 4])
            return f"'{line[:SHOWN]}…'" if len(line) > SHOWN else f"'{line}'"
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case int() if abs(value) >= 10**18:
            return "a number of that size"
        case _:
            return str(value)


def only(type_: type[T], value: object, hint: str = "") -> T:
    """The value if it is of exactly that type; true is no number here."""
    if type(value) is not type_:
        raise Refused(hint)
    return value


def within(number: int, minimum: int, maximum: int) -> int:
    """The number if it lies between the two."""
    if not minimum <= number <= maximum:
        raise Refused(f"the largest is {maximum}" if number > maximum else "")
    return number


def whole_guess(value: object) -> int | None:
    """The whole number meant by `'120'`, `04`, `10_000`, `1e3` or `90.0`, or None."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**15:
        return int(value)
    if isinstance(value, str):
        digits = value.strip().replace("_", "").replace(",", "")
        if digits.isascii() and digits.isdigit() and len(digits) <= 15:
            return int(digits)
    return None
