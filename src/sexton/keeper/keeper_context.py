"""Everything a keeper works with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sexton.core.content import Content
from sexton.core.machine_ports import Clock, ProcessTable
from sexton.core.schedule import Schedule
from sexton.core.session import NATIVE, Session
from sexton.errors import SextonError
from sexton.homes.home_ports import Home, HomeRecord
from sexton.liveness.evidence import Evidence, Sight
from sexton.liveness.mass_death import Doubt
from sexton.liveness.missed_heartbeats import Look, Watch
from sexton.liveness.model import Worker
from sexton.liveness.policy import HOME, is_busy, judge
from sexton.processes.foreign_processes import hinted
from sexton.processes.model import Process
from sexton.processes.overseer import Guard, Overseer
from sexton.resets.policy import ResetPolicy, busy_in_home, schedule
from sexton.retention.disk_budget import DiskBudget
from sexton.retention.disk_space import Space
from sexton.retention.removal_context import Means
from sexton.rules.rulebook import InForce, Rulebook, bounded, decode, digest, encode
from sexton.store.ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """The ledger, its homes that can be reached from here, and the rules in force.

    `closed` are the listed homes that can not be reached, and why. Without `removing` nothing is
    taken out of a home.
    """

    ledger: Ledger
    clock: Clock
    processes: ProcessTable
    rules: Callable[[int | None], InForce]
    homes: Mapping[str, Home]
    records: Mapping[str, HomeRecord] = field(default_factory=dict)
    closed: Mapping[str, SextonError] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)
    doubt: Doubt = field(default_factory=Doubt)
    actor: str
    overseer: Overseer
    removing: Means | None = None
    space: Callable[[], Space] | None = None
    budget: DiskBudget = field(default_factory=DiskBudget)
    keep_journal: timedelta = timedelta(days=365)
    content: Content = field(default_factory=Content)
    _judged: dict[tuple[str, int, bool], Evidence] = field(default_factory=dict, init=False)
    _owned: dict[str, Mapping[str, Evidence]] = field(default_factory=dict, init=False)
    _working: dict[str, Mapping[tuple[int, int], str]] = field(default_factory=dict, init=False)

    @property
    def unreachable(self) -> tuple[str, ...]:
        """What keeps each of the closed homes closed, in words."""
        return tuple(f"{name}: {trouble}" for name, trouble in self.closed.items())

    @property
    def unattended(self) -> bool:
        """Whether nobody confirms what is done."""
        return self.removing is not None and self.removing.unattended

    def is_observed(self, home: str) -> bool:
        """Whether nothing in a home is to be changed now: only a person's word would do it."""
        return self.unattended and home in self.records and not self.records[home].act

    def observed_homes(self) -> frozenset[str]:
        """The homes that keepers only observe; a person may allow to change them."""
        return frozenset(name for name, record in self.records.items() if not record.act)

    def look(self) -> Look:
        """This moment, on all clocks of the observer."""
        elapsed = self.clock.elapsed()
        return Look(self.clock.monotonic(), elapsed, self.clock.now().timestamp() - elapsed)

    def evidence(self, workers: Iterable[Worker]) -> dict[str, Evidence]:
        """What is known about each worker: the kernel's word, and the watch kept over beats.

        Each is looked at once, however many sessions it holds; with another beat it is asked anew.
        """
        policy = None
        found = {}
        for worker in workers:
            seen = (worker.id, worker.beat, worker.dead_at is None)
            if seen not in self._judged:
                policy = policy or self.rules(None).rules.liveness
                sight = self.processes.look(worker.identity)
                # A file is used from one machine only, which has no twin that might be alive.
                alone = sight is Sight.REBOOTED and not self.ledger.is_shared
                watch = Watch() if alone else self.watch
                self._judged[seen] = judge(worker, sight, policy, watch)
            found[worker.id] = self._judged[seen]
        return found

    def owners(self, home: str) -> Mapping[str, Evidence]:
        """What a foreign home proves about the owners of its open sessions, asked once."""
        if home not in self._owned:
            self._owned[home] = self._ask_owners(home)
        return self._owned[home]

    def _ask_owners(self, home: str) -> Mapping[str, Evidence]:
        record = self.records.get(home)
        if record is None:
            return {}
        ids = self.ledger.homes.ids(record, open_only=True)
        try:
            return self.homes[home].owners(ids)
        except SextonError:  # a home that can not be read proves nothing
            return {}

    def guard(self) -> Guard:
        """The processes of any session and what they hold back, from one look at all of them."""
        return Guard(self.overseer, self.clock, self.named)

    def named(self, registered: Sequence[Process]) -> list[Process]:
        """The background processes that foreign homes name beside those that are registered."""
        return hinted(self.ledger.index, self.homes, self.processes.myself(), registered)

    def of_holders(self, session: Session) -> dict[str, Evidence]:
        """What is known about each holder of a session, and what its home proves besides."""
        found = self.evidence(holder.worker for holder in session.holders)
        proof = None if session.home == NATIVE else self.owners(session.home).get(session.id)
        return found if proof is None else found | {HOME: self._without_others(session, proof)}

    def proof_now(self, session: Session) -> Evidence | None:
        """What the home of a foreign session proves about it now, whatever it did before."""
        self._working.pop(session.home, None)
        try:
            proof = self.homes[session.home].owners([session.id]).get(session.id)
        except SextonError:  # what is to change there meets the same trouble, and tells of it
            return None
        return None if proof is None else self._without_others(session, proof)

    def _without_others(self, session: Session, proof: Evidence) -> Evidence:
        """The proof without the terminals that are at work in other sessions."""
        if not proof.terminals:
            return proof
        mine = {"", *(holder.worker.id for holder in session.holders)}
        working = self._working_in(session.home)
        left = tuple(each for each in proof.terminals if working.get(each, "") in mine)
        return replace(proof, terminals=left)

    def _working_in(self, home: str) -> Mapping[tuple[int, int], str]:
        """The workers of this machine that hold open sessions of a home, by pid and start tick."""
        if home not in self._working:
            busy: set[str] = set().union(*self.ledger.homes.census.held(self.records[home]))
            host = self.processes.myself().host
            self._working[home] = {
                (each.identity.pid, each.identity.started): each.id
                for each in self.ledger.workers.all()
                if each.id in busy and each.identity.host == host
            }
        return self._working[home]

    def is_busy(self, session: Session) -> bool:
        """Whether a turn runs in the session, as its holders or its home say."""
        # Only a marked holder is worth a look at its process.
        marked = tuple(holder for holder in session.holders if holder.busy_since is not None)
        busy = replace(session, holders=marked)
        evidence = self.of_holders(busy)
        return is_busy(busy, evidence) or busy_in_home(evidence.get(HOME)) is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of every home at one moment."""

    in_force: InForce
    of_home: Mapping[str, Rulebook]
    are_in_force: bool = True

    def schedule(self, session: Session) -> Schedule:
        """When the policies next have something to say about a session."""
        policy, serial = self.reset_policy(session), self.in_force.serial
        planned = Schedule(serial) if policy is None else schedule(session, policy, serial)
        return bounded(planned, session, self.in_force.rules.liveness)

    def reset_policy(self, session: Session) -> ResetPolicy | None:
        """The reset policy of a session; None where its home has no rules of its own."""
        if session.home == NATIVE:
            return self.in_force.rules.reset_policy(session)
        rulebook = self.of_home.get(session.home)
        return None if rulebook is None else rulebook.reset_policy(session)


def rules_now(estate: Estate, wanted: Rulebook | None = None) -> Rules:
    """The rules in force, or those wanted instead, and those that foreign homes bring along."""
    own = {home.name: decode(home.rules) for home in estate.ledger.homes.all() if home.rules}
    in_force = estate.rules(None)
    if wanted is None or digest(encode(wanted)) == in_force.digest:
        return Rules(in_force, own)
    return Rules(InForce(in_force.serial, digest(encode(wanted)), wanted), own, False)
