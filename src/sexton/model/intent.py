"""Which sessions was something about to be done to?"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sexton.model.plan import Reason

INTENDED = "intended"
"""What the journal says of what is about to be done where it can not be told in one transaction."""


def intent(action: str, sessions: Sequence[str]) -> Reason:
    """Which sessions something is about to be done to, for people and for `intended`."""
    return Reason("intent", f"about to {action} {json.dumps(list(sessions), ensure_ascii=False)}")


def intended(reason: Reason) -> list[str]:
    """The sessions that an intent names; none if it can not be read."""
    try:
        return list(map(str, json.loads("[" + reason.text.partition("[")[2])))
    except ValueError:
        return []
