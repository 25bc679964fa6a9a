"""Which time zone, and which places, does this machine use?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sexton.core.zone import local_zone
from sexton.wiring.places import default_ledger, default_settings


def test_the_environment_names_the_zone_before_the_system_does(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Europe/Berlin")
    assert local_zone({"TZ": "Asia/Tokyo"}, link) == "Asia/Tokyo"
    assert local_zone({"TZ": ":Asia/Tokyo"}, link) == "Asia/Tokyo"
    assert local_zone({}, link) == "Europe/Berlin"


@pytest.mark.parametrize("wrong", ["Mars/Olympus", "../../etc/passwd", "CET-1CEST"])
def test_a_zone_that_does_not_exist_is_utc(wrong: str, tmp_path: Path) -> None:
    assert local_zone({"TZ": wrong}, tmp_path / "none") == "UTC"


def test_ledger_and_settings_live_where_the_platform_keeps_such_things() -> None:
    environ = {"XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/config"}
    assert default_ledger(environ) == "/data/sexton/ledger.db"
    assert default_settings(environ) == "/config/sexton/sexton.yaml"


def test_a_relative_place_is_ignored_as_the_standard_demands() -> None:
    assert os.path.isabs(default_ledger({"XDG_DATA_HOME": "data"}))
