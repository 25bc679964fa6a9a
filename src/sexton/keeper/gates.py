"""Can a home be changed during this apply? Found out once, so that nothing waits for it twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sexton.core.plan import Action, Outcome, Result
from sexton.errors import HomeBusy, HomeError, HomeUnwritable, SextonError
from sexton.keeper.keeper_context import Estate
from sexton.keeper.observe import observe_home


class Gates:
    """The homes that turned out to be locked or not to be writable, and what to say of each."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate
        self._shut: dict[str, str] = {}
        self._asked: set[tuple[str, bool]] = set()

    def why_shut(self, home: str, *, rows: bool = False, files: bool = False) -> str | None:
        """Why nothing of a home is changed now; None while nothing speaks against it.

        Before `files` move it is asked whether the home can be written, before `rows` are copied
        whether that can be now.
        """
        kept = None if self._estate.removing is None else self._estate.removing.rows.get(home)
        is_new = (home, rows) not in self._asked and home not in self._shut
        if kept is not None and (rows or files) and is_new:
            self._asked.add((home, rows))
            try:
                kept.refuse_unwritable(now=rows)
            except HomeError as trouble:
                self.learn(home, trouble)
        return self._shut.get(home)

    def learn(self, home: str, trouble: HomeError) -> str:
        """Remember trouble that each change of a home would meet; what to say of it."""
        if not isinstance(trouble, HomeBusy | HomeUnwritable):
            return str(trouble)
        return self._shut.setdefault(home, f"{trouble}. {trouble.hint}")


def skipped(actions: Iterable[Action], why: str) -> Iterator[Outcome]:
    """What comes of actions that are not carried out for one reason."""
    return (Outcome(action=each, result=Result.SKIPPED, detail=why) for each in actions)


def look_again(estate: Estate, homes: Iterable[str]) -> None:
    """Bring into the ledger what a change has made of foreign homes, so that it tells of it."""
    for home in homes:
        if home in estate.records and home in estate.homes:
            try:
                observe_home(estate, estate.homes[home], estate.records[home])
            except SextonError:  # the next look tells it, and whoever asks for one is told why
                continue
