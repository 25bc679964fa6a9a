"""How is it said what was opened again?"""

from __future__ import annotations

from sexton.core.wording import counted
from sexton.keeper.reopening import Reopened


def reopening(done: Reopened) -> list[str]:
    """Sentences for a person about sessions that were opened again, or were not."""
    said = [f"{counted(done.sessions, 'session')} opened again"] if done.sessions else []
    if done.stayed:
        said.append(f"{counted(done.stayed, 'session')} not opened again")
    if done.begun:
        work = counted(done.begun, "piece")
        said.append(f"{work} of end-of-session work had begun already and is not taken back")
    return [*said, *(f"{each.session} {each.says}" for each in done.remarks)]
