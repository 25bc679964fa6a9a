"""Who gets in? Each way that must not work, one by one, against a real server."""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sexton.errors import AddressTaken, TokenUnsafe
from sexton.testing import ManualClock
from sexton.web.access.attempts import BURST, EVERY
from sexton.web.access.bodies import MOST_BYTES
from sexton.web.access.connections import MOST
from sexton.web.access.cookies import LASTS
from sexton.web.access.login import MOST_FIELDS
from sexton.web.access.token import find_token
from sexton.web.web_serving import listening
from tests.surface.web_site import HOST, PATIENCE, Served, serving

pytestmark = pytest.mark.slow

NOBODY = 65534
SPY = """
import encodings.idna, http.client, os, sys  # all that is needed, before it can not be read
if os.geteuid() == 0:  # only a superuser can become somebody else
    os.setgroups([])
    os.setgid(int(sys.argv[3]))
    os.setuid(int(sys.argv[3]))
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]), timeout=240)
connection.request("GET", "/v1/sessions")
print(connection.getresponse().status)
try:
    print(open(sys.argv[2]).read())
except OSError as problem:
    print(type(problem).__name__)
"""


@pytest.fixture
def site(new_file: Path, tmp_path: Path) -> Iterator[Served]:
    with serving(str(new_file), tmp_path) as served:
        yield served


def path_of(link: str) -> str:
    parts = urlsplit(link)
    return f"{parts.path}?{parts.query}"


def test_without_a_token_every_answer_is_401_but_health_and_login(site: Served) -> None:
    for path in ("/", "/v1/sessions", "/v1/activity", "/v1/events", "/metrics", "/nowhere"):
        assert site.ask(path).status == 401
    assert site.ask("/v1/undo", "POST", b"{}").status == 401
    assert site.ask("/healthz").status == 200
    assert site.ask("/login").status == 200
    assert site.get("/v1/sessions").status == 200


def test_a_wrong_token_is_401_with_a_problem(site: Served) -> None:
    for wrong in ("Bearer wrong", f"Bearer {site.token}x", f"Basic {site.token}", "Bearer"):
        reply = site.ask("/v1/sessions", Authorization=wrong)
        assert reply.status == 401
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1.evil.example", ""]
)
def test_a_wrong_host_is_400_whoever_asks(site: Served, host: str) -> None:
    for path in ("/healthz", "/v1/sessions", "/static/style.css"):
        reply = site.ask(path, Host=host, Authorization=f"Bearer {site.token}")
        assert reply.status == 400
    assert site.get("/v1/sessions", Host=f"LOCALHOST:{site.port}").status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Sec_Fetch_Site": "none"},
    ],
)
def test_a_cross_site_write_is_403_with_token_or_cookie(
    site: Served, headers: dict[str, str]
) -> None:
    assert site.post("/v1/undo", {"receipt": "r"}, **headers).status == 403
    ours = {"Origin": site.origin, "Sec_Fetch_Site": "same-origin"}
    with_cookie = ours | headers | {"Cookie": site.cookie, "Content_Type": "application/json"}
    assert site.ask("/v1/undo", "POST", b'{"receipt": "r"}', **with_cookie).status == 403
    assert site.ask("/login", "POST", b"token=x", **headers).status == 403


def test_a_write_of_our_own_page_is_let_in_but_not_one_without_origin(site: Served) -> None:
    said: dict[str, str] = {"Cookie": site.cookie, "Content_Type": "application/json"}
    body = b'{"receipt": "nothing"}'
    assert site.ask("/v1/undo", "POST", body, **said).status == 403
    ours = said | {"Origin": site.origin, "Sec_Fetch_Site": "same-origin"}
    assert site.ask("/v1/undo", "POST", body, **ours).status == 404


def test_a_link_opens_the_page_once(site: Served) -> None:
    path = path_of(site.desk.keys.new_link())
    first = site.ask(path)
    assert (first.status, first.headers["location"]) == (303, "/")
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert site.ask("/", Cookie=cookie.partition(";")[0]).status == 200
    replayed = site.ask(path)
    assert replayed.status == 401
    assert "set-cookie" not in replayed.headers


def test_a_program_gets_a_new_link_for_its_token(site: Served) -> None:
    link = site.post("/v1/links", {}).json()["link"]
    assert site.ask(path_of(link)).status == 303


