"""Which Hermes homes tell their people things themselves, and by which command?"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sexton.errors import SextonError
from sexton.homes.hermes.config_files import read_configuration
from sexton.homes.hermes.home_channel import home_channel
from sexton.notifications.hermes_send import HermesSend, SendPlan
from sexton.settings.settings_values import NOBODY, HomeSetting

if TYPE_CHECKING:
    from sexton.wiring import Sexton


def home_channels(opened: Sexton, environ: Mapping[str, str]) -> dict[str, HermesSend]:
    """The channel of every home that has one, by the home's name."""
    found: dict[str, HermesSend] = {}
    for setting in opened.settings.homes:
        to = _target(setting)
        if to is not None:
            home = setting.path.expanduser()
            plan = SendPlan(program=_program(home, environ), home=home, to=to)
            found[_name(opened, setting)] = HermesSend(plan, environ)
    return found


def _target(setting: HomeSetting) -> str | None:
    """Who is told: as the settings say; else, where changes are allowed, the home's own people."""
    if setting.send_to is not None:
        return None if setting.send_to == NOBODY else setting.send_to
    if not setting.act:
        return None
    return home_channel(read_configuration(setting.path.expanduser()))


def _program(home: Path, environ: Mapping[str, str]) -> str:
    roots = (home, home.parent.parent) if home.parent.name == "profiles" else (home,)
    installed = (root / "hermes-agent" / "venv" / "bin" / "hermes" for root in roots)
    own = next((program for program in installed if program.is_file()), None)
    return str(own or shutil.which("hermes", path=environ.get("PATH", "")) or "hermes")


def _name(opened: Sexton, setting: HomeSetting) -> str:
    """What the ledger calls the home; while it is out of reach, what the settings do."""
    try:
        return opened.attach(setting)[1].name
    except SextonError:
        return setting.name
