"""What does a server answer to one POST, within a deadline?

Redirects are not followed, proxies of the environment are not used, and certificates are checked
as the platform does. Errors name the server but neither path nor query, which may be secrets.
"""

from __future__ import annotations

import http.client
import io
import queue
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cached_property
from http import HTTPStatus
from typing import IO, Any
from urllib.parse import SplitResult, urlsplit

from sexton.core.machine_ports import Clock
from sexton.core.record import record
from sexton.finalizers.job import EffectFailed, shortage

MOST_BYTES = 1_000_000
HEADERS = 2_000_000
"""So much may come beside the body: headers, and the sizes of its chunks."""
LONGEST_WAIT = timedelta(days=1)


class TooMuch(Exception):
    """A server sends more than we are ready to keep."""


class HttpFailed(Exception):
    """No whole answer came; the message says from whom and why, `problem` what the system said."""

    def __init__(self, message: str, problem: OSError | None = None) -> None:
        super().__init__(message)
        self.problem = problem


@record
class Answer:
    """What a server said; header names are in lower case. Of a very long body the beginning."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_whole: bool = True


class Http:
    """Posts to servers; a whole exchange, from the name to the last byte, has one deadline."""

    def __init__(self, clock: Clock, timeout: timedelta, most_bytes: int = MOST_BYTES) -> None:
        self._clock = clock
        self._timeout = timeout
        self._most_bytes = most_bytes

    def post(self, url: str, headers: Mapping[str, str], body: bytes | IO[bytes]) -> Answer:
        """The answer to a POST; a body that is a file needs its Content-Length in the headers."""
        target = _split(url)
        server = f"{target.scheme}://{target.netloc}"
        try:
            with self._connected(target) as line:
                return self._exchange(line, target, {**headers, "Connection": "close"}, body)
        except TooMuch:
            raise HttpFailed(f"{server} answered with more than anybody reads") from None
        except TimeoutError:
            seconds = f"{self._timeout.total_seconds():g} s"
            raise HttpFailed(f"{server} did not answer within {seconds}") from None
        except ssl.SSLCertVerificationError as problem:
            raise HttpFailed(f"{server} is not trusted: {problem.verify_message}") from None
        except (http.client.RemoteDisconnected, http.client.IncompleteRead):
            raise HttpFailed(f"{server} closed the connection before its answer ended") from None
        except http.client.HTTPException:
            raise HttpFailed(f"{server} did not answer in HTTP") from None
        except OSError as problem:
            why = problem.strerror or type(problem).__name__
            raise HttpFailed(f"{server} can not be reached: {why}", problem) from None
        except ValueError:  # its text would quote the header, which may be a secret
            raise HttpFailed(f"a name or header for {server} can not be sent") from None

    @contextmanager
    def _connected(self, target: SplitResult) -> Iterator[_Line]:
        deadline = _Deadline(self._clock, self._timeout.total_seconds())
        secure = target.scheme == "https"
        port = target.port or (443 if secure else 80)
        host = target.hostname or ""
        with _connect(_resolve(host, port, deadline), deadline) as plain:
            plain.settimeout(deadline.left())
            if not secure:
                yield _Line(plain, deadline, self._most_bytes + HEADERS)
                return
            with self._trust.wrap_socket(plain, server_hostname=host) as wrapped:
                yield _Line(wrapped, deadline, self._most_bytes + HEADERS)

    @cached_property
    def _trust(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    def _exchange(
        self, line: _Line, target: SplitResult, headers: Mapping[str, str], body: bytes | IO[bytes]
    ) -> Answer:
        connection = http.client.HTTPConnection(target.hostname or "", target.port)
        connection.response_class = _Response
        spoken: Any = line  # all that the connection asks of a socket
        connection.sock = spoken
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        with suppress(BrokenPipeError, ConnectionResetError):
            # A server may answer before it has read everything, and hang up.
            connection.request("POST", path, body, {"Host": target.netloc, **headers})
        with connection.getresponse() as response:
            said = response.read(self._most_bytes + 1)
            is_whole = len(said) <= self._most_bytes
            if is_whole and response.length:
                raise http.client.IncompleteRead(b"", response.length)
            named = {name.lower(): value for name, value in response.getheaders()}
            body = said[: self._most_bytes]
            return Answer(status=response.status, headers=named, body=body, is_whole=is_whole)


class _Response(http.client.HTTPResponse):
    """An answer after all hints about it, such as 103 Early Hints."""

    def _read_status(self) -> tuple[str, int, str]:
        while True:
            read: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if not 102 <= read[1] < 200:
                return read
            http.client.parse_headers(self.fp)


def retry_after(answer: Answer, now: datetime) -> timedelta | None:
    """How long the server asks us to stay away, at most a day; None if it does not say."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), LONGEST_WAIT.total_seconds()))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # no date, or one with numbers beyond all dates
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return min(max(moment - now, timedelta()), LONGEST_WAIT)


