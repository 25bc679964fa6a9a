"""Which processes does a piece of work have, whoever started them, and how are they stopped?

A program inherits the tag in its environment, and so does all that it starts; the same work has
the same tag on every attempt, so what a killed keeper left behind is found again.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

from sexton.core.machine_ports import Clock
from sexton.processes.hunting import Hunt
from sexton.processes.model import Ending
from sexton.processes.pidfds import has_pidfds
from sexton.processes.stopping import LAST_WAIT, Stopper

__all__ = ["LAST_WAIT", "VARIABLE", "carriers", "stop", "tag_of"]

VARIABLE = "SEXTON_FINALIZATION_TAG"


def tag_of(key: str) -> str:
    """The 128 bits by which the processes of a piece of work are known."""
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def carriers(tag: str) -> list[int]:
    """The pids of the living processes of a piece of work, without our own."""
    hunt = _hunt(tag)
    try:
        hunt.scan()
        return [each.pid for each in hunt.results(Ending.FOUND) if each.ending is Ending.FOUND]
    finally:
        hunt.close()


def stop(tag: str, clock: Clock, grace: timedelta) -> bool:
    """Ask every process of the work to end, then kill; False if one could not be stopped."""
    found = Stopper(clock).drive_out(_hunt(tag), grace)
    return all(each.ending is not Ending.STAYS for each in found)


def _hunt(tag: str) -> Hunt:
    # Without pidfds the risk is taken: two programs at the same work would be worse.
    return Hunt(tags=[tag], variable=VARIABLE, confirmed=True, pidfds=has_pidfds())
