"""How do people get to read a notice: by a webhook of theirs, or by any service apprise knows."""

from __future__ import annotations

import hmac
import importlib
import importlib.util
import json
import queue
import re
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from sexton.core.machine_ports import Clock
from sexton.core.record import record
from sexton.errors import ExtraMissing, SettingsInvalid
from sexton.finalizers.effects.http_post import Http, HttpFailed, check
from sexton.finalizers.job import EffectFailed
from sexton.notifications.model import Channel, Letter

HOPELESS = frozenset({400, 410, 413, 422})

_BETWEEN = re.compile(r"[\s,;]+(?=[A-Za-z][A-Za-z0-9+._-]*://)")


@record
class NotifyPlan:
    """Where notices go; `urls_env` and `secret_env` name environment variables."""

    webhook: str | None = None
    secret_env: str | None = None
    urls_env: str | None = None
    timeout: timedelta = timedelta(seconds=15)


def channels(plan: NotifyPlan, clock: Clock, environ: Mapping[str, str]) -> dict[str, Channel]:
    """Every way of reaching people, by name; a variable or a part that is missing is an error."""
    found: dict[str, Channel] = {}
    if plan.webhook is not None:
        name = plan.secret_env
        secret = (
            b""
            if name is None
            else _variable("notify.secret_env", name, environ).encode("utf-8", "surrogateescape")
        )
        found["webhook"] = NoticeWebhook(plan.webhook, secret, clock, plan.timeout)
    if plan.urls_env is not None:
        addresses = _BETWEEN.split(_variable("notify.urls_env", plan.urls_env, environ).strip())
        if importlib.util.find_spec("apprise") is None:
            raise ExtraMissing(
                "notify.urls_env needs apprise",
                hint="Install it with: pip install 'sexton[notify]', or use notify.webhook.",
            )
        for number, address in enumerate(addresses, 1):
            # A name of its own for each: who got it is not told again because another failed.
            found[f"apprise-{number}"] = Apprise(address, plan.timeout)
    return found


class NoticeWebhook:
    """Posts a notice as JSON, with the headers and the signature of a finalizer's webhook."""

    def __init__(self, url: str, secret: bytes, clock: Clock, timeout: timedelta) -> None:
        self._url = url
        self._secret = secret
        self._clock = clock
        self._http = Http(clock, timeout)

    def deliver(self, letter: Letter) -> None:
        now = self._clock.now()
        body = _document(letter)
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": quote(letter.notice.key),
        }
        if self._secret:
            stamp = str(int(now.timestamp()))
            signature = hmac.new(self._secret, f"{stamp}.".encode() + body, "sha256").hexdigest()
            headers["X-Sexton-Timestamp"] = stamp
            headers["X-Sexton-Signature"] = f"sha256={signature}"
        try:
            answer = self._http.post(self._url, headers, body)
        except HttpFailed as problem:
            raise EffectFailed(f"the webhook failed: {problem}") from None
        check(answer, "the webhook", HOPELESS, now)


class Apprise:
    """Hands a notice to one address of apprise, which is imported when the first one is due."""

    def __init__(self, address: str, timeout: timedelta) -> None:
        self._address = address
        self._timeout = timeout

    def deliver(self, letter: Letter) -> None:
        apprise: Any = importlib.import_module("apprise")
        service = apprise.Apprise()
        if not service.add([self._address]):
            raise EffectFailed("the address is none that apprise knows")
        answers: queue.SimpleQueue[bool | None] = queue.SimpleQueue()

        def ask() -> None:
            try:
                notice = letter.notice
                answers.put(service.notify(notice.text, title=notice.title, body_format="text"))
            finally:
                answers.put(None)

        # Apprise has a deadline for each step but none for the whole.
        threading.Thread(target=ask, name="sexton-apprise", daemon=True).start()
        try:
            arrived = answers.get(timeout=self._timeout.total_seconds())
        except queue.Empty:
            seconds = f"{self._timeout.total_seconds():g} s"
            raise EffectFailed(f"the service did not answer apprise within {seconds}") from None
        if not arrived:
            raise EffectFailed("the service did not take the notice; apprise's log says more")


def _variable(setting: str, name: str, environ: Mapping[str, str]) -> str:
    value = environ.get(name, "")
    if not value.strip():
        raise SettingsInvalid(
            f"{setting} names the variable {name}, which is not set",
            hint=f"Set {name} where the keeper is started, or leave {setting} out.",
        )
    return value


def _document(letter: Letter) -> bytes:
    notice = letter.notice
    told = {
        "idempotency_key": notice.key,
        "event": notice.event,
        "at": letter.posted_at.isoformat(),
        "title": notice.title,
        "text": notice.text,
        "home": notice.home,
        "session": notice.session,
        "attempt": letter.attempts,
    }
    return json.dumps(told).encode()
