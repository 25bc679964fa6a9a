"""Are the people of a Hermes home told by the home's own command, and otherwise by the others?"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from sexton.core.record import replace
from sexton.finalizers.job import EffectFailed
from sexton.notifications.channels import NotifyPlan, channels
from sexton.notifications.hermes_send import HermesSend, SendPlan
from sexton.notifications.model import Channel, Event, Letter, LetterState, Notice
from sexton.notifications.policy import Interest, Occasion
from sexton.notifications.sender import Messenger
from sexton.settings.settings_values import HomeSetting, NotifySetting, Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton
from sexton.wiring.home_channels import home_channels
from tests.golden import golden
from tests.scenario.effects_server import Server, reply

STAND_IN = """#!{python}
import json, os, sys, time
given = sys.stdin.read()
with open({log!r}, "a") as log:
    log.write(json.dumps([sys.argv[1:], os.environ["HERMES_HOME"], given]) + "\\n")
time.sleep({hang})
sys.exit({code})
"""


class StandIn:
    """A real program in the place of `hermes`, and what it was told."""

    def __init__(self, folder: Path, code: int = 0, hang: float = 0) -> None:
        self.log = folder / "told"
        self.path = folder / "hermes"
        text = STAND_IN.format(python=sys.executable, log=str(self.log), code=code, hang=hang)
        self.path.write_text(text)
        self.path.chmod(0o700)

    def told(self) -> list[tuple[list[str], str, str]]:
        """Arguments, home and text of every call."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(args, home, text) for args, home, text in map(json.loads, lines)]


def channel(program: Path, home: Path, timeout: float = 240) -> HermesSend:
    plan = SendPlan(
        program=str(program), home=home, to="telegram", timeout=timedelta(seconds=timeout)
    )
    return HermesSend(plan, os.environ)


def letter(clock: ManualClock, text: str) -> Letter:
    notice = Notice(key="k", event=Event.RESET, title="Session reset", text=text, home="work")
    now = clock.now()
    return Letter(
        ref=1, target="hermes-work", notice=notice, state=LetterState.SENDING, attempts=1, claim=1,
        worker="w", posted_at=now, not_before=now, finished_at=None, last_error=None,
    )  # fmt: skip


def occasion(clock: ManualClock, home: str, key: str = "a") -> Occasion:
    return Occasion(
        key=key, event=Event.RESET, at=clock.now(), home=home, session="s", words="was reset."
    )


@pytest.fixture
def house(engine_url: str, manual_clock: ManualClock) -> Iterator[Sexton]:
    with Sexton(open_ledger(engine_url), Settings(), clock=manual_clock) as opened:
        yield opened


def messenger(house: Sexton, found: dict[str, Channel]) -> Messenger:
    worker = house.worker(kind="keeper")
    homes = {"work": "hermes-work"}
    return Messenger(house.ledger, house.clock, found, lambda: worker.id, Interest(), homes)


def hook(server: Server, clock: ManualClock) -> dict[str, Channel]:
    return channels(NotifyPlan(webhook=f"{server.url}/hook"), clock, {})


def test_a_notice_reaches_the_command_on_its_input_with_the_homes_own_directory(
    tmp_path: Path, manual_clock: ManualClock
) -> None:
    program = StandIn(tmp_path)
    channel(program.path, tmp_path / "home").deliver(letter(manual_clock, 'Session "x" was reset'))
    ((arguments, home, text),) = program.told()
    assert arguments == ["send", "--to", "telegram", "--quiet", "--file", "-"]
    assert home == str(tmp_path / "home")
    golden("notifications", "by the command of Hermes", text)


def test_no_word_in_a_title_sends_a_file_along(tmp_path: Path, manual_clock: ManualClock) -> None:
    program = StandIn(tmp_path)
    evil = 'Session "MEDIA:/etc/passwd Media : /x media:y" was reset'
    channel(program.path, tmp_path).deliver(letter(manual_clock, evil))
    assert "media:" not in program.told()[0][2].lower().replace(" ", "")
    assert "/etc/passwd" in program.told()[0][2]


@pytest.mark.parametrize(("code", "hopeless"), [(1, False), (2, True), (77, False)])
def test_a_command_that_fails_is_told_without_its_words(
    tmp_path: Path, manual_clock: ManualClock, code: int, hopeless: bool
) -> None:
    program = StandIn(tmp_path, code)
    with pytest.raises(EffectFailed, match=rf"\b{code}\b") as failed:
        channel(program.path, tmp_path).deliver(letter(manual_clock, "x"))
    assert failed.value.hopeless is hopeless


def test_a_command_that_hangs_is_ended_in_time_with_all_it_started(
    tmp_path: Path, manual_clock: ManualClock
) -> None:
    program = StandIn(tmp_path, hang=600)
    with pytest.raises(EffectFailed) as failed:
        channel(program.path, tmp_path, timeout=0.5).deliver(letter(manual_clock, "x"))
    golden("effects", "the command of Hermes: out of time", str(failed.value))
    left = [each for each in psutil.process_iter(["cmdline"]) if str(program.path) in (
        each.info["cmdline"] or [])]  # fmt: skip
    assert left == []


