"""What has to go so that the disk does not fill up?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.core.setting import setting

LEAST_FREE = 20
"""A disk of which less than one part in so many is free is told of, whatever the budget."""


@record
class DiskBudget:
    """How much all that is kept may take, and how much of the disk stays free; in bytes."""

    max_use: int | None = setting(
        default=None,
        kind="large_size",
        null="no limit",
        about="How much of the disk the ledger, its vault and the files of sessions may use "
        "together. Sexton then removes the oldest first. Only the owner of the disk knows how "
        "much is too much.",
        change="Set it on disks that Sexton shares with other programs.",
    )
    keep_free: int | None = setting(
        default=None,
        kind="large_size",
        null="no limit",
        about="How much of the disk stays free, whichever program fills it. Sexton removes "
        "nothing because of other programs by default.",
        change="Set it where a full disk stops something more important than old sessions.",
    )
    warn_at: float = setting(
        default=0.8,
        kind="share",
        about="The share of the budget at which Sexton warns that space runs out. At four fifths "
        "there is time to act. Sexton always warns of a disk of which less than a twentieth is "
        "free.",
        change="Lower it where more space takes days to arrange.",
    )

    @property
    def is_set(self) -> bool:
        return self.max_use is not None or self.keep_free is not None


@record
class DiskUse:
    """What is used by us, and what is free of all the disk has.

    `grace` is what lies in the trash and is freed by time alone.
    """

    used: int
    free: int
    grace: int = 0
    total: int = 0


@record
class Weight:
    """Something that could go: a session's remains, how big they are, and when it was last used.

    `spared` says what protects it, if anything does.
    """

    ref: int
    bytes: int
    active_at: datetime
    spared: Reason | None = None


@record
class Relief:
    """What goes, oldest first, and what stands in the way if that does not suffice.

    `short` is how many bytes are still too many after everything that may go has gone and the
    trash has been emptied by time; `in_the_way` counts what protects the rest, biggest first.
    """

    chosen: tuple[tuple[int, Reason], ...] = ()
    short: int = 0
    in_the_way: tuple[tuple[str, int, int], ...] = ()


def excess(budget: DiskBudget, use: DiskUse) -> int:
    """How many bytes are too many; what is on its way out of the trash does not count twice."""
    over = 0 if budget.max_use is None else use.used - budget.max_use
    lacking = 0 if budget.keep_free is None else budget.keep_free - use.free
    return max(over - use.grace, lacking - use.grace, 0)


def relieve(budget: DiskBudget, use: DiskUse, weights: Iterable[Weight]) -> Relief:
    """What goes so that the budget is kept: the longest unused first, nothing that is spared."""
    missing = excess(budget, use)
    if missing == 0:
        return Relief()
    chosen: list[tuple[int, Reason]] = []
    obstacles: dict[str, list[int]] = {}
    for weight in sorted(weights, key=lambda each: (each.active_at, each.ref)):
        if weight.spared is not None:
            tally = obstacles.setdefault(weight.spared.text, [0, 0])
            tally[0] += 1
            tally[1] += weight.bytes
        elif missing > 0 and weight.bytes > 0:
            chosen.append((weight.ref, Reason("disk", f"{missing} bytes are too many")))
            missing -= weight.bytes
    if missing <= 0:
        return Relief(chosen=tuple(chosen))
    ways = sorted(obstacles.items(), key=lambda item: -item[1][1])
    return Relief(
        chosen=tuple(chosen),
        short=missing,
        in_the_way=tuple((text, count, size) for text, (count, size) in ways),
    )


def disk_warning(budget: DiskBudget, use: DiskUse) -> Reason | None:
    """That the budget is nearly used up, or the disk nearly full, before it is."""
    if budget.max_use is not None and use.used >= budget.warn_at * budget.max_use:
        share = round(100 * use.used / budget.max_use)
        return Reason("disk_use", f"{use.used} of {budget.max_use} bytes are in use: {share} %")
    if budget.keep_free is not None and use.free * budget.warn_at <= budget.keep_free:
        words = f"{use.free} bytes are free, {budget.keep_free} are to stay free"
        return Reason("disk_free", words)
    if use.total and use.free * LEAST_FREE < use.total:
        return Reason("disk_full", f"only {use.free} of {use.total} bytes of the disk are free")
    return None
