"""Which settings are there about the homes of other agents?"""

from __future__ import annotations

import pathlib
from typing import Annotated, Final

from pydantic import Field

from sexton.settings import vocabulary
from sexton.settings.fields import Limit, Strict
from sexton.settings.settings_values import HomeSetting

_HOME: Final = HomeSetting(path=pathlib.Path(), name="")


class HomeFields(Strict):
    """A place where another agent keeps sessions."""

    path: Annotated[str, vocabulary.PATH] = Field(
        description="The agent's directory; a relative one is looked up beside this file."
    )
    kind: Annotated[str, vocabulary.HOME_KIND] = Field(
        default=_HOME.kind, description="Hermes homes are the only ones known so far."
    )
    name: Annotated[str | None, vocabulary.HOME_NAME] = Field(
        default=None,
        description="What its sessions are called by, as NAME/ID; the directory's own name "
        "without its dot is what people call it already.",
    )
    act: Annotated[bool, vocabulary.FLAG] = Field(
        default=_HOME.act,
        description="A new home is only observed: what Sexton would do is recorded until its "
        "owner has seen it and says so.",
    )
    send_to: Annotated[str | None, vocabulary.NAME_OR_NONE] = Field(
        default=_HOME.send_to,
        description="Who is told by the home's own 'hermes send' before any other way of notify: "
        "a name as that command takes it, like telegram or discord:#ops, or nobody. The usual one "
        "is the home's own channel, as soon as changes are allowed; until then nobody.",
    )
    max_messages: Limit = Field(
        default=_HOME.max_messages,
        description="A conversation of the home's gateway is reset at this number of messages: "
        "every further one pays for all of them again. Those that the agent has compacted away "
        "do not count. At 80 % its people are warned once.",
    )
    max_bytes: Annotated[int | None, vocabulary.SIZE.or_null()] = Field(
        default=_HOME.max_bytes,
        description="The same for the size of its messages; it is more text than any model reads "
        "at once.",
    )
