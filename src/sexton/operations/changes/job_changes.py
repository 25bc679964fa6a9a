"""`retry_finalizer`, `discard_finalizer` and `backfill_finalizer`: end-of-session jobs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from sexton.core.plan import Reason, Result
from sexton.core.wording import counted, number, size
from sexton.errors import InputInvalid
from sexton.finalizers.model import Backlog, Finalization, FinalizationState, Wanted
from sexton.operations import said
from sexton.operations.asker import Asker
from sexton.operations.questions.job_questions import each_job, wanted_jobs
from sexton.operations.verb_proposal import Done, Draft, Going, Proposal, Step, outcome, proposed
from sexton.settings.settings_values import FinalizerSetting
from sexton.spending.budgets import shown
from sexton.spending.model import Unit
from sexton.store.journal import Entry
from sexton.wiring.prospects import calls_of

CHUNK = 500
DECIDABLE: Final[Mapping[str, tuple[FinalizationState, ...]]] = {
    "retry": (FinalizationState.DEAD,),
    "discard": (FinalizationState.PENDING, FinalizationState.DEAD),
}
"""The states in which a job may be retried or discarded."""
_LEADS_TO = {"retry": FinalizationState.PENDING, "discard": FinalizationState.DONE}
_PAST = {"retry": "retried", "discard": "discarded"}
_NOW = {"retry": "will be tried again", "discard": "counts as done"}
_SAYS = {
    "retry": "Its tries are counted from the start; a keeper takes it on at its next look.",
    "discard": "Nothing is carried out for it, and its session is free to be archived.",
}
_UNDOING = {
    "retry": "What fails again is a dead letter again.",
    "discard": "This cannot be undone.",
}


def retry_finalizer(
    asker: Asker,
    *,
    job: int | None = None,
    session: str | None = None,
    finalizer: str | None = None,
    all: bool = False,
) -> Proposal:
    """Try jobs again that were given up.

    Name one `job`, those of a `session` or a `finalizer`, or `all`. Their tries are counted from
    the start.
    """
    return _decide(asker, "retry", job, session, finalizer, everything=all)


def discard_finalizer(
    asker: Asker,
    *,
    job: int | None = None,
    session: str | None = None,
    finalizer: str | None = None,
    all: bool = False,
) -> Proposal:
    """Count jobs as done that are not to be done.

    Nothing is carried out for them, and their sessions are free to be archived. What is running is
    left alone. Name one `job`, those of a `session` or a `finalizer`, or `all`.
    """
    return _decide(asker, "discard", job, session, finalizer, everything=all)


def backfill_finalizer(
    asker: Asker, *, finalizer: str, since: timedelta = timedelta(days=365)
) -> Proposal:
    """Let sessions owe a finalizer's job that ended before there was one.

    Shows how many there are and what their jobs would cost. `since` is how far back to look.
    """
    house, setting = asker.house, _setting(asker, finalizer)
    start = house.clock.now() - since
    backlog = house.ledger.backfill.estimate(finalizer, start)
    reason = Reason("asked", asker.words)
    many = counted(backlog.sessions, "session")

    def work(receipt: str, going: Going) -> Done:
        total = 0
        while not going.stopping():  # in chunks, so that nobody who writes waits long
            now = house.clock.now()
            added = house.ledger.backfill.owe(finalizer, start, CHUNK, now)
            if not added:
                break
            total += added
        detail = f"{counted(total, 'session')} owe it now; a keeper does the work"
        entry = _entry(asker, receipt, "backfill_finalizer", (None, None), f"{finalizer}: {detail}")
        if total:
            house.ledger.journal.write([entry], house.clock.now())
        result = Result.DONE if total else Result.SKIPPED
        told = outcome("backfill_finalizer", (None, None), result, reason, detail, target=finalizer)
        return Done(outcomes=[told], more={"owed": total})

    return proposed(
        asker,
        Draft(
            verb="backfill_finalizer",
            title=f"Backfill {finalizer}",
            says=f"{many} ended without it: {_cost(asker, setting, backlog)}",
            home=None,
            session=None,
            target=finalizer,
            reason=reason,
            steps=(Step(verb="owe", what=many, why=_cost(asker, setting, backlog)),)
            if backlog.sessions
            else (),
            undoing="Jobs that have not begun can be discarded.",
            work=work,
        ),
    )


def _decide(
    asker: Asker,
    verb: str,
    job: int | None,
    session: str | None,
    finalizer: str | None,
    *,
    everything: bool,
) -> Proposal:
    found = _meant(asker, verb, job, session, finalizer, everything=everything)
    action, reason = f"{verb}_finalizer", Reason("asked", asker.words)
    only = found[0] if len(found) == 1 else None

    def work(receipt: str, going: Going) -> Done:
        told = []
        for each in found:
            if going.stopping():
                break
            told.append(_decided(asker, each, receipt, verb))
            going.tell(told[-1])
        return Done(outcomes=told, left=len(found) - len(told))

    return proposed(
        asker,
        Draft(
            verb=action,
            title=f"{verb.capitalize()} {counted(len(found), 'job')}",
            says=_SAYS[verb],
            home=only.home if only else None,
            session=only.session if only else None,
            target=only.key if only else counted(len(found), "job"),
            reason=reason,
            steps=[
                Step(
                    verb=verb,
                    what=f"{each.finalizer} for {each.home}/{each.session}",
                    why=_standing(asker, each),
                )
                for each in found
            ],
            undoing=_UNDOING[verb],
            work=work,
        ),
    )


def _meant(
    asker: Asker,
    verb: str,
    job: int | None,
    session: str | None,
    finalizer: str | None,
    *,
    everything: bool,
) -> list[Finalization]:
    """The jobs that are named, each in a state in which the verb makes sense."""
    if job is not None:
        page = asker.house.ledger.finalizing.page(Wanted(), job + 1, 1)
        found = next((each for each in page if each.ref == job), None)
        if found is None:
            raise InputInvalid(f"there is no job {job}", hint="GET /v1/finalizers lists them.")
        if found.state not in DECIDABLE[verb]:
            states = " or ".join(DECIDABLE[verb])
            raise InputInvalid(
                f"{found.finalizer} of {found.home}/{found.session} is {found.state}",
                hint=f"A job that is {states} can be {_PAST[verb]}.",
            )
        return [found]
    if not (session or finalizer or everything):
        raise InputInvalid(
            "nothing says which jobs are meant",
            hint="Name a job, a session or a finalizer, or say that all are meant.",
        )
    return [
        each
        for state in DECIDABLE[verb]
        for each in each_job(asker, wanted_jobs(asker, session, finalizer, state))
    ]


def _decided(asker: Asker, each: Finalization, receipt: str, verb: str) -> said.Outcome:
    """Decide about one job; one that moved on meanwhile is left alone."""
    house, what, action = asker.house, (each.home, each.session), f"{verb}_finalizer"
    words = f"{each.finalizer} through {each.through}"
    entry = _entry(asker, receipt, action, what, words)
    is_done = house.ledger.finalizing.decide(each.ref, _LEADS_TO[verb], house.clock.now(), entry)
    result = Result.DONE if is_done else Result.SKIPPED
    detail = _NOW[verb] if is_done else "it moved on meanwhile"
    return outcome(action, what, result, Reason("asked", asker.words), detail, target=words)


def _standing(asker: Asker, each: Finalization) -> str:
    if each.state is not FinalizationState.DEAD:
        return f"it is {each.state}"
    tries = counted(each.attempts, "try", "tries")
    return f"given up after {tries}: {asker.house.content.job(each).last_error}"


def _entry(
    asker: Asker, receipt: str, action: str, what: tuple[str | None, str | None], words: str
) -> Entry:
    return Entry(
        actor=asker.house.actor,
        receipt=receipt,
        home=what[0],
        session=what[1],
        action=action,
        result=Result.DONE,
        reason=Reason("asked", f"{asker.words}: {words}"),
    )


def _setting(asker: Asker, name: str) -> FinalizerSetting:
    for setting in asker.house.settings.finalizers:
        if setting.name == name:
            return setting
    known = ", ".join(each.name for each in asker.house.settings.finalizers) or "none"
    raise InputInvalid(f"the settings have no finalizer '{name}'", hint=f"They have: {known}.")


def _cost(asker: Asker, setting: FinalizerSetting, backlog: Backlog) -> str:
    text = f"{counted(backlog.messages, 'message')}, {size(backlog.bytes)} of text"
    prices = asker.house.rules(None).rules.spend.prices
    model = calls_of(setting, backlog.sessions, backlog.bytes, prices)
    if model is None:
        return f"{text}, {counted(backlog.sessions, 'run')}"
    asked = f"{text}, about {number(model.tokens)} tokens in about {counted(model.calls, 'call')}"
    micros = model.cost_micros
    return asked if micros is None else f"{asked}, about {shown(Unit.USD, micros)}"
