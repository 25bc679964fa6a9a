"""How do the open sessions of a home stand: live, waiting, suspect, leaked or unproven?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum

from sexton.core.session import NATIVE, Session
from sexton.homes.home_ports import HomeRecord
from sexton.keeper.keeper_context import Estate
from sexton.keeper.ledger_figures import figures
from sexton.liveness.evidence import Verdict
from sexton.liveness.model import Sample
from sexton.liveness.policy import HOME, reap_reason
from sexton.store.ledger import Ledger

SAMPLE_EVERY = timedelta(minutes=10)
"""All keepers of a ledger together store at most one sample per home in this time."""


class Standing(StrEnum):
    """What is known of an open session; leaked and unproven are never the same."""

    LIVE = "live"  # a living process holds it
    WAITING = "waiting"  # nobody holds it: a conversation that waits for its next message
    SUSPECT = "suspect"  # it looks dead, and nothing proves it yet
    LEAKED = "leaked"  # all its holders are dead, or it is to be reaped for another reason
    UNPROVEN = "unproven"  # nothing shows whether anybody still holds it


SAMPLED = (Standing.LIVE, Standing.WAITING, Standing.LEAKED, Standing.UNPROVEN)
"""What is counted over time; who is suspect is among the unproven there."""


def samples(estate: Estate, homes: Iterable[HomeRecord]) -> list[Sample]:
    """How the open sessions of each home stand now."""
    return samples_of(estate, tally(estate, homes))


def samples_of(estate: Estate, tallies: Mapping[str, Counter[Standing]]) -> list[Sample]:
    """The same of what was counted already."""
    return [_sample(estate, name, found) for name, found in tallies.items()]


def suspect_in(tallies: Mapping[str, Counter[Standing]]) -> int:
    """How many open sessions of all homes are suspect."""
    return sum(found[Standing.SUSPECT] for found in tallies.values())


def tally(estate: Estate, homes: Iterable[HomeRecord]) -> dict[str, Counter[Standing]]:
    """How many open sessions of each home stand how.

    They are counted by who holds them, and then the holders are judged, so that it costs what
    there are workers; ended sessions cost nothing, however many there are.
    """
    evidence = estate.evidence(estate.ledger.reaping.suspects())
    verdicts = {
        id: Verdict.UNKNOWN if id in estate.doubt.doubted else proof.verdict
        for id, proof in evidence.items()
    }
    return {home.name: _tallied(estate, home, verdicts) for home in homes}


def standing_of(estate: Estate, session: Session) -> Standing:
    """How one open session stands, by the same evidence."""
    evidence = estate.of_holders(session)
    if session.holders:
        return _standing({evidence[each.worker.id].verdict for each in session.holders})
    proof = evidence.get(HOME)
    known = proof is not None and proof.verdict is not Verdict.UNKNOWN
    if known:
        assert proof is not None
        return _standing({proof.verdict})
    policy, now = estate.rules(None).rules.liveness, estate.clock.now()
    if reap_reason(session, evidence, policy, now) is not None:
        return Standing.LEAKED
    return Standing.WAITING if session.home == NATIVE else Standing.UNPROVEN


def _sample(estate: Estate, home: str, found: Counter[Standing]) -> Sample:
    return Sample(
        home=home,
        at=estate.clock.now(),
        open=found.total(),
        live=found[Standing.LIVE],
        waiting=found[Standing.WAITING],
        leaked=found[Standing.LEAKED],
        unproven=found[Standing.UNPROVEN] + found[Standing.SUSPECT],
    )


def _tallied(
    estate: Estate, home: HomeRecord, verdicts: Mapping[str, Verdict]
) -> Counter[Standing]:
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
    return found


def _standing(verdicts: set[Verdict]) -> Standing:
    if Verdict.LIVE in verdicts:
        return Standing.LIVE
    if Verdict.SUSPECT in verdicts:
        return Standing.SUSPECT
    return Standing.LEAKED if verdicts == {Verdict.DEAD} else Standing.UNPROVEN


def _proved(estate: Estate, home: HomeRecord, most: int) -> Counter[Verdict]:
    """How many sessions are live, dead or suspect by what their home proves; at most `most`.

    Those that a worker holds are not told from others here, and are few.
    """
    verdicts = Counter(proof.verdict for proof in estate.owners(home.name).values())
    found: Counter[Verdict] = Counter()
    for verdict in (Verdict.LIVE, Verdict.DEAD, Verdict.SUSPECT):
        found[verdict] = min(verdicts[verdict], most - found.total())
    return found


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
    homes = ledger.homes.all()
    if all(home.name in recent for home in homes):
        return
    tallies = tally(estate, homes)
    lacking = [each for each in samples_of(estate, tallies) if each.home not in recent]
    ledger.samples.store(lacking, now)
    ledger.gauges.store(figures(estate, suspect_in(tallies), held), now)


PAGE = 500


def open_sessions(ledger: Ledger, homes: Iterable[str]) -> Iterator[Session]:
    """Every open session of some homes, page by page; this costs what is open."""
    for home in homes:
        after: Session | None = None
        while page := ledger.index.open(home, after, PAGE):
            yield from page
            after = page[-1]
