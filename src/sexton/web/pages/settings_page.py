"""Which settings are in effect, and what is wrong with them and with the homes?"""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from sexton.operations.questions.finding_questions import findings
from sexton.settings.lint import inert
from sexton.settings.render import DEFAULT, Line
from sexton.settings.render import lines as rendered
from sexton.web.desk import Desk
from sexton.web.memory import Remembered
from sexton.web.pages.showing import show

SECONDS = 30.0
"""To examine a home takes a while; what is wrong in it does not change often."""


class Findings:
    """The page of the settings; homes are examined now and then."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._homes = Remembered(lambda: findings(desk.asker)["items"], desk.house.clock, SECONDS)

    def page(self) -> Response:
        """The settings, and all findings."""
        settings = self._desk.house.settings
        rules = self._desk.house.rules(None)
        return show(
            self._desk,
            "settings.html",
            page="settings",
            where=f"As this server was started with; policies {rules.digest[:12]} are in force.",
            homes=self._homes(),
            inert=inert(settings),
            lines=[_line(each) for each in rendered(settings)],
            is_live=False,
        )


def _line(line: Line) -> dict[str, Any]:
    """A line of the settings, and where it is said if that is not the default."""
    usual = line.place == DEFAULT
    return {"text": line.text, "usual": usual, "where": "" if usual else line.place}
