"""What is wrong with a foreign home, and what would mend it?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sexton.core.record import replace
from sexton.core.session import State
from sexton.core.zone import local_zone
from sexton.homes.hermes.condition import Condition, Machine, condition_of
from sexton.homes.hermes.config_files import Configuration, mapping, read_configuration
from sexton.homes.hermes.findings.all import config_findings, home_findings
from sexton.homes.hermes.findings.finding import Finding, Names, Rules, ranked
from sexton.homes.hermes.findings.sessions_findings import Totals
from sexton.homes.hermes.findings.sizes import size_findings
from sexton.homes.hermes.folder import FileSeen
from sexton.homes.hermes.generations import usual_mode
from sexton.homes.hermes.hermes_background import as_process
from sexton.homes.hermes.inherited import OwnRules, limits
from sexton.homes.hermes.installed import find_installed
from sexton.homes.hermes.running import Background
from sexton.homes.home_ports import AGES, Cohort, HomeRecord
from sexton.liveness.standing import open_sessions
from sexton.processes.process_table import begun_at
from sexton.resets.policy import ResetPolicy
from sexton.rules.rulebook import decode
from sexton.settings.settings_values import HomeSetting
from sexton.spending.budget_standing import LOOKED_AT
from sexton.spending.model import Unit
from sexton.spending.policy import SpendRules
from sexton.spending.price_table import listed_tariff
from sexton.spending.pricing import UNPRICED, own_tariff

if TYPE_CHECKING:
    from sexton.wiring import Sexton

SELF_OWNED = frozenset({
    "cli", "tui", "desktop", "webui", "acp", "cron", "subagent", "webhook", "tool", "unknown",
    "curator", "local", "batch", "kanban",
})  # fmt: skip
"""Where sessions come from that end with their process; all others are conversations."""
SILENT = 3
"""Open sessions that have reached so many of AGES are told of."""
assert AGES[SILENT - 1].days == 7


def diagnose(
    opened: Sexton,
    record: HomeRecord,
    cohorts: Iterable[Cohort],
    stand: Mapping[str, int],
    files: tuple[FileSeen, ...] | None = None,
) -> tuple[Finding, ...]:
    """Everything that is wrong with a home of this machine; nothing is changed by asking.

    `files` are those of the home if the caller has listed them already.
    """
    assert record.path is not None
    home, zone = Path(record.path), local_zone(os.environ)
    names = Names(home=record.name, path=home, usual=_is_usual(home, os.environ))
    said = read_configuration(home)
    seen = condition_of(home, opened.clock, Machine(opened.processes, begun_at), zone, files)
    seen = replace(
        seen,
        processes=_judged(opened, record, seen.processes),
        # Such an error quotes what was said to a model, or what that answered.
        compressions=tuple(
            each._replace(error=opened.content.quote(each.error)) for each in seen.compressions
        ),
    )
    own = OwnRules(home, zone, _limits(opened, home)).text(usual_mode(seen.storage.schema))
    back = _brought_back(opened, record, seen)
    ours = opened.rules(None).rules
    blind = _unpriced(opened, record, said, ours.spend)
    rules = Rules(own=decode(own), ours=ours, back=back, unpriced=blind)
    known = find_installed(home, os.environ)
    still_open = open_sessions(opened.ledger, [record.name])
    counts = totals(cohorts, stand, served=seen.gateway is not None)
    return ranked(
        (
            *home_findings(seen, said, counts, rules, names),
            *config_findings(said, seen.storage.schema, known, names),
            *size_findings(still_open, rules.own, names, opened.clock.now()),
        )
    )


def _limits(opened: Sexton, home: Path) -> ResetPolicy:
    """What bounds the conversations of a home, by its settings or by default."""
    listed = (each for each in opened.settings.homes if each.path.expanduser().resolve() == home)
    setting = next(listed, HomeSetting(path=home, name=""))
    return limits(setting.max_messages, setting.max_bytes)


def _judged(
    opened: Sexton, record: HomeRecord, found: Sequence[Background]
) -> tuple[Background, ...]:
    """The home's processes with what they do, judged as everywhere else."""
    known = {
        each.pid: as_process(each, record.name, described.identity)
        for each in found
        if (described := opened.overseer.describe(each.pid)) is not None
    }
    judged = opened.overseer.judged(list(known.values()))
    doing = {pid: judged[process.ref].doing for pid, process in known.items()}
    return tuple(each._replace(doing=doing.get(each.pid, each.doing)) for each in found)


def _brought_back(opened: Sexton, record: HomeRecord, seen: Condition) -> frozenset[str]:
    """The names in files of sessions that were brought back lately: an apply leaves them alone."""
    ids = {
        owner: seen.owners[owner].id if owner in seen.owners else owner
        for owner in {each.owner for each in seen.files if each.owner is not None}
    }
    since = opened.clock.now() - opened.settings.trash.grace
    back = opened.ledger.retained.brought_back(record.name, sorted(ids.values()), since)
    return frozenset(owner for owner, id in ids.items() if id in back)


def _unpriced(
    opened: Sexton, record: HomeRecord, said: Configuration, spend: SpendRules
) -> frozenset[str]:
    """The models of a home whose price is unknown, where a budget counts money.

    Whoever asked one says so in the journal; the one of the configuration may not have been asked.
    """
    if spend.prices.unknown is not None or all(each.unit is not Unit.USD for each in spend.budgets):
        return frozenset()
    usual = mapping(said.config.values.get("model")).get("default")
    asked = {usual} if isinstance(usual, str) and usual else set()
    unknown = {model for model in asked if listed_tariff(model) is None}
    entries = opened.ledger.journal.page(None, None, None, LOOKED_AT)
    codes = (each.reason.code.partition(":") for each in entries if each.home == record.name)
    noted = {model for code, _, model in codes if code == UNPRICED}
    return frozenset(each for each in unknown | noted if own_tariff(spend.prices, each) is None)


def totals(cohorts: Iterable[Cohort], stand: Mapping[str, int], *, served: bool) -> Totals:
    """The sessions of a home in the numbers that findings are made of.

    Conversations that wait for their next message are nobody's damage: while a gateway serves the
    home they count as live, without one as unproven.
    """
    found = list(cohorts)
    still_open = [each for each in found if each.state is State.OPEN]
    own = [each for each in still_open if each.source in SELF_OWNED]
    waiting = sum(each.sessions for each in still_open) - sum(each.sessions for each in own)
    silent = sum(each.sessions for each in own if (each.age or 0) >= SILENT)
    unproven = stand.get("unproven", 0)
    in_doubt = max(0, unproven - (0 if served else waiting))
    return Totals(
        sessions=sum(each.sessions for each in found),
        open=sum(each.sessions for each in still_open),
        leaked=stand.get("leaked", 0),
        unproven=unproven,
        silent=min(silent, in_doubt),
        cron=sum(each.sessions for each in found if each.source == "cron"),
        api=sum(each.sessions for each in still_open if each.source == "api_server"),
    )


def _is_usual(home: Path, environ: Mapping[str, str]) -> bool:
    """Whether a user's Hermes works on that home without being told."""
    named = environ.get("HERMES_HOME", "").strip()
    usual = Path(named) if named else Path(environ.get("HOME", "~"), ".hermes")
    try:
        return usual.expanduser().resolve() == home
    except (OSError, RuntimeError):
        return False
