"""By which names may this server be called, and where may it listen?"""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

from sexton.core.record import record
from sexton.errors import AddressRefused, InputInvalid

_USUAL = {"http": 80, "https": 443}
_NEAR = frozenset({"localhost", "127.0.0.1", "::1"})
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104  # compared, not bound


@record
class Address:
    """Where the server listens, and what a browser may call it.

    `hosts` are the exact values of the Host header, `origins` those of the Origin header that a
    page of ours sends; `base` is how a link to us begins.
    """

    host: str
    port: int
    base: str
    hosts: frozenset[str]
    origins: frozenset[str]

    @property
    def is_secure(self) -> bool:
        """Whether browsers reach us by TLS only."""
        return self.base.startswith("https://")

    @property
    def cookie(self) -> str:
        """The cookie's name; browsers do not tell ports apart, so that the port is in it."""
        return f"sexton_{self.port}"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(host: str, port: int, *, tls: bool, public_url: str | None) -> Address:
    """The address for a bind; AddressRefused where others could read along.

    One that listens everywhere is called by the machine's own name; behind a proxy only by the
    proxy's, so that nobody goes past it unencrypted.
    """
    if not (is_loopback(host) or tls or public_url):
        raise AddressRefused(f"{host} can be reached from other machines, and nothing is encrypted")
    scheme = "https" if tls else "http"
    name = socket.gethostname().lower() if host in _EVERYWHERE else host
    names = {name} | (_NEAR if is_loopback(host) or host in _EVERYWHERE else frozenset())
    if host in _EVERYWHERE and not tls:
        names = set()
    hosts = {_with_port(each, port, scheme) for each in names}
    origins = {f"{scheme}://{each}" for each in hosts}
    base = f"{scheme}://{_with_port(name, port, scheme)}"
    if public_url is not None:
        base = _public(public_url)
        hosts.add(base.partition("://")[2])
        origins.add(base)
    return Address(
        host=host, port=port, base=base, hosts=frozenset(hosts), origins=frozenset(origins)
    )


def _with_port(host: str, port: int, scheme: str) -> str:
    name = f"[{host}]" if ":" in host else host
    return name if port == _USUAL[scheme] else f"{name}:{port}"


def _public(url: str) -> str:
    """The origin of the address under which a proxy shows us."""
    try:
        parts = urlsplit(url)
        named, port = parts.hostname or "", parts.port
    except ValueError:
        raise _misplaced(url) from None
    ours = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(named))
    plain = parts.path in ("", "/") and not (parts.query or parts.fragment or parts.username)
    if not (named and ours and plain):
        raise _misplaced(url)
    return f"{parts.scheme}://{_with_port(named, port or _USUAL[parts.scheme], parts.scheme)}"


def _misplaced(url: str) -> InputInvalid:
    return InputInvalid(
        f"{url!r} is not where a proxy can show this server",
        hint="Name its address without a path, such as https://sexton.example.org.",
    )
