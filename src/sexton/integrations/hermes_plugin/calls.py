"""What does a call of a model or a tool look like to Hermes?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

CHARACTERS = 4
"""So many of them count as one token before the model has counted."""
FAILED = ("error", "timeout")
STREAMED = ("chat_completions",)
"""How models are asked whose answers can be given in their place."""


def foreseen(request: Mapping[str, Any]) -> tuple[int, int]:
    """About how many tokens a request sends, and how many it may get back."""
    said = json.dumps(request.get("messages") or [], default=str)
    most = request.get("max_completion_tokens") or request.get("max_tokens")
    return len(said) // CHARACTERS, most if type(most) is int and most > 0 else 0


def used(usage: Mapping[str, Any] | None) -> dict[str, int]:
    """What a call has used, by our names."""
    names = {
        "input_tokens": "input_tokens",
        "output_tokens": "output_tokens",
        "cache_read_tokens": "cached_tokens",
        "reasoning_tokens": "reasoning_tokens",
    }
    found = {ours: (usage or {}).get(theirs) for theirs, ours in names.items()}
    return {name: value for name, value in found.items() if type(value) is int and value >= 0}


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


def answer(words: str, model: str) -> Any:
    """A model's last word, as Hermes takes it from a model."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": words},
    }
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    completion = import_module("openai.types.chat").ChatCompletion
    return completion.model_validate(
        {
            "id": "sexton",
            "object": "chat.completion",
            "created": 0,
            "model": model or "sexton",
            "choices": [choice],
            "usage": usage,
        }
    )