def test_a_command_that_is_not_there_can_not_get_better(
    tmp_path: Path, manual_clock: ManualClock
) -> None:
    with pytest.raises(EffectFailed) as failed:
        channel(tmp_path / "nothing", tmp_path).deliver(letter(manual_clock, "x"))
    assert failed.value.hopeless


def test_what_happens_in_a_home_is_told_by_it_and_all_else_by_the_others(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    program = StandIn(tmp_path)
    with Server([reply()]) as server:
        found = {"hermes-work": channel(program.path, tmp_path), **hook(server, manual_clock)}
        post = messenger(house, found)
        post.tell([occasion(manual_clock, "work"), occasion(manual_clock, "native", "b")])
        assert post.deliver() == 2
        assert len(program.told()) == 1
        assert [request.headers["idempotency-key"] for request in server.requests] == ["b"]
        post.tell([occasion(manual_clock, "work")])
        assert post.deliver() == 0


def test_many_at_once_of_one_home_are_told_by_it_together(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    program = StandIn(tmp_path)
    with Server([reply()]) as server:
        found = {"hermes-work": channel(program.path, tmp_path), **hook(server, manual_clock)}
        post = messenger(house, found)
        post.tell([occasion(manual_clock, "work", f"k{number}") for number in range(9)])
        post.deliver()
        assert len(program.told()) == 1
        golden("notifications", "nine resets at once", program.told()[0][2])
        assert server.requests == []


def test_where_the_homes_own_way_fails_the_others_take_over_once(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    program = StandIn(tmp_path, code=1)
    with Server([reply()]) as server:
        found = {"hermes-work": channel(program.path, tmp_path), **hook(server, manual_clock)}
        post = messenger(house, found)
        post.tell([occasion(manual_clock, "work")])
        for _ in range(3):
            post.deliver()
            manual_clock.advance(timedelta(days=1))
        assert len(program.told()) == 1
        assert [request.headers["idempotency-key"] for request in server.requests] == ["a"]
    states = {each.target: each.state for each in house.ledger.outbox.page(None, None, 9)}
    assert states == {"hermes-work": LetterState.FAILED, "webhook": LetterState.DELIVERED}


def test_alone_it_is_tried_again_and_tells_what_belongs_to_no_home(
    house: Sexton, manual_clock: ManualClock, tmp_path: Path
) -> None:
    program = StandIn(tmp_path, code=1)
    post = messenger(house, {"hermes-work": channel(program.path, tmp_path)})
    post.tell([occasion(manual_clock, "native")])
    assert post.deliver() == 0
    StandIn(tmp_path)
    manual_clock.advance(timedelta(hours=1))
    assert post.deliver() == 1
    assert len(program.told()) == 2


def test_who_is_told_follows_the_settings_and_the_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "state.db").touch()
    (home / ".env").write_text("SLACK_HOME_CHANNEL=\nTELEGRAM_HOME_CHANNEL=42\n")
    StandIn(tmp_path)
    environ = {"PATH": str(tmp_path)}
    setting = HomeSetting(path=home, name="work")

    def told(chosen: HomeSetting) -> dict[str, str]:
        settings = Settings(homes=(chosen,), notify=NotifySetting())
        with Sexton(open_ledger(str(tmp_path / "ledger.db")), settings) as opened:
            found = home_channels(opened, environ)
        return {name: f"{each._plan.program} {each._plan.to}" for name, each in found.items()}

    assert told(setting) == {}
    assert told(replace(setting, act=True)) == {"work": f"{tmp_path}/hermes telegram"}
    assert told(replace(setting, act=True, send_to="nobody")) == {}
    assert told(replace(setting, send_to="discord:#ops")) == {
        "work": f"{tmp_path}/hermes discord:#ops"
    }
    (home / ".env").write_text("")
    assert told(replace(setting, act=True)) == {}
    (home / "config.yaml").write_text("SIGNAL_HOME_CHANNEL: 7\nplatforms: {x: {home_channel: 1}}\n")
    assert told(replace(setting, act=True)) == {"work": f"{tmp_path}/hermes signal"}


def test_the_real_hermes_delivers_it(
    hermes_python: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    answer = b'{"jsonrpc": "2.0", "result": {"timestamp": 1}, "id": "1"}'
    picture = tmp_path / "private.png"
    picture.write_bytes(b"x")
    with Server([reply(body=answer)]) as server:
        (tmp_path / ".env").write_text(
            f"SIGNAL_HTTP_URL={server.url}\nSIGNAL_ACCOUNT=+15550001\nSIGNAL_HOME_CHANNEL=+15550002\n"
        )
        plan = SendPlan(program=str(hermes_python.parent / "hermes"), home=tmp_path, to="signal")
        HermesSend(plan, os.environ).deliver(letter(manual_clock, f"MEDIA:{picture} was reset"))
        (request,) = server.requests
    sent = json.loads(request.body)["params"]
    assert sent["recipient"] == ["+15550002"]
    golden("notifications", "by Hermes itself", sent["message"].replace(str(tmp_path), "<path>"))
    assert "attachments" not in sent
