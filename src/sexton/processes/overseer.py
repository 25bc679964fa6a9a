"""What are the background processes of sessions doing, and do they hold a reset back?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from sexton.core.machine_ports import Clock
from sexton.core.session import Session
from sexton.processes.handling import ProcessPolicy
from sexton.processes.masking import masked
from sexton.processes.model import Description, Doing, Look, Newborn, Presence, Process, Watched
from sexton.processes.policy import (
    Judgement,
    is_fresh,
    judge,
    told,
    watched,
)
from sexton.processes.sampling import Sampler
from sexton.processes.stopping import ProcessStopper
from sexton.processes.store import LedgerProcesses
from sexton.resets.policy import ResetPolicy
from sexton.rules.rulebook import Rulebook

GLANCE = 0.5
"""Seconds between two looks at a process that nobody has watched before."""
AHEAD = 300
"""Of so many the ports are found in a look that nobody is judged by: it and the next share them."""
BLINK = 0.03
BLINKS = 5
"""So many further looks that show nobody: one who moves all the time is seen by one of them."""

_ABSENT = (Presence.GONE, Presence.FOREIGN, Presence.ZOMBIE)


class Overseer:
    """Watches processes, and says the same of them to agents, people and the reset guard.

    What the keeper of their host has judged counts while it is fresh and they are there; else
    two looks are taken.
    """

    def __init__(
        self,
        registry: LedgerProcesses,
        sampler: Sampler,
        stopper: ProcessStopper,
        clock: Clock,
        rules: Callable[[], Rulebook],
    ) -> None:
        self.registry = registry
        self.stopper = stopper
        self._sampler = sampler
        self._clock = clock
        self._rules = rules
        self._looks: dict[int, list[Look]] = {}
        self.in_vain: dict[int, datetime] = {}
        """When processes were last tried to be stopped and are there still, by row."""

    @property
    def policy(self) -> ProcessPolicy:
        """How processes are judged and handled, by the rules in force."""
        return self._rules().processes

    def describe(self, pid: int) -> Description | None:
        """Which process has the pid, and what it runs; None if none does."""
        return self._sampler.describe(pid)

    def recognise(self, pid: int, tag: str) -> Newborn | None:
        """Which process came of one that this one started with a tag; None if that is not sure."""
        return self._sampler.recognise(pid, tag)

    def leaf(self, process: Process) -> str:
        """What runs in it for what it is there: not the shell around that."""
        found = self._sampler.describe(process.identity.pid) if process.identity.pid else None
        if found is None or found.identity.started != process.identity.started:
            return process.command
        return masked(self._sampler.leaf(process.identity.pid)) or process.command

    def of_native(self, session: Session) -> list[Watched]:
        """The processes of a session of our own."""
        return self.of_session(session, self._rules().reset_policy(session))

    def of_session(self, session: Session, reset: ResetPolicy | None) -> list[Watched]:
        """The processes of a session, with what they do and whether that holds a reset."""
        return self.view(self.registry.of_session(session.ref), lambda _: (session, reset))

    def view(
        self,
        processes: Sequence[Process],
        of: Callable[[Process], tuple[Session | None, ResetPolicy | None]],
    ) -> list[Watched]:
        """Processes as everybody sees them; `of` gives the session and its policy."""
        if not processes:
            return []
        policy, now = self.policy, self._clock.now()
        found = self.judged(processes)
        return [
            watched(each, found[each.ref], session, (reset, policy), now)
            for each in processes
            for session, reset in [of(each)]
        ]

    def patrol(self, processes: Sequence[Process]) -> Mapping[int, tuple[Judgement, Look]]:
        """Look at each, and judge by what was seen of it within the window.

        What is not asked for any more is forgotten.
        """
        looks = self._look(processes, self.policy)
        self._looks = looks
        return {ref: (judge(seen), seen[-1]) for ref, seen in looks.items()}

    def judged(self, processes: Sequence[Process]) -> dict[int, Judgement]:
        """What each process is doing, by row."""
        policy, now = self.policy, self._clock.now()
        fresh = [each for each in processes if is_fresh(each, policy, now)]
        stale = [each for each in processes if not is_fresh(each, policy, now)]
        looks = self._sampler.look(fresh, new_ports=0) if fresh else {}
        found = {each.ref: _stored(each, looks[each.ref]) for each in fresh}
        seen = self._look(stale, policy)
        self._remember(seen)
        return found | {ref: judge(looks) for ref, looks in seen.items()}

    def _remember(self, seen: Mapping[int, list[Look]]) -> None:
        """Keep what was seen of processes that are there; where nobody patrols, this is the end.

        Others are asked about once somebody new has come, so what is kept follows what exists.
        """
        present = {ref: looks for ref, looks in seen.items() if looks[-1].members}
        others = {ref: looks for ref, looks in self._looks.items() if ref not in seen}
        if others and not present.keys() <= self._looks.keys():
            others = self._still_there(others)
        self._looks = others | present

    def _still_there(self, known: Mapping[int, list[Look]]) -> dict[int, list[Look]]:
        running = [each for each in self.registry.running() if each.ref in known]
        looks = self._sampler.look(running, new_ports=0) if running else {}
        return {ref: known[ref] for ref, look in looks.items() if look.members}

    def _look(self, processes: Sequence[Process], policy: ProcessPolicy) -> dict[int, list[Look]]:
        """What was seen of each within the window, now included; twice if it is new to us.

        Works on copies: any thread may look.
        """
        if not processes:
            return {}
        known = self._looks
        is_judged_by = any(known.get(each.ref) for each in processes)
        first = self._sampler.look(processes, new_ports=None if is_judged_by else AHEAD)
        seen = {ref: _within([*known.get(ref, ()), look], policy) for ref, look in first.items()}
        new = [each for each in processes if _is_new(seen[each.ref])]
        if new:
            self._look_again(new, seen, GLANCE)
        for _ in range(BLINKS):
            missed = [each for each in processes if _may_be_missed(each, seen[each.ref][-1])]
            if not missed:
                break
            self._look_again(missed, seen, BLINK)
        return seen

    def _look_again(
        self, processes: Sequence[Process], seen: dict[int, list[Look]], after: float
    ) -> None:
        self._sampler.wait(after)
        for ref, look in self._sampler.look(processes).items():
            seen[ref].append(look)


def _within(looks: list[Look], policy: ProcessPolicy) -> list[Look]:
    """Those within the window, and the last one before it."""
    begin = looks[-1].at - policy.window.total_seconds()
    older = [each for each in looks if each.at <= begin]
    return older[-1:] + [each for each in looks if each.at > begin]


def _is_new(looks: list[Look]) -> bool:
    return len(looks) == 1 and bool(looks[0].members)


def _may_be_missed(process: Process, look: Look) -> bool:
    """Whether somebody with its tag may have been born while the others were looked at."""
    return (
        process.tag is not None and look.presence in _ABSENT and not (look.members or look.passing)
    )


def _stored(process: Process, look: Look) -> Judgement:
    """What its host said of it last, if it is still there or can not be seen from here."""
    absent = judge([look])
    if not look.members and absent.doing is not Doing.UNKNOWN:
        return absent
    return Judgement(doing=process.doing, figures=process.figures, because=told(process.figures))


class Guard:
    """The processes of a session, with whether they hold a reset of it back.

    All are looked at once, when first asked; `named` gives those that homes name beside the
    registered ones.
    """

    def __init__(
        self,
        overseer: Overseer,
        clock: Clock,
        named: Callable[[Sequence[Process]], Sequence[Process]],
    ) -> None:
        self._overseer = overseer
        self._clock = clock
        self._named = named
        self._found: dict[int, list[tuple[Process, Judgement]]] | None = None

    def __call__(self, session: Session, reset: ResetPolicy | None) -> list[Watched]:
        rules, now = (reset, self._overseer.policy), self._clock.now()
        mine = self._all().get(session.ref, ())
        return [watched(process, found, session, rules, now) for process, found in mine]

    def _all(self) -> dict[int, list[tuple[Process, Judgement]]]:
        if self._found is None:
            registered = self._overseer.registry.running()
            everybody = [*registered, *self._named(registered)]
            running = [each for each in everybody if not each.is_orphan]
            judged = self._overseer.judged(running)
            self._found = {}
            for each in running:
                pair = (each, judged[each.ref])
                self._found.setdefault(each.session_ref or 0, []).append(pair)
        return self._found