def test_another_user_of_the_machine_gets_401_and_can_not_read_the_token(
    site: Served, tmp_path: Path
) -> None:
    file = tmp_path / "data" / "token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    done = subprocess.run(
        [sys.executable, "-I", "-c", SPY, str(site.port), str(file), str(NOBODY)],
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
    )
    status, token = done.stdout.splitlines()
    assert status == "401"
    assert (token == "PermissionError") is (os.geteuid() == 0)


def test_a_cookie_is_refused_when_it_is_forged_given_back_or_over(
    new_file: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with serving(str(new_file), tmp_path, manual_clock) as site:
        cookie = site.cookie
        assert site.ask("/", Cookie=cookie).status == 200
        for wrong in (f"{cookie}0", cookie.replace("=", "=9", 1), f"{cookie.partition('=')[0]}="):
            assert site.ask("/", Cookie=wrong).status == 401
        ours = {"Cookie": cookie, "Origin": site.origin, "Sec_Fetch_Site": "same-origin"}
        assert site.ask("/logout", "POST", b"", **ours).status == 303
        assert site.ask("/", Cookie=cookie).status == 401
        late = site.cookie
        manual_clock.advance(LASTS.total_seconds() + 1)
        assert site.ask("/", Cookie=late).status == 401


def test_attempts_to_log_in_are_limited(
    new_file: Path, tmp_path: Path, manual_clock: ManualClock
) -> None:
    with serving(str(new_file), tmp_path, manual_clock) as site:
        body = f"token={site.token}".encode()
        for _ in range(BURST):
            assert site.ask("/login", "POST", b"token=wrong").status == 401
        refused = site.ask("/login", "POST", body)
        assert refused.status == 429
        assert 0 < int(refused.headers["retry-after"]) <= EVERY + 1
        assert site.ask("/login?code=guess").status == 429
        assert site.ask(path_of(site.desk.keys.new_link())).status == 303
        manual_clock.advance(EVERY)
        assert site.ask("/login", "POST", body).status == 303


def test_what_is_too_much_is_refused(site: Served) -> None:
    crowd = "&".join(f"token={number}" for number in range(MOST_FIELDS + 1))
    assert site.ask("/login", "POST", crowd.encode()).status == 401
    long = {"Content_Type": "application/json", "Authorization": f"Bearer {site.token}"}
    reply = site.ask("/v1/apply", "POST", b" " * (MOST_BYTES + 1), **long)
    assert (reply.status, reply.json()["status"]) == (413, 413)
    deep = site.ask("/v1/apply", "POST", b"[" * 200_000, **long)
    assert (deep.status, deep.json()["status"]) == (400, 400)


def test_who_connects_and_asks_nothing_leaves_room_for_the_keeper(
    site: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with ExitStack() as stack:
        for _ in range(MOST):
            opened = stack.enter_context(socket.create_connection((HOST, site.port), PATIENCE))
            opened.sendall(b"GET / HT")
        with socket.create_connection((HOST, site.port), PATIENCE) as late:
            assert late.recv(1) == b"", "one too many"
        opened.sendall(b"TP/1.1\r\nHost: nowhere\r\n\r\n")
        assert opened.recv(12) == b"HTTP/1.1 400", "the others are answered"
    assert [each for each in caplog.records if each.name == "asyncio"] == []


def test_no_page_holds_a_token_and_every_answer_is_bounded(site: Served) -> None:
    for path in ("/", "/login"):
        reply = site.ask(path, Cookie=site.cookie)
        assert site.token.encode() not in reply.body
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "token"
    made = find_token({}, file)
    assert find_token({}, file).matches(file.read_text().strip())
    assert repr(made) == "Token(...)"
    file.chmod(0o640)
    with pytest.raises(TokenUnsafe, match=re.escape(str(file))):
        find_token({}, file)
    assert find_token({"SEXTON_TOKEN": "x" * 16}, file).matches("x" * 16)
    with pytest.raises(TokenUnsafe, match="SEXTON_TOKEN"):
        find_token({"SEXTON_TOKEN": "short"}, file)
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TokenUnsafe):
        find_token({}, file)


def test_a_port_that_is_taken_is_told(site: Served) -> None:
    with pytest.raises(AddressTaken, match=str(site.port)):
        listening(HOST, site.port)
