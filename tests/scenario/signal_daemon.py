"""A signal-cli daemon on this machine: people write to it, and a gateway answers through it."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

ACCOUNT = "+15550001"
"""The number of the gateway."""
DONE, FAILED = "✅", "❌"
"""The gateway reacts so to a message when its turn is over."""
PATIENCE = 240.0


class Sent(NamedTuple):
    """Words that the gateway has sent to somebody."""

    to: str
    text: str


class SignalDaemon:
    """Speaks as much of signal-cli's HTTP protocol as Hermes's gateway needs.

    `sent` is everything that the gateway has said, in its order.
    """

    def __init__(self) -> None:
        self.sent: list[Sent] = []
        self._finished: dict[int, tuple[str, int]] = {}
        self._streams: list[queue.Queue[str | None]] = []
        self._changed = threading.Condition()
        self._stamp = int(time.time() * 1000)

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Answering)
        self._server.signal = self
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
        with self._changed:
            for stream in self._streams:
                stream.put(None)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """What a gateway calls SIGNAL_HTTP_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def write(self, user: str, text: str) -> int:
        """Somebody writes to the gateway, which listens; the name of the message."""
        self.wait_for(lambda: bool(self._streams))
        with self._changed:
            self._stamp += 1
            message = {"timestamp": self._stamp, "message": text}
            envelope = {"sourceNumber": user, "timestamp": self._stamp, "dataMessage": message}
            for stream in self._streams:
                stream.put(json.dumps({"envelope": envelope}))
            return self._stamp

    def hang_up(self) -> None:
        """Nobody listens any more: the gateway is gone, and the next one is waited for."""
        with self._changed:
            for stream in self._streams:
                stream.put(None)
        self.wait_for(lambda: not self._streams)

    def wait_for_turn(self, stamp: int, told: int) -> str:
        """Wait until the gateway is through with a message, and how it reacted to it.

        Somebody who was `told` so much before is told more by then: a gateway that starts reacts
        to what it puts off, and again when it has answered.
        """
        self.wait_for(lambda: self._finished.get(stamp, ("", 0))[1] > told)
        return self._finished[stamp][0]

    def wait_for(self, happened: Callable[[], bool]) -> None:
        """Wait until something has happened that the gateway tells this daemon."""
        with self._changed:
            assert self._changed.wait_for(happened, PATIENCE), self.sent[-5:]

    def to(self, user: str) -> list[str]:
        """What somebody was told so far."""
        return [each.text for each in self.sent if each.to == user]

    def take(self, method: str, told: Mapping[str, Any]) -> Any:
        """Do what the gateway asks for."""
        with self._changed:
            if method == "send":
                self.sent += [Sent(to, told.get("message", "")) for to in told["recipient"]]
            elif method == "sendReaction" and told["emoji"] in (DONE, FAILED):
                answered = len(self.to(told["targetAuthor"]))
                self._finished[told["targetTimestamp"]] = told["emoji"], answered
            self._stamp += 1
            self._changed.notify_all()
            return [] if method == "listContacts" else {"timestamp": self._stamp}

    @contextmanager
    def listening(self) -> Iterator[queue.Queue[str | None]]:
        """A stream of what people write."""
        stream: queue.Queue[str | None] = queue.Queue()
        with self._changed:
            self._streams.append(stream)
            self._changed.notify_all()
        try:
            yield stream
        finally:
            with self._changed:
                self._streams.remove(stream)
                self._changed.notify_all()


class _Server(ThreadingHTTPServer):
    signal: SignalDaemon

    def handle_error(self, *_: Any) -> None:
        """The gateway may be gone when the answer comes."""


class _Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        if self.path.startswith("/api/v1/events"):
            self._stream()
        else:
            self._tell({})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = self.server.signal.take(asked["method"], asked["params"])
        self._tell({"jsonrpc": "2.0", "id": asked["id"], "result": result})

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
        self.wfile.write(b":\n\n")
        self.close_connection = True
        with self.server.signal.listening() as stream:
            while (line := stream.get()) is not None:
                self.wfile.write(f"data: {line}\n\n".encode())
