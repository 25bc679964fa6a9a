"""How do the open sessions of a home stand: live, waiting, leaked or unproven?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum

from sexton.engine.estate import Estate
from sexton.engine.figures import figures
from sexton.model.evidence import Verdict
from sexton.model.session import NATIVE
from sexton.ports import HomeRecord, Sample

SAMPLE_EVERY = timedelta(minutes=10)
"""All keepers of a ledger together store at most one sample per home in this time."""


class Standing(StrEnum):
    """What is known of an open session; leaked and unproven are never the same."""

    LIVE = "live"  # a living process holds it
    WAITING = "waiting"  # nobody holds it: a conversation that waits for its next message
    LEAKED = "leaked"  # all its holders are dead, or it is to be reaped for another reason
    UNPROVEN = "unproven"  # nothing shows whether anybody still holds it


def samples(estate: Estate, homes: Iterable[HomeRecord]) -> list[Sample]:
    """How the open sessions of each home stand now.

    They are counted by who holds them, and then the holders are judged, so that it costs what
    there are workers; ended sessions cost nothing, however many there are.
    """
    evidence = estate.evidence(estate.ledger.reaping.suspects())
    verdicts = {
        id: Verdict.UNKNOWN if id in estate.doubt.doubted else proof.verdict
        for id, proof in evidence.items()
    }
    return [_sample(estate, home, verdicts) for home in homes]


def _sample(estate: Estate, home: HomeRecord, verdicts: Mapping[str, Verdict]) -> Sample:
    held = dict(estate.ledger.homes.census.held(home))
    nobodys = held.pop((), 0)
    found: Counter[Standing] = Counter()
    for workers, sessions in held.items():
        found[_standing({verdicts.get(id, Verdict.UNKNOWN) for id in workers})] += sessions
    if nobodys and home.name != NATIVE:
        for verdict, sessions in _proved(estate, home, nobodys).items():
            found[_standing({verdict})] += sessions
            nobodys -= sessions
    leaked = min(nobodys, _overdue(estate, home)) if nobodys else 0
    found[Standing.LEAKED] += leaked
    found[Standing.WAITING if home.name == NATIVE else Standing.UNPROVEN] += nobodys - leaked
    return Sample(
        home=home.name,
        at=estate.clock.now(),
        open=found.total(),
        live=found[Standing.LIVE],
        waiting=found[Standing.WAITING],
        leaked=found[Standing.LEAKED],
        unproven=found[Standing.UNPROVEN],
    )


def _standing(verdicts: set[Verdict]) -> Standing:
    if Verdict.LIVE in verdicts:
        return Standing.LIVE
    return Standing.LEAKED if verdicts == {Verdict.DEAD} else Standing.UNPROVEN


def _proved(estate: Estate, home: HomeRecord, most: int) -> Counter[Verdict]:
    """How many sessions are live or dead by what their home itself proves; never more than `most`.

    Those that a worker holds are not told from others here, and are few.
    """
    verdicts = Counter(proof.verdict for proof in estate.owners(home.name).values())
    live = min(verdicts[Verdict.LIVE], most)
    return Counter({Verdict.LIVE: live, Verdict.DEAD: min(verdicts[Verdict.DEAD], most - live)})


def _overdue(estate: Estate, home: HomeRecord) -> int:
    """How many sessions that nobody holds have been silent beyond the bound of their source."""
    now, census = estate.clock.now(), estate.ledger.homes.census
    bounds = estate.rules(None).rules.liveness.inactivity_bound
    return sum(census.silent(home, source, now - bound) for source, bound in bounds)


def take_samples(estate: Estate, *, held: int = 0) -> None:
    """Store how the open sessions stand, unless that was done for a home just now.

    What is `held` back is counted with the rest of the figures.
    """
    now, ledger = estate.clock.now(), estate.ledger
    recent = {
        sample.home
        for sample in ledger.samples.since(now - SAMPLE_EVERY)
        if now - SAMPLE_EVERY < sample.at <= now
    }
    lacking = [home for home in ledger.homes.all() if home.name not in recent]
    if lacking:
        ledger.samples.store(samples(estate, lacking), now)
        ledger.gauges.store(figures(estate, held), now)
