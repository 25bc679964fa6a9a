"""Which resets does a Hermes home ask for itself?

Read from config.yaml and, below it, the older gateway.json, as Hermes reads them; its variables in
.env replace the numbers of the general policy. Hermes resets only the conversations of its gateway,
and our limits bound how big they grow. What its API server began it never ends, so that ends here
when it has been idle for as long as a conversation may be. What an administrator has set for all
homes of the machine wins over all that, as in Hermes. What only the environment of its processes
says is not visible from here, so that is not inherited.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sexton.core.record import replace
from sexton.errors import HomeUnreadable
from sexton.homes.hermes import yaml_document
from sexton.homes.hermes.dotenv import overridden, variables
from sexton.homes.hermes.hermes_database import stamp
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import ResetRule, Rulebook, encode

GATEWAY_KEYS = ("agent:*",)
API_SOURCES = ("api_server",)
MANAGED = Path("/etc/hermes")
"""Where Hermes looks for what an administrator has set; another place only its processes know."""
LARGEST = 1_000_000
MOST_RULES = 1_000
LONGEST = 9_999_999
"""Minutes that are as good as for ever; more is no longer counted."""
UNLIMITED = ResetPolicy(warn_messages=None, warn_bytes=None)


def limits(messages: int | None, size: int | None) -> ResetPolicy:
    """What bounds a conversation by its size alone."""
    return replace(UNLIMITED, max_messages=messages, max_bytes=size)


class OwnRules:
    """The rules of a home as text, read again only when its files have changed."""

    def __init__(
        self, home: Path, zone: str, limits: ResetPolicy = UNLIMITED, managed: Path = MANAGED
    ) -> None:
        """`limits` are what bounds a conversation besides; `managed` has files that win."""
        own = (home / "config.yaml", home / "gateway.json", home / ".env")
        self._files = (*own, managed / "config.yaml", managed / ".env")
        self._usual = replace(limits, timezone=zone)
        self._known: tuple[object, ...] = ()
        self._text = ""

    def text(self, usual: Mode = Mode.NONE) -> str:
        """The rules now in the files; what Hermes would not understand counts as not there.

        `usual` is the mode where none is said, which depends on the release.
        """
        known = (usual, *(stamp(file) for file in self._files))
        if known != self._known:
            config, gateway, dotenv, managed, managed_dotenv = self._files
            said = _document(config, yaml_document.read)
            if config.is_file():  # without one Hermes asks for no other
                said = _merged(said, _document(managed, yaml_document.read))
            chosen = {**_older(_document(gateway, json.loads)), **_chosen(said)}
            set_by_all = _document(dotenv, variables) | _document(managed_dotenv, variables)
            numbers = overridden(set_by_all, said)
            policy = replace(self._usual, mode=usual)
            self._text = encode(_rulebook(chosen, policy, numbers))
            self._known = known
        return self._text


def _merged(own: Mapping[str, Any], managed: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a home with those of the administrator in their place, value by value."""
    merged = dict(own)
    for name, value in managed.items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[name] = _merged(before, value)
        elif value is not None or not isinstance(before, dict):
            merged[name] = value
    return merged


def _chosen(config: Mapping[str, Any]) -> dict[str, Any]:
    """What config.yaml says, in the words of gateway.json: the top level wins by being there."""
    nested = _mapping(config.get("gateway"))
    wanted = config["session_reset"] if "session_reset" in config else nested.get("session_reset")
    return {"default_reset_policy": wanted} if wanted and isinstance(wanted, dict) else {}


def _older(gateway: Mapping[str, Any]) -> Mapping[str, Any]:
    """What gateway.json says; nothing if it would make more rules than a gateway can have."""
    sections = (_mapping(gateway.get(name)) for name in ("reset_by_type", "reset_by_platform"))
    return gateway if sum(len(section) for section in sections) <= MOST_RULES else {}


def _rulebook(
    chosen: Mapping[str, Any], usual: ResetPolicy, numbers: Mapping[str, int]
) -> Rulebook:
    by_type = _mapping(chosen.get("reset_by_type"))
    by_platform = _mapping(chosen.get("reset_by_platform"))
    default = _policy({**_mapping(chosen.get("default_reset_policy")), **numbers}, usual)
    return Rulebook(
        reset=UNLIMITED,
        reset_rules=(
            ResetRule(keys=GATEWAY_KEYS, policy=default),
            *(
                ResetRule(keys=GATEWAY_KEYS, chat_types=(name,), policy=_policy(policy, usual))
                for name, policy in sorted(by_type.items())
            ),
            *(
                ResetRule(keys=GATEWAY_KEYS, sources=(name,), policy=_policy(policy, usual))
                for name, policy in sorted(by_platform.items())
            ),
            ResetRule(
                sources=API_SOURCES,
                policy=replace(default, mode=Mode.IDLE, max_messages=None, max_bytes=None),
            ),
        ),
    )


def _policy(stored: Any, usual: ResetPolicy) -> ResetPolicy:
    values = _mapping(stored)
    mode, idle, hour = (values.get(name) for name in ("mode", "idle_minutes", "at_hour"))
    unknown = usual.mode if mode is None else Mode.NONE
    return replace(
        usual,
        mode=Mode(mode) if mode in list(Mode) else unknown,
        idle_minutes=_within(idle, 1, math.inf, usual.idle_minutes),
        at_hour=_within(hour, 0, 24, usual.at_hour),
    )


def _within(value: Any, least: int, below: float, otherwise: int) -> int:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(min(value, LONGEST)) if is_number and least <= value < below else otherwise


def _mapping(value: Any) -> dict[str, Any]:
    """The entries of a mapping whose names are text; nothing for anything else."""
    entries = value.items() if isinstance(value, dict) else ()
    return {name: entry for name, entry in entries if isinstance(name, str)}


def _document(file: Path, parse: Callable[[str], Any]) -> dict[str, Any]:
    try:
        if not file.is_file():
            return {}
        with file.open("rb") as stream:
            content = stream.read(LARGEST + 1)
    except OSError as problem:
        raise HomeUnreadable(f"{file} can not be read: {problem.strerror}") from None
    if len(content) > LARGEST:
        return {}
    try:
        return _mapping(parse(content.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return {}
