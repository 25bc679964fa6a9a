"""How does a page come of its template? Always escaped, and with nothing hidden in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from starlette.responses import HTMLResponse

from sexton.core import wording
from sexton.core.session import NATIVE
from sexton.spending.budgets import shown
from sexton.spending.model import Unit
from sexton.version import __version__
from sexton.web.tones import tone_of
from sexton.web.writing import finalized, line


class Templates:
    """The templates of the pages: a name that is not given is an error."""

    def __init__(self, **everywhere: Any) -> None:
        self.environment = Environment(
            loader=PackageLoader("sexton.web", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=finalized,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.environment.filters.update(
            ago=_ago,
            clock=_clock,
            dollars=_dollars,
            iso=_iso,
            line=line,
            moment=_moment,
            number=wording.number,
            size=wording.size,
            tone=tone_of,
            words=_words,
        )
        self.environment.globals.update(
            session_href=session_href, name_of=name_of, version=__version__, **everywhere
        )

    def page(self, name: str, /, status: int = 200, **given: Any) -> HTMLResponse:
        """A page from the template of that name."""
        text = self.environment.get_template(name).render(status=status, **given)
        return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


def session_href(home: str | None, id: str, **more: str) -> str:
    """Where the page of a session is; its id may be any text, so that it is no part of a path."""
    asked = {"home": home or NATIVE, "id": id, **more}
    return "/session?" + urlencode(asked, errors="replace")


def name_of(home: str | None, id: str) -> str:
    """What a person calls a session."""
    return id if home in (None, NATIVE) else f"{home}/{id}"


def _time(value: datetime | str) -> datetime:
    """A time, also one that the floor of operations says as programs get it."""
    return wording.moment_of(value) if isinstance(value, str) else value


@pass_context
def _ago(context: Context, value: datetime | str) -> str:
    return wording.ago(_time(value), context["now"])


def _iso(value: datetime | str) -> str:
    return wording.iso(_time(value))


def _moment(value: datetime | str) -> str:
    return f"{_time(value).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _clock(value: datetime | str) -> str:
    return f"{_time(value).astimezone(UTC):%H:%M:%S} UTC"


def _dollars(micros: int) -> str:
    return shown(Unit.USD, micros) if micros else "–"


def _words(name: str) -> str:
    """A name of our own, as words."""
    return name.replace("_", " ").replace(".", ": ", 1)
