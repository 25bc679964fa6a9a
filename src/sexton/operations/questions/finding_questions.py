"""What is wrong with the homes of this machine, what does it cost, and what fixes it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from sexton.core.record import as_dict
from sexton.core.session import NATIVE
from sexton.errors import SextonError
from sexton.homes.home_ports import HomeRecord
from sexton.keeper.keeper_context import Estate
from sexton.liveness.standing import SAMPLED, samples
from sexton.operations.asker import Asker
from sexton.operations.questions.home_questions import check_home
from sexton.wiring.diagnosing import diagnose

if TYPE_CHECKING:
    from sexton.homes.hermes.findings.finding import Finding


class FindingRecord(TypedDict):
    """Something that is wrong with a home, what it costs and what fixes it."""

    code: str
    level: str
    words: str
    count: int
    bytes: int
    cost: str
    repair: str
    where: str | None
    details: list[str]


class HomeFindings(TypedDict):
    """What is wrong with a home; `trouble` says why it could not be looked at."""

    home: str
    path: str | None
    trouble: str | None
    findings: list[FindingRecord]


class Findings(TypedDict):
    """What is wrong with each foreign home of this machine."""

    items: list[HomeFindings]
    next: None


def findings(asker: Asker, *, home: str | None = None) -> Findings:
    """What is wrong with the homes of this machine, what it costs and what fixes it."""
    check_home(asker, home)
    estate = asker.look()
    wanted = [
        each
        for each in asker.house.ledger.homes.all()
        if each.name != NATIVE and each.name in estate.records and home in (None, each.name)
    ]
    return {"items": [_examined(asker, estate, each) for each in wanted], "next": None}


def finding_record(each: Finding) -> FindingRecord:
    """A finding for programs."""
    found: FindingRecord = {**as_dict(each), "level": each.level.value}  # type: ignore[typeddict-item]
    return found


def _examined(asker: Asker, estate: Estate, record: HomeRecord) -> HomeFindings:
    house = asker.house
    told: HomeFindings = {
        "home": record.name,
        "path": record.path,
        "trouble": None,
        "findings": [],
    }
    try:
        (stand,) = samples(estate, [record])
        known = {each.value: int(getattr(stand, each)) for each in SAMPLED}
        cohorts = house.ledger.homes.census.cohorts(record, house.clock.now())
        found = diagnose(house, record, cohorts, known)
    except SextonError as trouble:
        return {**told, "trouble": str(trouble)}
    return {**told, "findings": [finding_record(each) for each in found]}
