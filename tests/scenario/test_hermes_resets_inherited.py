"""The resets that a home brings along are those that its real gateway would make."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sexton.core.session import Session
from sexton.homes.hermes.inherited import OwnRules
from sexton.rules.rulebook import decode
from tests.scenario.hermes_home import HermesScene
from tests.scenario.hermes_house import DAY, House, make_older, reasons
from tests.scenario.hermes_starting import run

ASK = """
import json, os, sys
for home in sys.argv[1:]:
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        continue
    os.environ["HERMES_HOME"] = home
    os.environ["HERMES_MANAGED_DIR"] = home + "/managed"
    said, sys.stdout = sys.stdout, sys.stderr
    import gateway.run
    from gateway.config import Platform, load_gateway_config
    config = load_gateway_config()
    found = {}
    for name, kind in (("telegram", "dm"), ("discord", "group")):
        policy = config.get_reset_policy(Platform(name), kind)
        found[name] = [policy.mode, policy.idle_minutes, policy.at_hour]
    said.write(json.dumps(found) + "\\n")
    said.flush()
    os._exit(0)
"""
BOTH = "session_reset: {mode: both, idle_minutes: 90, at_hour: 3}\n"
OLDER = {
    "default_reset_policy": {"mode": "idle", "idle_minutes": 30},
    "reset_by_platform": {"discord": {"mode": "daily", "idle_minutes": 60, "at_hour": 5}},
}
WEEK = "SESSION_IDLE_MINUTES=10080\n"
MANAGED: Mapping[str, tuple[str, str]] = {
    "managed variables": ("", "SESSION_IDLE_MINUTES=45\n"),
    "managed settings": ("session_reset: {mode: daily, at_hour: 9}\nSESSION_IDLE_MINUTES: 5\n", ""),
    "managed without settings": ("session_reset: {mode: daily}\n", "SESSION_RESET_HOUR=8\n"),
    "managed in place of none": (BOTH, ""),
    "managed nothing": ("session_reset:\n", ""),
}
"""What an administrator has set: the settings and the variables."""
CASES: Mapping[str, tuple[str | None, str, object]] = {
    "a week": (BOTH, "SESSION_IDLE_MINUTES=10080\nSESSION_RESET_HOUR=6\n", None),
    "quoted, exported, remarked": (
        BOTH, "export SESSION_IDLE_MINUTES='200'\nSESSION_RESET_HOUR = 7\t# early\n", None,
    ),
    "the later one": (BOTH, "SESSION_IDLE_MINUTES=5\r\nSESSION_IDLE_MINUTES=\"50\"\r\n", None),
    "zero and too late": (BOTH, "SESSION_IDLE_MINUTES=0\nSESSION_RESET_HOUR=24\n", None),
    "empty": (f"{BOTH}SESSION_IDLE_MINUTES: 7\n", "SESSION_IDLE_MINUTES=\n", None),
    "no number": (BOTH, "SESSION_IDLE_MINUTES=2h\nSESSION_RESET_HOUR=1_2\n", None),
    "at the root": (f"{BOTH}SESSION_IDLE_MINUTES: 7\nSESSION_RESET_HOUR: true\n", "A=1\n", None),
    "the older file": ("", "SESSION_IDLE_MINUTES=300\n", OLDER),
    "without a mode": ("", "SESSION_IDLE_MINUTES=300\n", None),
    "managed variables": (BOTH, f"{WEEK}SESSION_RESET_HOUR=6\n", None),
    "managed settings": (BOTH, "", None),
    "managed without settings": (None, WEEK, OLDER),
    "managed in place of none": ("session_reset: none\n", WEEK, None),
    "managed nothing": (BOTH, "", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def asked(
    hermes_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[Path, dict[str, list[object]]]]:
    """Each home, and what the gateway of the real Hermes makes of it."""
    homes = {name: tmp_path_factory.mktemp("home") for name in CASES}
    for name, (config, dotenv, older) in CASES.items():
        if config is not None:
            (homes[name] / "config.yaml").write_text(config)
        (homes[name] / ".env").write_bytes(dotenv.encode())
        if older is not None:
            (homes[name] / "gateway.json").write_text(json.dumps(older))
        if name in MANAGED:
            (homes[name] / "managed").mkdir()
            for file, text in zip(("config.yaml", ".env"), MANAGED[name], strict=True):
                (homes[name] / "managed" / file).write_text(text)
    bare = {name: each for name, each in os.environ.items() if not name.startswith("SESSION_")}
    command = [str(hermes_python), "-c", ASK, *map(str, homes.values())]
    done = run(command, {**bare, "HERMES_DISABLE_LAZY_INSTALLS": "1"}, Path("/"))
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return {name: (homes[name], each) for name, each in zip(CASES, told, strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_the_variables_of_a_home_have_the_effect_that_they_have_in_its_gateway(
    asked: dict[str, tuple[Path, dict[str, list[object]]]], name: str
) -> None:
    home, theirs = asked[name]
    rules = decode(OwnRules(home, "UTC", managed=home / "managed").text())
    for source, kind in (("telegram", "dm"), ("discord", "group")):
        one = datetime(2026, 1, 1, tzinfo=UTC)
        ours = rules.reset_policy(
            Session(
                ref=0,
                home="work",
                id="one",
                key=f"agent:main:{source}:{kind}:7",
                source=source,
                chat_type=kind,
                started_at=one,
                active_at=one,
            )
        )
        assert [ours.mode, ours.idle_minutes, ours.at_hour] == theirs[source]


def test_a_chat_that_hermes_keeps_for_a_week_is_not_planned_to_be_reset(
    scene: HermesScene, tmp_path: Path
) -> None:
    (scene.path / "config.yaml").write_text("session_reset: {mode: idle}\n")
    (scene.path / ".env").write_text("SESSION_IDLE_MINUTES=10080\n")
    scene.start("talk", "telegram", session_key="agent:main:telegram:dm:7")
    scene.say("talk", "hello")
    make_older(scene, 3 * DAY)
    scene.close()
    house = House(f"sqlite:///{tmp_path / 'ledger.db'}", scene.path)
    with house.sexton:
        assert reasons(house.plan()) == {}
        (scene.path / ".env").unlink()  # then it is a day, as in the file alone
        assert reasons(house.plan()) == {"talk": "idle"}
