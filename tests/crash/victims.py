"""Worker processes that a campaign hurts, and what they said of themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.kit.nursery import Child


@dataclass(kw_only=True)
class Victim:
    """A worker process, what it holds, and the blow that it gets, if any."""

    child: Child
    blow: str | None = None
    worker: str = ""
    sessions: dict[str, str] = field(default_factory=dict)

    def introduce(self) -> None:
        """Wait until it holds what it should."""
        self.child.wait_for(lambda lines: any(line.startswith("holds") for line in lines))
        assert self.was_well, self.child.lines()
        told = next(line for line in self.child.lines() if line.startswith("holds"))
        _, self.worker, *pairs = told.split()
        self.sessions = dict(pair.split("=") for pair in pairs)

    @property
    def was_well(self) -> bool:
        """Whether it did not give up by itself."""
        return not any(line.startswith("gave-up") for line in self.child.lines())

    @property
    def is_busy(self) -> bool:
        """Whether it was in a turn when it last said something."""
        return self.child.lines()[-1].startswith(("busy", "done"))

    def acknowledged(self) -> int:
        """How many of its writes are acknowledged."""
        return sum(line.startswith("done") for line in self.child.lines())


def assert_go_on(victims: list[Victim], writes: int = 2) -> None:
    """Each gets that many further writes through, all at the same time."""
    wanted = [each.acknowledged() + writes for each in victims]
    for each, enough in zip(victims, wanted, strict=True):
        each.child.wait_for(lambda _, e=each, n=enough: e.acknowledged() >= n)  # type: ignore[misc]
        assert each.child.is_alive
        assert each.was_well


def holders_of(victims: list[Victim]) -> dict[tuple[str, str], set[str]]:
    """Who holds what: the workers of every session, by its kind and id."""
    found: dict[tuple[str, str], set[str]] = {}
    for each in victims:
        for kind, id in each.sessions.items():
            found.setdefault((kind, id), set()).add(each.worker)
    return found
