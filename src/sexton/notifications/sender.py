"""Who is told what happened, once, also when keepers and servers come and go?"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from sexton.core.machine_ports import Clock
from sexton.core.message import one_line
from sexton.core.plan import Held, JournalEntry, Reason
from sexton.core.troubles import Troubles
from sexton.finalizers.job import EffectFailed
from sexton.finalizers.model import Finalization, FinalizationState, Wanted
from sexton.finalizers.policy import next_try
from sexton.notifications.model import Channel, Event, Letter, Notice
from sexton.notifications.policy import (
    RETRY,
    Interest,
    Occasion,
    about_disk,
    dead_letter,
    journalled,
    long_held,
    notices,
)
from sexton.store.ledger import Ledger

NEWS = timedelta(hours=1)
"""What happened longer ago than this, before anybody could tell it, is no news any more."""
KEPT = timedelta(days=30)
"""Letters are kept for so long; what was news before is not told, so nothing is told twice."""
PAGE = 100
AT_ONCE = 50
"""So many letters for each target are handed over before the keeper looks at the clock again."""
TIDY_EVERY = 60.0
LONGEST_REST = timedelta(minutes=5)

log = logging.getLogger("sexton.notices")

Report = Callable[[], object]


class Messenger:
    """Collects what people want to be told of, and hands it over to the channels.

    `after` and `deliver` may be called from two threads, each from one of them only.
    """

    def __init__(
        self,
        ledger: Ledger,
        clock: Clock,
        channels: Mapping[str, Channel],
        worker: Callable[[], str],
        interest: Interest,
        homes: Mapping[str, str] | None = None,
    ) -> None:
        """With `homes`, the sessions of a home are told by the channel it names for that home.

        The other channels are for all other sessions, and take over where that one fails.
        """
        own = dict(homes or {})
        self._homes = own
        self._others = tuple(each for each in channels if each not in own.values())
        self._ledger = ledger
        self._clock = clock
        self._channels = channels
        self._worker = worker
        self._interest = interest
        self._read = (0, 0)
        self._place: int | None = None
        self._unreported: Report | None = None
        self._tidied: float | None = None
        self._resting: dict[str, float] = {}
        self._failing: dict[str, str] = {}
        self._tell = Troubles("sexton.notices", clock.monotonic)

    def after(self, held: Iterable[Held]) -> None:
        """Post what there is to tell after a sweep that found these resets held back.

        Where there is nobody to tell, nothing is stored at all.
        """
        if not self._channels:
            return
        now, wants, read = self._clock.now(), self._interest.events, self._read
        found: list[Occasion] = []
        if wants & {Event.RESET, Event.LIMIT, Event.BUDGET, Event.PROCESS}:
            entries, read = self._new_entries(now)
            found += filter(None, map(journalled, entries))
        if Event.DEAD_LETTER in wants:
            found += map(dead_letter, self._dead())
        if Event.HELD in wants:
            found += self._long_held(list(held), now)
        self.tell(found)
        self._read = read  # where nothing could be posted, the next look sees the same entries

    def tell(self, occasions: Iterable[Occasion]) -> None:
        """Post what is wanted and was not posted yet."""
        now, events = self._clock.now(), self._interest.events
        worth = (each for each in occasions if each.event in events and each.at > now - KEPT)
        wanted = {each.key: each for each in worth}
        if not wanted:
            return
        known = self._ledger.outbox.known(list(wanted))
        fresh = [each for key, each in wanted.items() if key not in known]
        self._post(notices(fresh, self._title), now)

    def remark(self, remarks: Iterable[Reason]) -> None:
        """Post what is to be told of the disk, each kind once a day."""
        if not self._channels or Event.DISK not in self._interest.events:
            return
        now = self._clock.now()
        told = [about_disk(each, now) for each in remarks]
        known = self._ledger.outbox.known([each.key for each in told])
        self._post((each for each in told if each.key not in known), now)

    def _post(self, told: Iterable[Notice], now: datetime) -> None:
        by_targets: dict[tuple[str, ...], list[Notice]] = {}
        for each in told:
            by_targets.setdefault(self._targets(each), []).append(each)
        for targets, together in by_targets.items():
            self._ledger.outbox.post(together, targets, now)

    def _targets(self, notice: Notice) -> tuple[str, ...]:
        """A home's own channel for what happens in it; else the others, if there are any."""
        own = self._homes.get(notice.home or "")
        if own is not None:
            return (own,)
        return self._others or tuple(self._homes.values())[:1]

    def deliver(self) -> int:
        """Hand over what is due, for each channel until it fails; how much arrived.

        A channel that fails rests for a while: the others wait for it no longer than for one try.
        """
        self._report()
        self._tidy()
        return sum(self._deliver_to(target) for target in self._channels)

    def _new_entries(self, now: datetime) -> tuple[Iterator[JournalEntry], tuple[int, int]]:
        """Entries of the journal since the last but one look, oldest first; how far it looked.

        An entry may become visible after a younger one, so two looks overlap.
        """
        found: list[JournalEntry] = []
        page = self._ledger.journal.page(None, None, None, PAGE)
        newest = page[0].ref if page else 0
        # A ledger that was set back counts from lower numbers again.
        last_but_one, last = self._read if newest >= self._read[1] else (0, 0)
        # At the first look the age decides. Later only the number does: another host's clock may
        # be wrong.
        oldest_news = None if last_but_one else now - NEWS
        while page:
            found += [
                entry
                for entry in page
                if entry.ref > last_but_one and (oldest_news is None or entry.at > oldest_news)
            ]
            oldest = page[-1]
            if oldest.ref <= last_but_one or (oldest_news and oldest.at <= oldest_news):
                break
            page = self._ledger.journal.page(None, None, oldest.ref, PAGE)
        return reversed(found), (last, newest)

    def _dead(self) -> list[Finalization]:
        """The newest dead letters, and each time some of the older ones: they die in any order."""
        finalizing, wanted = self._ledger.finalizing, Wanted(state=FinalizationState.DEAD)
        newest = finalizing.page(wanted, None, PAGE)
        if len(newest) < PAGE:
            return newest
        older = finalizing.page(wanted, self._place or newest[-1].ref, PAGE)
        self._place = older[-1].ref if len(older) == PAGE else None
        return newest + older

    def _long_held(self, held: Sequence[Held], now: datetime) -> list[Occasion]:
        since = self._ledger.outbox.held_since([each.seen.ref for each in held], now)
        found = (
            long_held(each, since[each.seen.ref], self._interest, now)
            for each in held
            if each.seen.ref in since
        )
        return [each for each in found if each is not None]

    def _title(self, home: str, session: str) -> str | None:
        found = self._ledger.index.find(home, session)
        return found[0].title if found else None

    def _tidy(self) -> None:
        """Take back what the dead had taken on, and this worker if it lost sight of it."""
        running = self._clock.monotonic()
        if self._tidied is not None and running - self._tidied < TIDY_EVERY:
            return
        now = self._clock.now()
        self._ledger.outbox.free(self._worker(), now)
        self._ledger.outbox.forget(now - KEPT)
        self._tidied = running

    def _deliver_to(self, target: str) -> int:
        delivered = 0
        for _ in range(AT_ONCE):
            now = self._clock.now()
            if self._clock.monotonic() < self._resting.get(target, 0.0):
                break
            taken = self._ledger.outbox.claim(self._worker(), target, 1, now)
            if not taken:
                break
            delivered += self._hand_over(taken[0])
        return delivered

    def _hand_over(self, letter: Letter) -> bool:
        try:
            self._channels[letter.target].deliver(letter)
        except EffectFailed as failure:
            self._unreported = self._failed(letter, failure)
            delivered = False
        else:
            self._unreported = partial(self._ledger.outbox.finish, letter, self._clock.now())
            self._failing.pop(letter.target, None)
            delivered = True
        self._report()
        return delivered

    def _failed(self, letter: Letter, failure: EffectFailed) -> Report:
        now = self._clock.now()
        if letter.target in self._homes.values() and self._others:
            return partial(self._hand_on, letter, str(failure))
        chance = random.random()  # noqa: S311  # spreads retries, hides nothing
        again = None
        if not failure.hopeless:
            again = next_try(letter.attempts, RETRY, failure.after, now, chance)
            rest = LONGEST_REST if again is None else again - now
            pause = max(min(rest, LONGEST_REST), failure.after or timedelta())
            self._resting[letter.target] = self._clock.monotonic() + pause.total_seconds()
        if again is None:
            words = f"the notice {one_line(letter.notice.key)} was given up: {failure}"
            self._tell(letter.target, words)
        elif self._failing.get(letter.target) != str(failure):
            log.warning("notices by %s wait and are tried again: %s", letter.target, failure)
        self._failing[letter.target] = str(failure)
        return partial(self._ledger.outbox.put_back, letter, str(failure), again, now)

    def _hand_on(self, letter: Letter, error: str) -> None:
        """Let the other channels tell it; told twice is better than not at all."""
        now = self._clock.now()
        if self._failing.get(letter.target) != error:
            log.warning("notices by %s go by the other ways instead: %s", letter.target, error)
        self._failing[letter.target] = error
        self._ledger.outbox.post([letter.notice], self._others, now)
        self._ledger.outbox.put_back(letter, error, None, now)

    def _report(self) -> None:
        """Tell the ledger what came of the last letter; if it can not hear, before the next one."""
        if self._unreported is not None:
            self._unreported()
            self._unreported = None
