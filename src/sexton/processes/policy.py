"""What is a background process doing, does it hold a reset back, and what becomes of it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from sexton.core.plan import Reason
from sexton.core.record import record
from sexton.core.session import Session
from sexton.liveness.evidence import Evidence
from sexton.processes.handling import ProcessPolicy
from sexton.processes.model import Doing, Figures, Look, Member, Presence, Process, Watched, cut
from sexton.resets.policy import OWN_TIME, ResetPolicy, due_since, span

USUAL_TTL = timedelta(hours=24)
BUSY_SHARE = 0.01
"""A process that used this share of the window has worked in it, ..."""
LEAST_CPU = 0.02
"""... but not for less than two ticks of the kernel's clock: one may fall to anybody."""
LEAST_IO = 4096
AWAITED = timedelta(minutes=1)
"""A process that was to be started and is not there after so long never came to be."""


@record
class Judgement:
    """What a process is doing, the figures, and both in words."""

    doing: Doing
    figures: Figures
    because: str


_ABSENT = {
    Presence.GONE: (Doing.DEAD, "no process has its pid, and nothing it started is left"),
    Presence.FOREIGN: (Doing.FOREIGN, "its pid belongs to another process now"),
    Presence.ZOMBIE: (Doing.ZOMBIE, "it has exited and waits to be collected"),
    Presence.HIDDEN: (Doing.UNKNOWN, "it can not be seen from here"),
    Presence.AWAITED: (Doing.UNKNOWN, "it is about to be started"),
    Presence.PRESENT: (Doing.UNKNOWN, "it ended while it was looked at"),
}


def judge(looks: Sequence[Look]) -> Judgement:
    """What the newest look shows against the oldest; it and all that it started count together."""
    before, now = looks[0], looks[-1]
    if not now.members and now.passing:
        words = "what it started comes and goes too quickly to be watched"
        return Judgement(doing=Doing.UNKNOWN, figures=Figures(), because=words)
    if not now.members:
        doing, words = _ABSENT[now.presence]
        return Judgement(doing=doing, figures=Figures(), because=words)
    seconds = now.at - before.at
    figures = Figures(
        seconds=round(seconds, 3),
        cpu=round(_cpu(before.members, now.members), 3),
        io=_io(before.members, now.members),
        memory=sum(each.memory for each in now.members),
        processes=len(now.members),
        ports=now.ports,
    )
    if seconds <= 0:
        words = "it has not been watched for long enough"
        return Judgement(doing=Doing.UNKNOWN, figures=figures, because=words)
    return Judgement(doing=_doing(figures), figures=figures, because=told(figures))


def _doing(figures: Figures) -> Doing:
    if figures.cpu >= max(BUSY_SHARE * figures.seconds, LEAST_CPU) or figures.io >= LEAST_IO:
        return Doing.WORKING
    return Doing.LISTENING if figures.ports else Doing.IDLE


def told(figures: Figures) -> str:
    """The figures of a judgement in words."""
    share = 100 * figures.cpu / figures.seconds if figures.seconds else 0.0
    words = (
        f"{share:.1f} % of a processor and {size(figures.io)} read and written"
        f" in {figures.seconds:.1f} s"
    )
    many = f"; {figures.processes} processes" if figures.processes > 1 else ""
    ports = ", ".join(map(str, figures.ports))
    return words + many + (f"; listens on {ports}" if ports else "")


def size(count: int) -> str:
    """A number of bytes as a person says it."""
    for unit, bound in (("bytes", 10 * 1024), ("KiB", 10 * 1024**2), ("MiB", 10 * 1024**3)):
        if count < bound:
            return f"{count * 10 * 1024 // bound} {unit}"
    return f"{count // 1024**3} GiB"


def _cpu(before: Iterable[Member], now: Iterable[Member]) -> float:
    """Processor time that was used in between.

    The time of a child that ended counts with its parent, if that collected it: then it is
    not counted again. What vanished uncollected takes nothing away from what the others used.
    """
    known = {(each.pid, each.started): each for each in before}
    own = waited = 0.0
    for each in now:
        last = known.pop((each.pid, each.started), None)
        own += each.cpu - (last.cpu if last else 0.0)
        waited += each.waited - (last.waited if last else 0.0)
    vanished = sum(each.cpu + each.waited for each in known.values())
    return max(0.0, own) + max(0.0, waited - vanished)


