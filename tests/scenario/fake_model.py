"""A model server on this machine that answers as it is told, by default always the same."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

ANSWER = "Good morning to you, too."
USAGE = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
PATIENCE = 240.0


class ToolUse(NamedTuple):
    """The wish of a model to have a tool called."""

    tool: str
    arguments: Mapping[str, Any]


PICTURE = 1000
"""So many tokens a picture takes, where what is sent is counted."""


Said = str | ToolUse | Sequence[ToolUse]
Reply = Callable[[list[Any]], Said]
"""What a model says to the messages it was sent; it may wish for several tools at once."""
Usage = Mapping[str, int]


class FakeModel:
    """Speaks as much of the OpenAI protocol as Hermes needs, streamed and not.

    `asked` are the messages of every question, `usage` is what each answer takes, unless `counts`
    counts what it was sent and says; `used` is what they took. It can be held to answer nobody.
    """

    def __init__(self, reply: Reply = lambda _: ANSWER) -> None:
        self.reply = reply
        self.asked: list[list[Any]] = []
        self.usage: Usage = USAGE
        self.counts: Callable[[Any, Said], Usage] | None = None
        self.used: list[Usage] = []
        self._free = threading.Event()
        self._free.set()
        self._answers = 0

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Answering)
        self._server.model = self
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._free.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """What a client calls the base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def hold_from(self, question: int) -> None:
        """Answer nobody from that question on, counted from 1, until told to go on."""
        self._answers = question - 1
        self._free.clear()

    def go_on(self) -> None:
        """Answer everybody again."""
        self._free.set()

    def answer(self, messages: list[Any]) -> Said:
        """What is said to a question, when it may be."""
        self.asked.append(messages)
        if len(self.asked) > self._answers:
            self._free.wait(PATIENCE)
        return self.reply(messages)

    def use(self, request: Any, said: Said) -> Usage:
        """What an answer takes."""
        used = self.usage if self.counts is None else self.counts(request, said)
        self.used.append(used)
        return used


def counting(size: float) -> Callable[[Any, Said], Usage]:
    """Counts a token for so many bytes of all that was sent, and of what is said."""

    def count(request: Any, said: Said) -> Usage:
        pictures = 0

        def without_pictures(part: dict[str, Any]) -> Any:
            nonlocal pictures
            is_picture = part.get("type") == "image_url"
            pictures += is_picture
            return {} if is_picture else part

        seen = json.loads(json.dumps(request), object_hook=without_pictures)
        sent = int(len(json.dumps(seen, ensure_ascii=False).encode()) / size) + PICTURE * pictures
        answered = int(len(json.dumps(said, ensure_ascii=False).encode()) / size)
        total = {"total_tokens": sent + answered}
        return {"prompt_tokens": sent, "completion_tokens": answered, **total}

    return count


class _Server(ThreadingHTTPServer):
    model: FakeModel

    def handle_error(self, *_: Any) -> None:
        """Whoever asked may be gone when the answer comes."""


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._tell({"object": "list", "data": [{"id": "fake-model", "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        said = self.server.model.answer(asked.get("messages") or [])
        message, finish = _message(said, len(self.server.model.asked))
        usage = self.server.model.use(asked, said)
        if asked.get("stream"):
            self._stream(message, finish, usage)
        else:
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self._tell(
                {"id": "1", "object": "chat.completion", "choices": [choice], "usage": usage}
            )

    def log_message(self, *_: Any) -> None:
        """Tests have their own."""

    def _tell(self, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, message: dict[str, Any], finish: str, last: Usage) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        begin = {"delta": message, "finish_reason": None}
        for choices, usage in (([begin], None), ([{"delta": {}, "finish_reason": finish}], last)):
            event: dict[str, Any] = {"id": "1", "object": "chat.completion.chunk", "model": "fake"}
            event |= {"created": 1, "choices": [{"index": 0, **each} for each in choices]}
            if usage:
                event["usage"] = usage
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True


def _message(said: Said, number: int) -> tuple[dict[str, Any], str]:
    if isinstance(said, str):
        return {"role": "assistant", "content": said}, "stop"
    wishes = [said] if isinstance(said, ToolUse) else said
    calls = [
        {
            "index": place,
            "id": f"call_{number}_{place}",
            "type": "function",
            "function": {"name": each.tool, "arguments": json.dumps(each.arguments)},
        }
        for place, each in enumerate(wishes)
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"
