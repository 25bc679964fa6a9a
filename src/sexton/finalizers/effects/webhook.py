"""How is a server told that a session has ended? At least once, always with the same key."""

from __future__ import annotations

import hmac
import tempfile
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import IO
from urllib.parse import quote

from sexton.core.machine_ports import Clock
from sexton.core.record import record
from sexton.finalizers.effects.http_post import Http, HttpFailed, check, unanswered
from sexton.finalizers.effects.payload import document
from sexton.finalizers.job import EffectFailed, Job

IN_MEMORY = 1_000_000
HOPELESS = frozenset({400, 410, 422})


@record
class WebhookPlan:
    """Where to post, and with what; `secret_env` names the variable that holds the secret."""

    url: str
    secret_env: str | None = None
    timeout: timedelta = timedelta(seconds=30)
    headers: tuple[tuple[str, str], ...] = ()


class Webhook:
    """Posts the document of a finalization.

    `Idempotency-Key` is the key, percent-encoded. With a secret, `X-Sexton-Signature` is
    `sha256=` and the HMAC of `X-Sexton-Timestamp`, a dot and the body.
    """

    def __init__(self, plan: WebhookPlan, clock: Clock, environ: Mapping[str, str]) -> None:
        self._plan = plan
        self._clock = clock
        self._environ = environ
        self._http = Http(clock, plan.timeout)

    def check(self) -> None:
        """Raise EffectFailed if nothing can even be posted from here."""
        self._secret()

    def carry_out(self, job: Job) -> str:
        secret = self._secret()
        now = self._clock.now()
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as body:
            signature = _written(job, body, _signer(secret, now))
            headers = {
                "Content-Type": "application/json",
                "Content-Length": str(body.tell()),
                "Idempotency-Key": quote(job.key),
            }
            if secret:
                headers["X-Sexton-Timestamp"] = _seconds(now)
                headers["X-Sexton-Signature"] = f"sha256={signature}"
            body.seek(0)
            return self._send(headers, body)

    def _send(self, headers: Mapping[str, str], body: IO[bytes]) -> str:
        ours = {name.lower() for name in headers}
        more = {name: value for name, value in self._plan.headers if name.lower() not in ours}
        try:
            answer = self._http.post(self._plan.url, {**more, **headers}, body)
        except HttpFailed as problem:
            raise unanswered("the webhook", problem) from None
        check(answer, "the webhook", HOPELESS, self._clock.now())
        return f"the webhook answered {answer.status}"

    def _secret(self) -> bytes:
        name = self._plan.secret_env
        if name is None:
            return b""
        secret = self._environ.get(name, "")
        if not secret:
            raise EffectFailed(f"the webhook's secret is missing: {name} is not set")
        return secret.encode("utf-8", "surrogateescape")


def _signer(secret: bytes, now: datetime) -> hmac.HMAC:
    return hmac.new(secret, f"{_seconds(now)}.".encode(), "sha256")


def _seconds(now: datetime) -> str:
    return str(int(now.timestamp()))


def _written(job: Job, body: IO[bytes], signer: hmac.HMAC) -> str:
    """Write the document, which is signed before it is sent; its signature."""
    try:
        for piece in document(job):
            signer.update(piece)
            body.write(piece)
        body.flush()
    except OSError as problem:
        raise EffectFailed(f"no room for the webhook's body: {problem.strerror}") from None
    return signer.hexdigest()
