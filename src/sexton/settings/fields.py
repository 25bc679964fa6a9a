"""What do the sections of the settings have in common?"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict

from sexton.settings import vocabulary

T = TypeVar("T")


def _section(value: object) -> object:
    """A section whose lines are all commented out is an empty one."""
    return {} if value is None else value


def _listing(value: object) -> object:
    return [] if value is None else value


Section = Annotated[T, BeforeValidator(_section)]
Listing = Annotated[list[T], BeforeValidator(_listing)]
Duration = Annotated[timedelta, vocabulary.DURATION]
Count = Annotated[int, vocabulary.COUNT]
Limit = Annotated[int | None, vocabulary.COUNT.or_null()]
Names = list[Annotated[str, vocabulary.NAME]]
Spans = dict[Annotated[str, vocabulary.NAME], Duration]


class Strict(BaseModel):
    """A section that takes no setting it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True)
