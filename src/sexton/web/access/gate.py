"""Is a request let in? The same answer for every path, before anything else is looked at."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple

from sexton.web.access.access_keys import Keys

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
PUBLIC = frozenset({"/healthz", "/login"})
STATIC = "/static/"
_OURS = frozenset({"same-origin"})


class Refusal(NamedTuple):
    """Why a request is not let in."""

    status: int
    title: str
    detail: str


class Asked(NamedTuple):
    """What of a request decides whether it is let in; headers by their lower-case names.

    A name that was sent twice is in `repeated`.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    repeated: frozenset[str] = frozenset()


def refusal(asked: Asked, keys: Keys) -> Refusal | None:
    """Why the request is refused; None if it is let in."""
    return (
        _wrong_host(asked, keys)
        or _cross_site(asked, keys)
        or (None if _is_public(asked.path) else _unproved(asked, keys))
    )


def _wrong_host(asked: Asked, keys: Keys) -> Refusal | None:
    """A page that calls us by another name is somebody else's, whose name leads here."""
    host = asked.headers.get("host", "").lower()
    if "host" in asked.repeated or host not in keys.address.hosts:
        return Refusal(400, "Wrong host", "this server is not called by that name")
    return None


def _cross_site(asked: Asked, keys: Keys) -> Refusal | None:
    """What changes something must come from a page of ours, or from no page at all."""
    if asked.method in SAFE:
        return None
    site, origin = asked.headers.get("sec-fetch-site"), asked.headers.get("origin")
    if {"sec-fetch-site", "origin"} & asked.repeated:
        return Refusal(403, "Cross-site request", "the request names several origins")
    if site is not None and site.lower() not in _OURS:
        return Refusal(403, "Cross-site request", "the request comes from another site")
    if origin is not None and origin.lower() not in keys.address.origins:
        return Refusal(403, "Cross-site request", "the request comes from another origin")
    if origin is None and cookie_of(asked.headers, keys) is not None:
        return Refusal(403, "Cross-site request", "a browser names the origin of what it sends")
    return None


def _is_public(path: str) -> bool:
    return path in PUBLIC or path.startswith(STATIC)


def _unproved(asked: Asked, keys: Keys) -> Refusal | None:
    given = bearer(asked.headers)
    if given is not None:
        if "authorization" not in asked.repeated and keys.token.matches(given):
            return None
        return Refusal(401, "Not authenticated", "that is not the token of this server")
    cookie = cookie_of(asked.headers, keys)
    if cookie is not None and keys.cookies.is_valid(cookie):
        return None
    return Refusal(401, "Not authenticated", "a bearer token or a login is needed")


def bearer(headers: Mapping[str, str]) -> str | None:
    """The token that a program sends along."""
    scheme, _, value = headers.get("authorization", "").partition(" ")
    return value.strip() if scheme.lower() == "bearer" else None


def cookie_of(headers: Mapping[str, str], keys: Keys) -> str | None:
    """The value of our cookie, if a browser sends it along."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(keys.address.cookie)
    except CookieError:
        return None
    return None if found is None else found.value
