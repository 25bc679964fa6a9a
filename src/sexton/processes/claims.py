"""Whose is a process that stands in the tree of several?

The nearest registered process above it has the say, unless the process carries a tag that was
given to it, or to one above it, further down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sexton.processes.model import Process, Spared
from sexton.processes.process_table import ZOMBIES, Row, read_row, tags_of

Known = tuple[int, int]
"""A process: its pid and its start tick."""
Claim = int | str
"""The registered process that is to be stopped with it, by row, or why it is to be spared."""


class Claims:
    """Who has a say over processes: those that are to be stopped, and those to be spared."""

    def __init__(self, variable: str) -> None:
        self._variable = variable
        self._by_process: dict[Known, Claim] = {}
        self._by_tag: dict[str, Claim] = {}
        self.tags: set[str] = set()

    def hunt(self, root: Process) -> None:
        """What belongs to a registered process is to be stopped."""
        who = root.identity
        if who.pid:
            self._by_process[who.pid, who.started] = root.ref
        if root.tag:
            self.hunt_tag(root.tag, root.ref)

    def hunt_tag(self, tag: str, row: int = 0) -> None:
        """Whoever carries a tag is to be stopped."""
        self._by_tag[tag] = row
        self.tags.add(tag)

    def spare(self, spared: Sequence[Spared]) -> None:
        """Leave these alone with all that is theirs, but what is to be stopped itself."""
        for who, tag, why in spared:
            if who.pid:
                self._by_process.setdefault((who.pid, who.started), why)
            if tag:
                self._by_tag.setdefault(tag, why)

    def by_tag(self, pid: int) -> Claim | None:
        """Who has the say over a process as far as its tags go; None if it carries none."""
        carried = [tag for tag in tags_of(pid, self._variable) if tag in self._by_tag]
        return self._by_tag[carried[-1]] if carried else None

    def on(self, row: Row) -> Claim | None:
        """Who has the say over a process; None if nobody has."""
        above = next((each for each in line(row) if self._of(each) is not None), None)
        inherited = () if above is None else tags_of(above.pid, self._variable)
        given = [
            tag
            for tag in tags_of(row.pid, self._variable)
            if tag in self._by_tag and tag not in inherited
        ]
        if given:
            return self._by_tag[given[-1]]
        return None if above is None else self._of(above)

    def _of(self, row: Row) -> Claim | None:
        return self._by_process.get((row.pid, row.started))


def line(row: Row) -> Iterator[Row]:
    """A process, its parent, and so on up to the first."""
    seen: set[int] = set()
    now: Row | None = row
    while now is not None and now.pid not in seen:
        yield now
        seen.add(now.pid)
        now = read_row(now.parent)


def known_as(process: Process) -> Known:
    """What a registered process is known by."""
    return process.identity.pid, process.identity.started


def is_there(process: Process) -> bool:
    """Whether a registered process seems to have its pid still."""
    row = read_row(process.identity.pid) if process.identity.pid else None
    return row is not None and row.started == process.identity.started and row.state not in ZOMBIES
