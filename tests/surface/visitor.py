"""The site of a ledger as a browser without scripts meets it: links, forms and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from sexton.web.access.addresses import address_of
from sexton.web.access.token import VARIABLE
from sexton.web.app import create_app
from sexton.web.desk import Desk
from sexton.web.web_serving import desk_for
from sexton.wiring import Sexton

TOKEN = "a token for tests only"
VOID = frozenset({"input", "link", "meta", "br", "hr", "img"})
HANDS_OFF = ("on", "style", "srcdoc", "background")


class Page(HTMLParser):
    """A page, read strictly: what is opened is closed, and nothing in it runs by itself."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.status = status
        self.html = text
        self.links: dict[str, str] = {}
        self.forms: list[dict[str, str]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self._link = ""
        self.feed(text)
        self.close()
        assert self._open == [], f"never closed: {self._open}"

    @property
    def text(self) -> str:
        """What a person reads, in one line."""
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name, value in given.items():
            assert not name.startswith(HANDS_OFF), f"{tag} has {name}"
            assert not value.strip().lower().startswith("javascript:")
        if tag == "script":
            assert given["src"].startswith("/static/")
        if tag == "a":
            self._link = given.get("href", "")
        if tag == "form":
            self.forms.append({"": given["action"]})
        if tag == "input" and self.forms and given.get("type") == "hidden":
            self.forms[-1][given["name"]] = given["value"]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self._open, f"<{tag}/> is not HTML: {attrs}"

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open.pop() == tag, f"</{tag}> closes another"
        if tag == "a":
            self._link = ""

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("style", "script"):
            assert not data.strip(), "inline"
            return
        self.words.append(data)
        if self._link and data.strip():
            self.links.setdefault(" ".join(data.split()), self._link)


class Visitor:
    """Goes from page to page."""

    def __init__(self, client: TestClient) -> None:
        self._client = client

    def see(self, path: str, status: int = 200) -> Page:
        """The page at an address."""
        answer = self._client.get(path)
        assert answer.status_code == status, answer.text
        return Page(answer.status_code, answer.text)

    def fetch(self, path: str) -> Any:
        """What the API answers."""
        answer = self._client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def send(self, page: Page, action: str, status: int = 200, **ticked: str) -> Page:
        """The page that comes of a form of this one, with the boxes that were ticked."""
        (form,) = [each for each in page.forms if each[""] == action]
        fields = {name: value for name, value in form.items() if name} | ticked
        answer = self._client.post(action, data=fields)
        assert answer.status_code == status, answer.text
        return Page(answer.status_code, answer.text)


@contextmanager
def visiting(house: Sexton) -> Iterator[Visitor]:
    """The site of a house, without a socket."""
    with serving_client(house) as client:
        yield Visitor(client)


def routes_of(house: Sexton) -> list[APIRoute]:
    """Every route of the site of a house, of the API and of the pages."""
    app = create_app(_desk(house))
    while not isinstance(app, FastAPI):
        app = vars(app)["_app"]
    found = list(_below(app.routes))
    assert len(found) > 40, "routes are looked for in the wrong place"
    return found


def _below(routes: Iterable[object]) -> Iterator[APIRoute]:
    """The routes of an app with those of the routers that it includes."""
    for each in routes:
        if isinstance(each, APIRoute):
            yield each
        elif router := getattr(each, "original_router", None):
            yield from _below(router.routes)


def _desk(house: Sexton) -> Desk:
    address = address_of("127.0.0.1", 8780, tls=False, public_url=None)
    return desk_for(house, address, {VARIABLE: TOKEN}, Path("token"), keeping=False)


@contextmanager
def serving_client(house: Sexton) -> Iterator[TestClient]:
    """A client of the site of a house, without a socket."""
    desk = _desk(house)
    headers = {"authorization": f"Bearer {TOKEN}"}
    with TestClient(create_app(desk), base_url=desk.keys.address.base, headers=headers) as client:
        yield client
