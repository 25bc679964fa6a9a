"""A site with a certificate: the same gate, by TLS only."""

from __future__ import annotations

import json
import ssl
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPMessage, HTTPSConnection
from pathlib import Path

import pytest

from sexton.web.access.web_guard import CSP
from tests.surface.web_site import HOST, PATIENCE, serving
from tests.unit.test_http import CERTIFICATE

WANTED = {"receipt": "unknown"}


def ask(
    connection: HTTPConnection, path: str, said: object = None, **headers: str
) -> tuple[int, HTTPMessage]:
    """What is answered, and with which headers; a question with something to say is a write."""
    body = None if said is None else json.dumps(said)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET" if body is None else "POST", path, body, given)
    answer = connection.getresponse()
    answer.read()
    return answer.status, answer.headers


def test_a_site_with_a_certificate_is_reached_by_tls_only_and_guarded_as_any_other(
    new_file: Path, tmp_path: Path
) -> None:
    certificate = tmp_path / "certificate.pem"
    certificate.write_text(CERTIFICATE, encoding="ascii")
    with serving(str(new_file), tmp_path, certificate=certificate) as site:
        base, link = site.desk.keys.address.base, site.desk.keys.new_link()
        assert base == f"https://{HOST}:{site.port}"
        trusting = ssl.create_default_context(cafile=str(certificate))
        with closing(HTTPSConnection(HOST, site.port, timeout=PATIENCE, context=trusting)) as safe:
            status, headers = ask(safe, link.removeprefix(base))
            assert status == 303
            cookie, *limits = headers["set-cookie"].split("; ")
            assert {"Secure", "HttpOnly", "SameSite=strict"} <= set(limits)
            status, headers = ask(safe, "/", Cookie=cookie)
            assert (status, headers["content-security-policy"]) == (200, CSP)
            assert ask(safe, "/")[0] == 401
            assert ask(safe, "/", Cookie=cookie, Host=f"evil.example:{site.port}")[0] == 400
            known = {"Cookie": cookie, "Content_Type": "application/json"}
            for origin, answered in ((f"http://{HOST}:{site.port}", 403), (base, 404)):
                assert ask(safe, "/v1/undo", WANTED, Origin=origin, **known)[0] == answered
        with (
            closing(HTTPConnection(HOST, site.port, timeout=PATIENCE)) as bare,
            pytest.raises((HTTPException, ConnectionError)),
        ):
            ask(bare, "/healthz")
        with (
            closing(HTTPSConnection(HOST, site.port, timeout=PATIENCE)) as wary,
            pytest.raises(ssl.SSLCertVerificationError),
        ):
            ask(wary, "/healthz")
