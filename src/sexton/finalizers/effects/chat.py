"""What does a model say? One question to an OpenAI-compatible endpoint, one whole answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from sexton.core.machine_ports import Clock
from sexton.core.record import record
from sexton.finalizers.effects.http_post import Answer, Http, HttpFailed, check, unanswered
from sexton.finalizers.job import EffectFailed

WHO = "the model's endpoint"
HOPELESS = frozenset({400, 422})
BAD, TOO_LARGE = 400, 413
WHOLE = ("stop", "eos")
"""How endpoints say that an answer is at its end; some name the token that ended it."""
_CODE = re.compile(r"[A-Za-z0-9_.-]{1,60}")


class TooLong(EffectFailed):
    """The model can not read so much at once; shorter parts may do."""


@record
class ChatPlan:
    """Whom to ask; `api_key_env` names the variable that holds the key, if one is needed."""

    base_url: str
    model: str
    api_key_env: str | None = None
    timeout: timedelta = timedelta(minutes=2)


class Chat:
    """Asks a model."""

    def __init__(self, plan: ChatPlan, clock: Clock, environ: Mapping[str, str]) -> None:
        self._plan = plan
        self._clock = clock
        self._environ = environ
        self._url = f"{plan.base_url.rstrip('/')}/chat/completions"
        self._http = Http(clock, plan.timeout)

    def check(self) -> None:
        """Raise EffectFailed if it can not even be asked."""
        self._headers()

    def ask(self, instructions: str, text: str) -> str:
        """The model's whole answer; half an answer is none."""
        asked = {
            "model": self._plan.model,
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": text},
            ],
            "stream": False,
        }
        try:
            answer = self._http.post(self._url, self._headers(), json.dumps(asked).encode())
        except HttpFailed as problem:
            raise unanswered(WHO, problem) from None
        code = _code(answer)
        if answer.status == TOO_LARGE or (answer.status == BAD and "context" in code.lower()):
            raise TooLong(f"{WHO}{code} answered {answer.status}: it is too long", hopeless=True)
        check(answer, f"{WHO}{code}", HOPELESS, self._clock.now())
        if not answer.is_whole:
            raise EffectFailed(f"{WHO} gave an answer of more than {len(answer.body)} bytes")
        return _said(answer.body)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        name = self._plan.api_key_env
        if name is not None:
            key = self._environ.get(name, "").strip()
            if not key:
                raise EffectFailed(f"{WHO} needs a key: {name} is not set")
            headers["Authorization"] = f"Bearer {key}"
        return headers


def _said(body: bytes) -> str:
    found = _parsed(body)
    choices = _field(found, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    content = _field(_field(choice, "message"), "content")
    reason = _field(choice, "finish_reason")
    if reason in ("length", "content_filter", "tool_calls"):
        raise EffectFailed(f"{WHO} gave half an answer: {reason}")
    if reason not in WHOLE or not isinstance(content, str):
        raise EffectFailed(f"{WHO} gave an answer that is no chat completion")
    if not content.strip():
        raise EffectFailed(f"{WHO} gave an empty answer")
    return content.strip()


def _code(answer: Answer) -> str:
    """The name of an error as such endpoints give it, and none of the words around it."""
    if answer.status < 400:
        return ""
    error = _field(_parsed(answer.body), "error")
    known = (_field(error, "code"), _field(error, "type"))
    named = (each for each in known if isinstance(each, str) and _CODE.fullmatch(each))
    return next((f" ({each})" for each in named), "")


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
