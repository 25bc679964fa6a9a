"""Is a webhook told of an ended session, provably by us, and with the same key every time?"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.core.clock import SystemClock
from sexton.core.message import Message
from sexton.finalizers.effects.webhook import Webhook, WebhookPlan
from sexton.finalizers.job import EffectFailed
from sexton.testing import ManualClock
from tests.golden import golden
from tests.scenario.effects_desk import SECRET, Desk, message
from tests.scenario.effects_server import Reply, Server, drip, hang_up, reply, silence


def webhook(url: str, clock: ManualClock, secret_env: str | None = None) -> Webhook:
    plan = WebhookPlan(url=url, secret_env=secret_env)
    return Webhook(plan, clock, {"HOOK_SECRET": "s3cret"})


def test_it_gets_the_session_and_its_messages(tmp_path: Path, manual_clock: ManualClock) -> None:
    with Server([reply(204)]) as server:
        said = webhook(f"{server.url}/hook", manual_clock).carry_out(Desk(tmp_path).job())
    assert "204" in said
    (request,) = server.requests
    assert request.path == "/hook"
    assert request.json["session"]["id"] == "s1"
    assert request.json["end_reason"] == "idle"
    assert [each["content"] for each in request.json["messages"]] == [
        f"hello, {SECRET}",
        [{"type": "text", "text": "good day"}],
    ]
    assert "x-sexton-signature" not in request.headers


def test_every_attempt_has_the_same_key_whatever_it_is_made_of(
    tmp_path: Path, manual_clock: ManualClock
) -> None:
    desk = Desk(tmp_path, key="native/å\r\nX-Evil: 1/2/notes")
    with Server([reply(500), reply(200)]) as server:
        hook = webhook(server.url, manual_clock)
        with pytest.raises(EffectFailed):
            hook.carry_out(desk.job())
        hook.carry_out(desk.job())
    first, second = server.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.headers["idempotency-key"] == "native/%C3%A5%0D%0AX-Evil%3A%201/2/notes"
    assert first.json["idempotency_key"] == desk.key
    assert (first.json["attempt"], second.json["attempt"]) == (1, 2)


def test_with_a_secret_the_body_and_its_time_are_signed(
    tmp_path: Path, manual_clock: ManualClock
) -> None:
    with Server([reply()]) as server:
        hook = webhook(server.url, manual_clock, secret_env="HOOK_SECRET")
        hook.carry_out(Desk(tmp_path).job())
    (request,) = server.requests
    stamp = request.headers["x-sexton-timestamp"]
    assert stamp == str(int(manual_clock.now().timestamp()))
    signed = hmac.new(b"s3cret", f"{stamp}.".encode() + request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-sexton-signature"] == f"sha256={signed}"


def test_without_its_secret_nothing_is_sent(tmp_path: Path, manual_clock: ManualClock) -> None:
    with Server([reply()]) as server:
        hook = webhook(server.url, manual_clock, secret_env="NO_SUCH")
        with pytest.raises(EffectFailed) as caught:
            hook.carry_out(Desk(tmp_path).job())
    assert "NO_SUCH" in str(caught.value)
    assert not server.requests


def test_headers_of_the_settings_are_sent_but_do_not_replace_ours(
    tmp_path: Path, manual_clock: ManualClock
) -> None:
    more = (("X-Team", "a"), ("idempotency-key", "forged"))
    with Server([reply()]) as server:
        plan = WebhookPlan(url=server.url, headers=more)
        Webhook(plan, manual_clock, {}).carry_out(Desk(tmp_path).job())
    (request,) = server.requests
    assert request.headers["x-team"] == "a"
    assert request.headers["idempotency-key"] == "native/s1/2/notes"


@pytest.mark.parametrize(
    ("refused", "scene", "hopeless"),
    [
        (reply(500, SECRET.encode()), "500", False),
        (reply(404), "404", False),
        (reply(302, Location="/x"), "302", False),
        (reply(400, SECRET.encode()), "400", True),
        (reply(410), "410", True),
        (reply(422), "422", True),
        (reply(799), "799", False),
        (hang_up, "hung up", False),
    ],
)
def test_a_refusal_is_a_failed_attempt(
    refused: Reply, scene: str, hopeless: bool, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with Server([refused]) as server, pytest.raises(EffectFailed) as caught:
        webhook(server.url, manual_clock).carry_out(Desk(tmp_path).job())
    told = re.sub(r"\b(\d{3}) [A-Z][A-Za-z ]+", r"\1 <phrase>", str(caught.value))
    golden("effects", f"webhook: {scene}", told)
    assert caught.value.hopeless is hopeless
    assert caught.value.after is None
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_says_when_to_come_again(
    status: int, tmp_path: Path, manual_clock: ManualClock
) -> None:
    busy = reply(status, Retry_After="90")
    with Server([busy]) as server, pytest.raises(EffectFailed) as caught:
        webhook(server.url, manual_clock).carry_out(Desk(tmp_path).job())
    assert caught.value.after == timedelta(seconds=90)
    assert not caught.value.hopeless


@pytest.mark.parametrize("slow", [silence, drip])
def test_a_server_that_takes_too_long_is_a_failed_attempt(slow: Reply, tmp_path: Path) -> None:
    with Server([slow]) as server:
        hook = Webhook(
            WebhookPlan(url=server.url, timeout=timedelta(seconds=0.3)), SystemClock(), {}
        )
        with pytest.raises(EffectFailed) as caught:
            hook.carry_out(Desk(tmp_path).job())
    assert caught.value.outage
    golden("effects", "webhook: no answer in time", str(caught.value))


def test_ten_megabytes_arrive_whole_and_signed(tmp_path: Path, manual_clock: ManualClock) -> None:
    def said() -> Iterator[Message]:
        yield from (message(seq, "user", f"{seq}\ud800\0é" * 10_000) for seq in range(110))

    with Server([reply()]) as server:
        hook = webhook(server.url, manual_clock, secret_env="HOOK_SECRET")
        hook.carry_out(Desk(tmp_path, said=said).job())
    (request,) = server.requests
    assert len(request.body) > 10_000_000
    assert [each["content"] for each in request.json["messages"]] == [m.content for m in said()]
    signed = f"{request.headers['x-sexton-timestamp']}.".encode() + request.body
    digest = hmac.new(b"s3cret", signed, hashlib.sha256).hexdigest()
    assert request.headers["x-sexton-signature"] == f"sha256={digest}"
