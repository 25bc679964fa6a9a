"""Who has been silent, and for how long of the observer's own running time?

Timestamps of others are never compared. An observer counts how long it has seen the same beat
while it was itself awake; a gap in its own looks voids all that it had observed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set

from sexton.core.record import made, record


@record(kw_only=False)
class Look:
    """When an observer looked: on a clock that stops in a suspend, and on one that goes on.

    `drift` is how far the wall clock is ahead of the latter.
    """

    running: float
    elapsed: float
    drift: float = 0.0


@record
class Watch:
    """What an observer has heard so far.

    `beats` are as it last heard them. Who stands still has stood since its `since`; the others
    have only since the last look. The beats of the `unmoved` were never seen to change.
    """

    last: Look | None = None
    beats: Mapping[str, int] = made(dict)
    since: Mapping[str, float] = made(dict)
    unmoved: Set[str] = frozenset()

    def silence(self, worker: str, beat: int) -> float:
        """For how many seconds of unbroken observation the worker has stood at that beat.

        None at all if it was last heard with another one: it has beaten since the last look.
        """
        since = self.since.get(worker)
        if since is None or self.last is None or self.beats[worker] != beat:
            return 0.0
        return self.last.running - since

    def has_moved(self, worker: str, beat: int) -> bool:
        """Whether the beat of the worker was seen to change, or is another now."""
        known = self.beats.get(worker)
        return known is not None and (worker not in self.unmoved or known != beat)


def listen(watch: Watch, beats: Mapping[str, int], look: Look, longest_gap: float) -> Watch:
    """The watch after one more look; whoever is not in `beats` any more is forgotten."""
    if watch.last is None or _is_broken(watch.last, look, longest_gap):
        return Watch(last=look, beats=beats, unmoved=frozenset(beats))
    since: dict[str, float] = {}
    unmoved: set[str] = set()
    for id, beat in beats.items():
        known = watch.beats.get(id)
        if known == beat:
            since[id] = watch.since.get(id, watch.last.running)
            if id in watch.unmoved:
                unmoved.add(id)
        elif known is None:
            unmoved.add(id)
    return Watch(last=look, beats=beats, since=since, unmoved=unmoved)


def _is_broken(last: Look, look: Look, longest_gap: float) -> bool:
    running, elapsed = look.running - last.running, look.elapsed - last.elapsed
    return not (0 <= running <= longest_gap and 0 <= elapsed <= longest_gap)