def _io(before: Iterable[Member], now: Iterable[Member]) -> int:
    """Bytes that were read and written in between.

    Those of a collected child are its parent's, and not counted again; where nobody moved as many,
    nobody has collected it, and it hides no work.
    """
    known = {(each.pid, each.started): each.io for each in before}
    moved = [each.io - known.pop((each.pid, each.started), 0) for each in now]
    for vanished in sorted(known.values(), reverse=True):
        most = max(moved)
        if most >= vanished:
            moved[moved.index(most)] -= vanished
    return max(0, sum(moved))


def is_fresh(process: Process, policy: ProcessPolicy, now: datetime) -> bool:
    """Whether what was last seen of a process still counts."""
    return process.judged_at is not None and abs(now - process.judged_at) <= 2 * policy.window


def watched(
    process: Process,
    found: Judgement,
    session: Session | None,
    rules: tuple[ResetPolicy | None, ProcessPolicy],
    now: datetime,
) -> Watched:
    """A process with what it does and whether that holds a reset of its session back."""
    until = holds_until(process, session, *rules)
    is_working = found.doing is Doing.WORKING
    is_open = session is not None and session.is_open
    return Watched(
        process=process,
        doing=found.doing,
        figures=found.figures,
        because=found.because,
        holds_until=until,
        holds=is_open and is_working and now < until,
    )


def holds_until(
    process: Process, session: Session | None, reset: ResetPolicy | None, policy: ProcessPolicy
) -> datetime:
    """Until when a process may hold a reset, if it works.

    A TTL that was set runs from the start of the process. Otherwise the session's own idle time
    (else a day) runs from when its reset is due: what was started before the last message would
    else be over before there was anything to hold. A count that is full has no such moment, and
    messages go on while it is: there it runs from the start, too.
    """
    return process.expires_at or may_hold_until(process.started_at, session, reset, policy)


def may_hold_until(
    started_at: datetime, session: Session | None, reset: ResetPolicy | None, policy: ProcessPolicy
) -> datetime:
    """The same for one that was started then and has no TTL of its own."""
    if policy.ttl is not None:
        return started_at + policy.ttl
    usual = (reset.idle_after if reset else None) or USUAL_TTL
    due = due_since(session, reset) if session is not None and reset is not None else None
    return max(due or started_at, started_at) + usual


def holding_process(processes: Iterable[Watched], now: datetime) -> Reason | None:
    """Which process holds a reset back, and by which rule; None if none does."""
    for each in processes:
        if each.holds:
            process = each.process
            return Reason(
                f"process:{process.identity.pid}",
                f"{process.name} on {process.identity.host} is working"
                f" ({each.because}), has run for {span(now - process.started_at)} and may hold it"
                f" until {each.holds_until:%Y-%m-%d %H:%M} UTC: {process.shown}",
            )
    return None


def left_to_owner(
    session: Session,
    policy: ResetPolicy,
    proof: Evidence | None,
    processes: Iterable[Watched],
    now: datetime,
) -> Reason | None:
    """Whether the owner of a session, which resets it itself, is given time for it still.

    It may wait for processes for which Sexton does not: those are named.
    """
    if proof is None or not proof.resets:
        return None
    since = due_since(session, policy)
    if since is None or now - since >= OWN_TIME:
        return None
    waits = "; ".join(
        f"its own reset may wait for {each.process.name} ({each.doing}, has run for "
        f"{span(now - each.process.started_at)}): {each.process.shown}"
        for each in running(processes)
    )
    said = (*proof.signals, f"and is given {span(OWN_TIME)} to reset it itself")
    return Reason("own_reset", ", ".join(said) + (f"; {waits}" if waits else ""))


def bearing(each: Watched) -> str:
    """What a process means for a reset of its session, in words."""
    if each.holds:
        words = f"may hold a reset back until {each.holds_until:%Y-%m-%d %H:%M} UTC"
    elif each.doing is Doing.WORKING:
        words = "its time to hold resets back is over"
    else:
        words = "holds no reset back"
    return f"{words}; kept from being stopped" if each.process.kept else words


OVER = (Doing.DEAD, Doing.ZOMBIE, Doing.FOREIGN)
"""A process that does one of these is none any more."""


def running(processes: Iterable[Watched]) -> list[Watched]:
    """Those that are there, whatever they do."""
    return [each for each in processes if each.doing not in OVER]


def listed(processes: Iterable[Watched]) -> str:
    """Which processes are meant, in a few words."""
    return "; ".join(
        f"{each.process.name} ({each.doing}): {cut(each.process.command, 60)}" for each in processes
    )
