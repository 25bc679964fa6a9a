"""How is a background process stopped, or kept from being stopped, from a page?"""

from __future__ import annotations

from starlette.responses import Response

from sexton.web.answers.errands import propose_keep, propose_stop
from sexton.web.desk import Desk
from sexton.web.pages.acts.act_proposal import asked


def stopping(desk: Desk, ref: int) -> Response:
    """What a stop would end: the process and all that it started, each with what it runs now."""
    return asked(
        desk,
        "processes",
        propose_stop(desk, ref),
        title="Stop this process",
        says="It and all that it started. One that runs something else by then is left alone.",
        back="/processes",
        grave=True,
    )


def keeping(desk: Desk, ref: int, *, kept: bool) -> Response:
    """What it means to keep a process, or to let go of it."""
    return asked(
        desk,
        "processes",
        propose_keep(desk, ref, kept=kept),
        title="Keep this process" if kept else "Release this process",
        says="Whether policies may stop it.",
        back="/processes",
    )
