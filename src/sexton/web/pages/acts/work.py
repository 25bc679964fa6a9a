"""How is work tried again that was given up?"""

from __future__ import annotations

from starlette.responses import Response

from sexton.web.answers.errands import propose_decision, propose_retry_of_all
from sexton.web.desk import Desk
from sexton.web.pages.acts.act_proposal import asked


def retrying(desk: Desk, ref: int | None) -> Response:
    """What would be tried again: one dead letter, or all that are there now."""
    return asked(
        desk,
        "finalizers",
        propose_retry_of_all(desk) if ref is None else propose_decision(desk, ref, retry=True),
        title="Retry what was given up",
        says="Its tries are counted from the start; a keeper takes it on at its next look.",
        undoing="What fails again is a dead letter again.",
        back="/finalizers?state=dead",
    )
