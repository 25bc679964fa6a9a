"""A model server on this machine that answers every question with the same words."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

ANSWER = "Good morning to you, too."
USAGE = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}


class FakeModel:
    """Speaks as much of the OpenAI protocol as Hermes needs, streamed and not."""

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Answering)
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
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """What a client calls the base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._tell({"object": "list", "data": [{"id": "fake-model", "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if asked.get("stream"):
            self._stream()
        else:
            message = {"role": "assistant", "content": ANSWER}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._tell(
                {"id": "1", "object": "chat.completion", "choices": [choice], "usage": USAGE}
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

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        begin = {"delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
        for choices, usage in (([begin], None), ([{"delta": {}, "finish_reason": "stop"}], USAGE)):
            event: dict[str, Any] = {"id": "1", "object": "chat.completion.chunk", "model": "fake"}
            event |= {"created": 1, "choices": [{"index": 0, **each} for each in choices]}
            if usage:
                event["usage"] = usage
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True
