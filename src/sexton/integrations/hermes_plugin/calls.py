"""What does a call of a model or a tool look like to Hermes?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

FAILED = ("error", "timeout")
EXCERPT = 300
"""A person is shown so many characters of what a tool said last."""


def used(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """What a call has used, by our names; every token is of one kind."""
    known = {name: value for name, value in (usage or {}).items() if type(value) is int}
    amount = {name: max(value, 0) for name, value in known.items()}
    reasoning = amount.get("reasoning_tokens", 0)
    return {
        "input_tokens": amount.get("input_tokens", 0),
        # Hermes counts reasoning as a part of the output.
        "output_tokens": max(amount.get("output_tokens", 0) - reasoning, 0),
        "cached_tokens": amount.get("cache_read_tokens", 0) + amount.get("cache_write_tokens", 0),
        "reasoning_tokens": reasoning,
    }


def has_failed(status: str | None, result: object) -> bool:
    """Whether a tool call went wrong; Hermes calls a command fine that ended with an error."""
    if status in FAILED:
        return True
    if not isinstance(result, str) or '"exit_code"' not in result:
        return False
    try:
        answer = json.loads(result)
    except ValueError:
        return False
    code = answer.get("exit_code") if isinstance(answer, dict) else None
    return type(code) is int and code != 0


def excerpt(result: object) -> str:
    """The beginning of what a tool said, on one line."""
    text = " ".join(str(result).split())
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"


def answer(words: str, model: str, api_mode: str) -> Any:
    """A model's last word, in the form in which Hermes is answered by that kind of interface."""
    form = _FORMS.get(api_mode, _completion)
    return form(words, model or "sexton")


def _completion(words: str, model: str) -> Any:
    usage = SimpleNamespace(prompt_tokens=0, completion_tokens=0, total_tokens=0)
    message = SimpleNamespace(
        role="assistant", content=words, tool_calls=None, reasoning_content=None
    )
    return SimpleNamespace(
        id="sexton",
        object="chat.completion",
        created=0,
        model=model,
        choices=[SimpleNamespace(index=0, finish_reason="stop", message=message)],
        usage=usage,
    )


def _message(words: str, model: str) -> Any:
    usage = SimpleNamespace(input_tokens=0, output_tokens=0)
    return SimpleNamespace(
        id="sexton",
        type="message",
        role="assistant",
        model=model,
        content=[SimpleNamespace(type="text", text=words)],
        stop_reason="end_turn",
        usage=usage,
    )


def _response(words: str, model: str) -> Any:
    text = SimpleNamespace(type="output_text", text=words, annotations=[])
    said = SimpleNamespace(
        type="message", id="sexton", role="assistant", status="completed", content=[text]
    )
    return SimpleNamespace(
        id="sexton",
        model=model,
        status="completed",
        output=[said],
        output_text=words,
        error=None,
        incomplete_details=None,
        usage=SimpleNamespace(input_tokens=0, output_tokens=0, total_tokens=0),
    )


_FORMS = {"anthropic_messages": _message, "codex_responses": _response}
