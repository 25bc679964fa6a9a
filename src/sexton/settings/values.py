"""What do the settings say, once read? Values only, so that defaults cost no import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sexton.policies.rulebook import Rulebook

PREFIX = "SEXTON_"
RESERVED = frozenset({"SEXTON_CONFIG", "SEXTON_LEDGER", "SEXTON_TOKEN"})
"""Variables of the command line; they override no setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeSetting:
    """A foreign home to observe; `name` is what its sessions are called by, HOME/ID."""

    path: Path
    name: str
    kind: str = "hermes"
    act: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class KeeperSettings:
    """How a keeper works; unlike the rulebook, each keeper has its own."""

    sweep_every: timedelta = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set.

    `places` says where each value that was written down stands, by the setting's dotted name;
    what is not in it is a default. Two settings are equal if they say the same, wherever.
    """

    rulebook: Rulebook = field(default_factory=Rulebook)
    homes: tuple[HomeSetting, ...] = ()
    keeper: KeeperSettings = field(default_factory=KeeperSettings)
    source: str | None = field(default=None, compare=False)
    places: Mapping[str, str] = field(default_factory=dict, compare=False)


def has_overrides(environ: Mapping[str, str]) -> bool:
    """Whether the environment holds anything the loader must look at, misspellings included."""
    return any(name.startswith(PREFIX) and name not in RESERVED for name in environ)
