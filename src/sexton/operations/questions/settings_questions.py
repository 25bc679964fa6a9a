"""Which settings are in force, and what is to be said about them?"""

from __future__ import annotations

from typing_extensions import TypedDict

from sexton.core.wording import iso
from sexton.operations.asker import Asker
from sexton.operations.said import Moment
from sexton.rules.rulebook import digest, encode
from sexton.settings.lint import inert
from sexton.settings.render import show


class Finding(TypedDict):
    """What is to be said about a setting, and where it stands."""

    setting: str
    place: str | None
    message: str


class SettingsInForce(TypedDict):
    """The settings of the server as a file that says the same, and findings about them."""

    source: str | None
    text: str
    policies: str | None
    is_in_force: bool
    findings: list[Finding]
    at: Moment


def settings(asker: Asker) -> SettingsInForce:
    """The settings of this process as a file that says the same, and findings about them."""
    house = asker.house
    stored = house.ledger.policies.in_force()
    own = digest(encode(house.settings.rulebook))
    return {
        "source": house.settings.source,
        "text": show(house.settings),
        "policies": stored.digest if stored else None,
        "is_in_force": stored is not None and stored.digest == own,
        "findings": [
            {"setting": each.where, "place": each.location, "message": each.message}
            for each in inert(house.settings)
        ],
        "at": iso(house.clock.now()),
    }
