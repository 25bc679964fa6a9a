"""What is said when a session was ended by hand?"""

from __future__ import annotations

from sexton.cli.plan_view import say_outcome
from sexton.cli.terminal import document, say
from sexton.core.plan import Outcome
from sexton.operations import values as shapes


def tell_ended(receipt: str, outcome: Outcome, *, as_json: bool) -> None:
    """The receipt and what came of it."""
    if as_json:
        document({"receipt": receipt, **shapes.outcome(outcome)})
    else:
        say(f"receipt {receipt}")
        say_outcome(outcome)
        say(f"'sexton undo {receipt}' opens it again, until its conversation goes on")
