"""A real HTTP server on loopback that answers as it was told, well or badly."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 240.0


@dataclass
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Visit(BaseHTTPRequestHandler):
    """One client's visit; it is noted before it is answered."""

    server: _Listener
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        headers = {name.lower(): ", ".join(self.headers.get_all(name, ())) for name in self.headers}
        request = Request(self.path, headers, self.rfile.read(size))
        with suppress(OSError):
            self.server.house.note(request)(self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def wait(self, seconds: float = PATIENCE) -> bool:
        """Do nothing until the test is over; whether it is."""
        return self.server.house.over.wait(seconds)


Reply = Callable[[Visit], None]


class _Listener(ThreadingHTTPServer):
    house: Server
    request_queue_size = 64

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that go away are what these tests are about."""


@dataclass
class Server:
    """Gives the replies in turn, and the last one for ever."""

    replies: list[Reply]
    certificate: Path | None = None
    requests: list[Request] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._listener = _Listener(("127.0.0.1", 0), Visit)
        self._listener.house = self
        if self.certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate)
            self._listener.socket = context.wrap_socket(self._listener.socket, server_side=True)
        self._came = threading.Condition()
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.over.set()
        self._listener.shutdown()
        self._thread.join(PATIENCE)
        self._listener.server_close()

    @property
    def url(self) -> str:
        scheme = "https" if self.certificate else "http"
        return f"{scheme}://127.0.0.1:{self._listener.server_address[1]}"

    def note(self, request: Request) -> Reply:
        with self._came:
            self.requests.append(request)
            self._came.notify_all()
            return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def wait_for(self, requests: int) -> None:
        """Wait until that many have come."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.requests) >= requests, PATIENCE)


def reply(status: int = 200, body: bytes = b"", **headers: str) -> Reply:
    """A plain reply; `Retry_After` is the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda visit: visit.answer(status, body, named)


def completion(text: str | None, finish_reason: str | None = "stop") -> bytes:
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    return json.dumps({"choices": [choice]}).encode()


def say(text: str) -> Reply:
    """What a model says."""
    return reply(200, completion(text))


def silence(visit: Visit) -> None:
    """Take the request and never answer."""
    visit.wait()


def hang_up(visit: Visit) -> None:
    """Close the connection without a word."""
    visit.close_connection = True


def babble(visit: Visit) -> None:
    """Answer in no language that we speak."""
    visit.wfile.write(b"\x00\xffno such protocol\r\n\r\n")
    visit.close_connection = True


def break_off(visit: Visit) -> None:
    """Promise more than is given."""
    visit.send_response(200)
    visit.send_header("Content-Length", "1000")
    visit.end_headers()
    visit.wfile.write(b'{"choices": [')
    visit.close_connection = True


def drip(visit: Visit) -> None:
    """Send a header that never ends, a byte now and then."""
    visit.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not visit.wait(0.05):
        visit.wfile.write(b"z")


def drip_body(visit: Visit) -> None:
    """Send a body that never ends, a byte now and then."""
    visit.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while not visit.wait(0.05):
        visit.wfile.write(b"z")


def flood(visit: Visit) -> None:
    """Send more than anybody wants."""
    visit.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    for _ in range(100):
        visit.wfile.write(b"z" * 100_000)
    visit.close_connection = True
