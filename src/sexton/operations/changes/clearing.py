"""`gc` and `empty_trash`: put garbage into the trash, and remove for good what is in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from sexton.core.plan import Reason, Result
from sexton.core.session import NATIVE
from sexton.core.wording import counted, size, stamp
from sexton.errors import HomeObserved
from sexton.keeper.keeper_context import Estate
from sexton.keeper.observe import observe_home
from sexton.operations import said
from sexton.operations.asker import Asker
from sexton.operations.changes.applying import foretold, mend, of_plan
from sexton.operations.questions.home_questions import check_home
from sexton.operations.questions.vault_questions import each_file
from sexton.operations.verb_proposal import Done, Draft, Going, Proposal, Step, outcome, proposed
from sexton.retention.garbage_collection import collect
from sexton.retention.model import VaultFile, VaultKind, VaultState
from sexton.retention.purge import empty
from sexton.wiring.removal_wiring import garbage

END_OF_TIME = datetime(9999, 1, 1, tzinfo=UTC)


def gc(
    asker: Asker,
    *,
    home: str | None = None,
    source: str | None = None,
    empty_hours: int | None = None,
    trivial_days: int | None = None,
    trivial_max: int | None = None,
    estate: Callable[[], Estate] | None = None,
) -> Proposal:
    """Put garbage into the trash: empty and trivial sessions of one home.

    Garbage is a session that has ended and in which nothing was said, or next to nothing, for a
    while; `gc` in the settings says for how long. Open, pinned and unfinalized sessions stay.
    Without a `home` it is about the ledger's own sessions.
    """
    if estate is None:
        check_home(asker, home)
    name = home or NATIVE
    reach = estate or (lambda: asker.estate({name}))
    now = reach()
    troubles = list(now.unreachable)
    if name in now.records:
        observe_home(now, now.homes[name], now.records[name])
    given = {
        "empty_hours": empty_hours,
        "trivial_days": trivial_days,
        "trivial_max": trivial_max,
        "source": source,
    }
    wanted = {key: value for key, value in given.items() if value is not None}
    plan = collect(now, name, garbage(asker.house, wanted))
    assert now.removing is not None
    if plan.actions and not now.removing.keeps_records(name):
        raise HomeObserved(f"the sessions of the home '{name}' cannot be removed from here")
    says = "Empty and trivial sessions that could go to the trash."
    proposal = of_plan(asker, plan, verb="gc", title="Garbage", says=says, estate=reach)
    return foretold(asker, proposal, troubles)


def empty_trash(
    asker: Asker, *, all: bool = False, home: str | None = None, source: str | None = None
) -> Proposal:
    """Remove for good what is in the trash and past its time.

    With `all` also what could still be brought back. Of each session the row stays, with its dates
    and counts. What was pinned meanwhile, or owes jobs again, stays. Only files of this machine are
    removed.
    """
    check_home(asker, home)
    found = _in_trash(asker, home, source, everything=all)
    reason = Reason("asked", asker.words)

    def work(receipt: str, going: Going) -> Done:
        mend(asker, receipt)
        means = asker.estate({each.home for each in found}).removing
        assert means is not None
        known = {each.ref for each in found}
        still = [
            each
            for each in _in_trash(asker, home, source, everything=all)
            if each.ref in known  # what came since was not shown
        ]
        told: list[said.Outcome] = []
        deadline = END_OF_TIME if all else None
        for file, is_gone in empty(means, still, receipt, deadline=deadline):
            told.append(_emptied(file, reason, is_gone=is_gone))
            going.tell(told[-1])
            if going.stopping():
                break
        return Done(outcomes=told, left=len(still) - len(told))

    return proposed(
        asker,
        Draft(
            verb="empty_trash",
            title="Empty the trash",
            says="All that is in it." if all else "What is past its time.",
            home=home,
            session=None,
            target=counted(len(found), "file"),
            reason=reason,
            steps=[_step(each) for each in found],
            work=work,
        ),
    )


def _in_trash(
    asker: Asker, home: str | None, source: str | None, *, everything: bool
) -> list[VaultFile]:
    """The files of the trash on this machine that are meant."""
    means, now = asker.estate().removing, asker.house.clock.now()
    assert means is not None
    return [
        each
        for each in each_file(asker, VaultKind.TRASH, home, source)
        if each.host == means.host and each.state is VaultState.KEPT
        if everything or (each.expires_at is not None and each.expires_at <= now)
    ]


def _step(file: VaultFile) -> Step:
    inside = f"{counted(file.written.sessions, 'session')}, {counted(file.written.files, 'file')}"
    until = f"could be brought back until {stamp(file.expires_at)}" if file.expires_at else "kept"
    why = f"{file.source} of {file.home}, {size(file.written.bytes)}, {until}"
    return Step(verb="purge", what=f"{inside}, put away under receipt {file.receipt}", why=why)


def _emptied(file: VaultFile, reason: Reason, *, is_gone: bool) -> said.Outcome:
    result = Result.DONE if is_gone else Result.SKIPPED
    detail = "removed for good" if is_gone else "it stays: pinned, with jobs to be done, or in use"
    return outcome("empty_trash", (file.home, None), result, reason, detail, target=file.name)