def _split(url: str) -> SplitResult:
    """The parts of an address that can be posted to."""
    try:
        target = urlsplit(url)
        sound = target.scheme in ("http", "https") and target.hostname and target.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isascii() or not url.isprintable() or " " in url:
        raise HttpFailed("the address is not a plain one of http or https")
    if "@" in target.netloc:
        raise HttpFailed("the address holds a password; name an environment variable instead")
    return target


class _Deadline:
    """A moment by which everything is over."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._end = clock.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then; raises TimeoutError once there are none."""
        left = self._end - self._clock.monotonic()
        if left <= 0:
            raise TimeoutError
        return left


class _Line:
    """A connected socket on which no wait outlasts the deadline, however slowly bytes drip."""

    def __init__(self, connected: socket.socket, deadline: _Deadline, most: int) -> None:
        self._socket = connected
        self._deadline = deadline
        self._most = most

    def sendall(self, sent: bytes) -> None:
        left = memoryview(sent)
        while left:
            self._socket.settimeout(self._deadline.left())
            left = left[self._socket.send(left) :]

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(_Incoming(self._socket, self._deadline, self._most))

    def close(self) -> None:
        """Nothing: a connection closes its end while the answer is still being read."""


class _Incoming(io.RawIOBase):
    """The bytes that arrive on a line."""

    def __init__(self, connected: socket.socket, deadline: _Deadline, most: int) -> None:
        self._socket = connected
        self._deadline = deadline
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._socket.settimeout(self._deadline.left())
        read = self._socket.recv_into(buffer)
        self._left -= read
        if self._left < 0:  # whatever it claims about its size
            raise TooMuch
        return read


def _resolve(host: str, port: int, deadline: _Deadline) -> list[Any]:
    """The addresses of a server; the platform's resolver knows no deadline, so a thread waits."""
    found: queue.SimpleQueue[list[Any] | OSError | UnicodeError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found.put(list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except (OSError, UnicodeError) as problem:
            found.put(problem)

    threading.Thread(target=ask, name="sexton-resolver", daemon=True).start()
    try:
        answer = found.get(timeout=deadline.left())
    except queue.Empty:
        raise TimeoutError from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _connect(addresses: list[Any], deadline: _Deadline) -> socket.socket:
    """A connection to the first address that takes it; a silent one must not use up the time."""
    trouble: OSError = ConnectionError("no address")
    for tried, (family, kind, protocol, _, address) in enumerate(addresses):
        connected = socket.socket(family, kind, protocol)
        try:
            connected.settimeout(deadline.left() / (len(addresses) - tried))
            connected.connect(address)
        except OSError as problem:
            connected.close()
            trouble = problem
        else:
            return connected
    raise trouble


OUTAGES = frozenset({429, 502, 503, 504})
"""What a server says to everybody."""


def unanswered(who: str, problem: HttpFailed) -> EffectFailed:
    """The failure to be raised if no answer came at all."""
    after = shortage(problem.problem)
    return EffectFailed(f"{who} failed: {problem}", after=after, outage=True)


def check(answer: Answer, who: str, hopeless: Set[int], now: datetime) -> None:
    """Raise EffectFailed unless the server accepted; nothing of its words, which may quote ours."""
    status = answer.status
    if 200 <= status < 300:
        return
    problem = f"{who} answered {status}{_phrase(status)}"
    if 300 <= status < 400:
        raise EffectFailed(f"{problem}; redirects are not followed")
    after = retry_after(answer, now) if status in (429, 503) else None
    raise EffectFailed(problem, after=after, hopeless=status in hopeless, outage=status in OUTAGES)


def _phrase(status: int) -> str:
    try:
        return f" {HTTPStatus(status).phrase}"
    except ValueError:
        return ""
