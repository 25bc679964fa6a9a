"""Does a POST end in time and in one of two ways: a whole answer, or a clear error?"""

from __future__ import annotations

import io
import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sexton.core.clock import SystemClock
from sexton.finalizers.effects.http_post import Answer, Http, HttpFailed, retry_after
from tests.golden import golden
from tests.scenario.effects_server import (
    PATIENCE,
    Reply,
    Server,
    Visit,
    babble,
    break_off,
    drip,
    drip_body,
    flood,
    hang_up,
    reply,
    silence,
)

CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggmacshwKv17EmCyC
CLRJgscGE+hddN/JA5q5ffIBU1+hRANCAATg1F09wVjCV4TAntYyt8bcYPnTuiCW
C6VR4q8m8M8WCYihLi/cI/JzvqxEvyCy7dMHsS6f6XPbo8W9LN7tMob9
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUZqjXrZcX6ebA8HRhfz1krDoOhkIwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjAxMzMyMVoYDzIxMjYxMDIz
MDEzMzIxWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATg1F09wVjCV4TAntYyt8bcYPnTuiCWC6VR4q8m8M8WCYihLi/cI/Jz
vqxEvyCy7dMHsS6f6XPbo8W9LN7tMob9o28wbTAdBgNVHQ4EFgQUDcN3JNEIsK1E
DGJPimnzAReNO5EwHwYDVR0jBBgwFoAUDcN3JNEIsK1EDGJPimnzAReNO5EwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgC0l8HJi4nmom3cs33PdOqcVHnZVEAKaVBMgxnveSvcgCIQCI
jpis8XgU+1OpH/nKW2Go4QgPh3ighCqP1QceCVGQMA==
-----END CERTIFICATE-----
"""
"""For localhost and nothing else; made for these tests."""

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def client(seconds: float = PATIENCE) -> Http:
    return Http(SystemClock(), timedelta(seconds=seconds), most_bytes=1_000_000)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "certificate.pem"
    file.write_text(CERTIFICATE, encoding="ascii")
    return file


def test_the_answer_is_whole_and_its_header_names_are_in_lower_case() -> None:
    with Server([reply(201, b"yes", X_Some="Thing")]) as server:
        answer = client().post(f"{server.url}/a?b=c", {"X-Mine": "1"}, b"body")
    assert (answer.status, answer.body, answer.headers["x-some"]) == (201, b"yes", "Thing")
    (request,) = server.requests
    assert (request.path, request.body, request.headers["x-mine"]) == ("/a?b=c", b"body", "1")


def test_a_file_is_sent_with_the_length_that_was_said() -> None:
    body = b"0123456789" * 100_000
    with Server([reply()]) as server:
        client().post(server.url, {"Content-Length": str(len(body))}, io.BytesIO(body))
    assert server.requests[0].body == body


def drown(visit: Visit) -> None:
    """Promise a chunk of less than nothing, and send for ever."""
    visit.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n")
    while True:
        visit.wfile.write(b"z" * 100_000)


@pytest.mark.parametrize(
    ("bad", "scene"),
    [
        (hang_up, "broken off"),
        (break_off, "broken off"),
        (babble, "no HTTP"),
        (drown, "too much"),
    ],
)
def test_what_is_no_whole_answer_is_an_error_that_says_so(bad: Reply, scene: str) -> None:
    with Server([bad]) as server, pytest.raises(HttpFailed) as caught:
        client().post(f"{server.url}/hidden-path", {}, b"")
    golden("http", scene, str(caught.value))


def hint(visit: Visit) -> None:
    """Say something about the answer before it comes."""
    visit.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
    visit.wfile.write(b"HTTP/1.1 102 Processing\r\n\r\n")
    visit.answer(503, b"later", {"Retry-After": "7"})


def test_of_a_very_long_answer_the_beginning_is_kept() -> None:
    with Server([flood]) as server:
        answer = client().post(server.url, {}, b"")
    assert (answer.status, answer.is_whole, len(answer.body)) == (200, False, 1_000_000)


def test_hints_about_an_answer_are_not_the_answer() -> None:
    with Server([hint]) as server:
        answer = client().post(server.url, {}, b"")
    assert (answer.status, answer.body, answer.headers["retry-after"]) == (503, b"later", "7")


def test_a_server_that_answers_before_it_has_read_everything_is_heard() -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n"
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def refuse() -> None:
            with listener.accept()[0] as visitor:
                visitor.recv(100)
                visitor.sendall(refusal)
                visitor.shutdown(socket.SHUT_RD)  # what else it sends is refused
                visitor.recv(1 << 20)
                gone.wait(PATIENCE)

        gone = threading.Event()
        thread = threading.Thread(target=refuse)
        thread.start()
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            answer = client().post(url, {"Content-Length": str(1 << 25)}, Breaking())
        finally:
            gone.set()
            thread.join(PATIENCE)
    assert (answer.status, answer.headers["retry-after"]) == (413, "9")


class Breaking(io.BytesIO):
    """A body of which nobody takes more than the beginning."""

    def __init__(self) -> None:
        super().__init__(b"x" * 1000)

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        if not found:
            raise BrokenPipeError
        return found


SELF_SIGNED = 18  # X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT


@pytest.mark.parametrize("slow", [silence, drip, drip_body])
def test_the_deadline_is_of_the_whole_exchange_however_bytes_drip(slow: Reply) -> None:
    with Server([slow]) as server, pytest.raises(HttpFailed) as caught:
        client(0.5).post(server.url, {}, b"")
    golden("http", "no answer in time", str(caught.value))


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    with Server([reply(302, Location="/elsewhere"), reply(200)]) as server:
        assert client().post(server.url, {}, b"").status == 302
    assert len(server.requests) == 1


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Server([reply(204)]) as server:
        assert client().post(server.url, {}, b"").status == 204


def test_a_closed_port_is_an_error_that_names_the_server_but_not_the_path() -> None:
    with socket.socket() as deaf:  # it has the port, so that nobody else listens there
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        with pytest.raises(HttpFailed) as caught:
            client().post(f"http://127.0.0.1:{port}/token-in-path", {}, b"")
    assert f"http://127.0.0.1:{port} " in str(caught.value)
    golden("http", "a closed port", str(caught.value))


def test_an_unknown_certificate_is_not_trusted(certificate: Path) -> None:
    with (
        Server([reply()], certificate) as server,
        pytest.raises(HttpFailed) as caught,
    ):
        client().post(server.url, {}, b"")
    assert not server.requests
    assert isinstance(caught.value.__context__, ssl.SSLCertVerificationError)
    assert caught.value.__context__.verify_code == SELF_SIGNED


def test_a_certificate_the_platform_trusts_is_enough(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with Server([reply(200, b"safe")], certificate) as server:
        assert client().post(server.url, {}, b"x" * 1_000_000).body == b"safe"


def test_a_server_that_speaks_no_tls_is_an_error() -> None:
    with Server([reply()]) as server, pytest.raises(HttpFailed) as caught:
        client().post(server.url.replace("http:", "https:"), {}, b"")
    assert isinstance(caught.value.problem, ssl.SSLError)


@pytest.mark.parametrize(
    "url",
    ["", "host", "file:///etc/passwd", "http://", "http://h:99999/", "http://h:x/", "http://h/ a"],
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(HttpFailed) as caught:
        client().post(url, {}, b"")
    golden("http", "no address", str(caught.value))


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(HttpFailed) as caught:
        client().post("http://user:hunter2@127.0.0.1/", {}, b"")
    assert "hunter2" not in str(caught.value)


def test_a_header_that_can_not_be_sent_is_refused_and_not_repeated() -> None:
    with Server([reply()]) as server, pytest.raises(HttpFailed) as caught:
        client().post(server.url, {"Authorization": "hunter2\nX: y"}, b"")
    assert "hunter2" not in str(caught.value)
    assert not server.requests


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        ("120", timedelta(minutes=2)),
        ("0", timedelta()),
        ("Thu, 01 Jan 2026 12:30:00 GMT", timedelta(minutes=30)),
        ("Thu, 01 Jan 2026 11:00:00 GMT", timedelta()),
        ("9" * 40, timedelta(days=1)),
        ("Thu, 01 Jan 2099 11:00:00 GMT", timedelta(days=1)),
        ("soon", None),
        ("Thu, 01 Jan 99999999999 12:30:00 GMT", None),
        ("-1", None),
        ("", None),
    ],
)
def test_how_long_to_stay_away_is_said_in_seconds_or_as_a_date(
    said: str, wait: timedelta | None
) -> None:
    answer = Answer(status=429, headers={"retry-after": said}, body=b"")
    assert retry_after(answer, NOW) == wait


def test_a_server_need_not_say_how_long_to_stay_away() -> None:
    assert retry_after(Answer(status=503, headers={}, body=b""), NOW) is None
