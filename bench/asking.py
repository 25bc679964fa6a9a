"""Asks a site the same again and again, so many times a second: `asking PORT TOKEN RATE SECONDS`.

Says `ready` when it has the first answer, and at the end how often it was told 304, as JSON.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time

CONNECTIONS = 8


class Asker(threading.Thread):
    """One connection that asks at its own pace, and catches up after a slow answer."""

    def __init__(self, port: int, request: bytes, rate: float, seconds: float) -> None:
        super().__init__()
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = request
        self._pause = 1 / rate
        self._seconds = seconds
        self.unchanged = 0

    def run(self) -> None:
        begun = due = time.perf_counter()
        while due < begun + self._seconds:
            now = time.perf_counter()
            if now < due:
                time.sleep(due - now)
            self._socket.sendall(self._request)
            self.unchanged += answer(self._socket).startswith(b"HTTP/1.1 304")
            due += self._pause


def answer(opened: socket.socket) -> bytes:
    """An answer with its content."""
    found = b""
    while b"\r\n\r\n" not in found:
        found += opened.recv(65536)
    head, _, body = found.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.partition(b":")[2])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        ),
        0,
    )
    while len(body) < length and not head.startswith(b"HTTP/1.1 304"):
        body += opened.recv(65536)
    return head


def main() -> None:
    port, token, rate, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4]
    usual = (
        f"GET /v1/activity HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=60) as opened:
        opened.sendall(f"{usual}\r\n".encode())
        head = answer(opened).decode()
    etag = next(line.partition(": ")[2] for line in head.split("\r\n") if line.startswith("etag"))
    request = f"{usual}If-None-Match: {etag}\r\n\r\n".encode()
    each = rate / CONNECTIONS
    askers = [Asker(port, request, each, float(seconds)) for _ in range(CONNECTIONS)]
    print("ready", flush=True)
    begun = time.perf_counter()
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    taken = time.perf_counter() - begun
    unchanged = sum(asker.unchanged for asker in askers)
    print(json.dumps({"unchanged": unchanged, "seconds": taken}), flush=True)


if __name__ == "__main__":
    main()
