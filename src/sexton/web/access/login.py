"""How does somebody with a browser get in, and out again?"""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from sexton.web.access.access_keys import Keys
from sexton.web.access.cookies import LASTS
from sexton.web.access.gate import cookie_of
from sexton.web.rendering import Templates

MOST_BYTES = 8192
MOST_FIELDS = 10


def router(keys: Keys, templates: Templates) -> APIRouter:
    """The login page, the link that works once, and the way out."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/login")
    def by_link(request: Request, code: str | None = None) -> Response:
        if code is None:
            return login_page(keys, templates)
        return _by_link(request, code, keys, templates)

    @routes.post("/login")
    async def by_token(request: Request) -> Response:
        return _by_token(request, await _form_value(request, "token"), keys, templates)

    @routes.post("/logout")
    def leave(request: Request) -> Response:
        cookie = cookie_of(request.headers, keys)
        if cookie is not None:
            keys.cookies.give_back(cookie)
        answer = RedirectResponse("/login", status_code=303)
        answer.delete_cookie(keys.address.cookie, path="/", httponly=True, samesite="strict")
        return answer

    return routes


def _by_link(request: Request, code: str, keys: Keys, templates: Templates) -> Response:
    """A link that waits is never refused: nobody guesses it, so nobody need be slowed down."""
    if keys.links.redeem(code):
        return _let_in(keys)
    waiting = _waits(request, keys)
    if waiting is not None:
        return waiting
    keys.attempts.failed(_address(request))
    return login_page(keys, templates, "That link was used already, or is too old.", status=401)


def _by_token(request: Request, given: str | None, keys: Keys, templates: Templates) -> Response:
    waiting = _waits(request, keys)
    if waiting is not None:
        return waiting
    if given is not None and keys.token.matches(given):
        return _let_in(keys)
    keys.attempts.failed(_address(request))
    return login_page(keys, templates, "That is not the token.", status=401)


def login_page(
    keys: Keys, templates: Templates, trouble: str | None = None, *, status: int = 200
) -> Response:
    """The page that asks for the token, and says where it is."""
    file = keys.token.file
    where = (
        "The token is the one in SEXTON_TOKEN where the server was started."
        if file is None
        else f"The token is in {file}; only the user who started the server can read it."
    )
    return templates.page("login.html", status=status, trouble=trouble, where=where)


def _let_in(keys: Keys) -> Response:
    answer = RedirectResponse("/", status_code=303)
    answer.set_cookie(
        keys.address.cookie,
        keys.cookies.make(),
        max_age=int(LASTS.total_seconds()),
        path="/",
        secure=keys.address.is_secure,
        httponly=True,
        samesite="strict",
    )
    return answer


def _waits(request: Request, keys: Keys) -> Response | None:
    seconds = keys.attempts.wait(_address(request))
    if not seconds:
        return None
    return Response(
        "Too many attempts. Wait a little.\n",
        status_code=429,
        media_type="text/plain",
        headers={"retry-after": str(int(seconds) + 1)},
    )


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


async def _form_value(request: Request, name: str) -> str | None:
    """A value of a small form; None if it is not there."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            return None
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS).get(name)
    except ValueError:
        return None
    return found[0] if found else None
