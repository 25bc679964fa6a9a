"""How does an operator end a session?"""

from __future__ import annotations

from sexton.core.plan import Outcome, Reason, Result
from sexton.errors import SessionBusy
from sexton.keeper.apply import apply, new_receipt
from sexton.operations.verbs import plan_end
from sexton.wiring import Sexton

ATTEMPTS = 20


def end_session(opened: Sexton, name: str, reason: Reason, *, force: bool) -> tuple[str, Outcome]:
    """End the session whatever is written to it meanwhile; the receipt and the outcome.

    The guards are those of `plan_end`; a turn that begins at the same moment is noticed.
    """
    receipt = new_receipt()
    for _ in range(ATTEMPTS):
        estate = opened.estate()
        plan = plan_end(estate, opened.find(name), reason, force=force)
        for outcome in apply(estate, plan, receipt, just_made=True):
            if outcome.result is Result.DONE:
                return receipt, outcome
    raise SessionBusy(f"the session {name} is written to all the time", hint="Try again.")
