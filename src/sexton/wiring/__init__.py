"""Where the parts meet: the only module that names concrete classes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import ref

from sexton.core.clock import SystemClock
from sexton.core.session import NATIVE, Session
from sexton.errors import SextonError
from sexton.liveness.process_identity import SystemProcesses, host
from sexton.rules.in_force import RulesInForce
from sexton.rules.rulebook import Rulebook, digest, encode
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring.choosing_ledger import ledger_url, load_settings, user
from sexton.wiring.enrolling import enrol

if TYPE_CHECKING:
    from pathlib import Path

    from sexton.core.content import Content
    from sexton.core.machine_ports import Clock, ProcessTable
    from sexton.core.plan import Outcome, Plan
    from sexton.homes.home_ports import Home, HomeRecord
    from sexton.keeper.explain import Explanation
    from sexton.keeper.keeper import Keeper
    from sexton.keeper.keeper_context import Estate
    from sexton.keeper.swept import Sweep
    from sexton.liveness.membership import Membership
    from sexton.processes.overseer import Overseer
    from sexton.retention.disk_space import Space
    from sexton.retention.garbage import Collection
    from sexton.retention.removal_context import Means
    from sexton.retention.restore import Restored
    from sexton.sessions.agent_worker import AgentWorker
    from sexton.store.ledger import Ledger


def open(url: str | None = None, config: str | Path | None = None) -> Sexton:
    """Open a ledger and put the settings in force.

    Without a URL: `SEXTON_LEDGER`, else the platform's place. Without a config: `SEXTON_CONFIG`,
    else the platform's place, else the defaults.
    """
    settings = load_settings(config, os.environ)
    opened = Sexton(open_ledger(ledger_url(url, os.environ)), settings or Settings())
    if settings is not None:
        try:
            opened.publish()
        except SextonError:
            opened.close()
            raise
    return opened


class Sexton:
    """A ledger and everything that can be done with it."""

    def __init__(
        self,
        ledger: Ledger,
        settings: Settings,
        *,
        clock: Clock | None = None,
        processes: ProcessTable | None = None,
    ) -> None:
        self.ledger = ledger
        self.settings = settings
        self.clock = clock or SystemClock()
        self.processes = processes or SystemProcesses()
        self.rules = RulesInForce(ledger.policies)
        self._keepers: list[tuple[Keeper, threading.Thread, AgentWorker]] = []
        self._sweeper: Keeper | None = None
        self._members: list[ref[Membership]] = []  # a forgotten worker is not kept by us
        self._removing: Means | None = None
        self._attached: dict[HomeSetting, tuple[Home, HomeRecord]] = {}

    def __enter__(self) -> Sexton:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the keepers started here and let go of the ledger."""
        with ExitStack() as then:  # from the last to the first, whatever one of them meets
            then.callback(self.ledger.close)
            for member in filter(None, (known() for known in self._members)):
                then.callback(member.leave)
            for keeper, thread, worker in self._keepers:
                for step in (worker.leave, keeper.close, thread.join, keeper.stop):
                    then.callback(step)
            self._keepers.clear()

    def publish(self) -> None:
        """Put this process's settings in force for every user of the ledger."""
        text = encode(self.settings.rulebook)
        self.ledger.policies.publish(digest(text), text, self.actor, self.clock.now())

    @property
    def actor(self) -> str:
        """Who acts, as the journal names it."""
        return f"{user()}@{host()} pid {os.getpid()}"

    @property
    def content(self) -> Content:
        """What of messages and of programs' output may be shown; the one place that decides it."""
        from sexton.core.content import Content  # noqa: PLC0415  # agents show nothing

        return Content(is_shown=self.settings.serve.messages or not self.ledger.is_shared)

    @cached_property
    def overseer(self) -> Overseer:
        """Who looks after the background processes of sessions."""
        from sexton.wiring.oversight import overseer  # noqa: PLC0415  # few agents have any

        return overseer(self.ledger, self.clock, self.rules)

    def worker(self, kind: str = "agent") -> AgentWorker:
        """Register this process as a holder of sessions; a context manager."""
        registered = enrol(self, kind)
        here = [known for known in self._members if (member := known()) and not member.has_left]
        self._members = [*here, ref(registered.membership)]
        return registered

    def plan(
        self,
        home: str | None = None,
        rules: Rulebook | None = None,
        *,
        gc: Collection | Mapping[str, Any] | bool = False,
    ) -> Plan:
        """What should be done now, and why, under the rules in force or others. Changes nothing.

        With `gc` it is a plan to put the garbage of one home into the trash: as the settings say,
        or with other `empty_hours`, `trivial_days`, `trivial_max` or only one `source`.
        """
        if gc is not False:
            from sexton.wiring.removal_wiring import plan_collection  # noqa: PLC0415

            return plan_collection(self, home, gc)
        from sexton.keeper.propose import survey  # noqa: PLC0415  # agents seldom plan
        from sexton.retention.proposal import with_retention  # noqa: PLC0415

        estate = self.estate()
        return with_retention(estate, survey(estate, home, rules).plan, home, rules)

    def apply(
        self, plan: Plan, receipt: str | None = None, *, observed: bool = False
    ) -> list[Outcome]:
        """Carry out a plan; what came of each action."""
        return list(self.applying(plan, receipt, observed=observed))

    def applying(
        self, plan: Plan, receipt: str | None = None, *, observed: bool = False
    ) -> Iterator[Outcome]:
        """Carry out a plan action by action, as the outcomes are asked for.

        Actions on homes that are only observed are left out unless `observed` allows them.
        """
        from sexton.keeper.apply import apply, new_receipt  # noqa: PLC0415  # agents seldom apply

        return apply(self.estate(), plan, receipt or new_receipt(), observed=observed)

    def undo(self, receipt: str) -> list[Restored]:
        """Bring back what an apply removed, rows and files, and open again what it ended."""
        from sexton.wiring.removal_wiring import undo_all  # noqa: PLC0415  # agents seldom undo

        return undo_all(self, receipt)

    def sweep(self) -> Sweep:
        """Observe, plan and apply once, and do what ended sessions owe, as a keeper does.

        What it heard of workers elsewhere is remembered from one call to the next.
        """
        if self._sweeper is None:
            # Nobody waits for deaths between two calls.
            self._sweeper = self.keeper(self.worker(kind="keeper"), watchful=False)
        return self._sweeper.once()

    def keep(self) -> Keeper:
        """Run a keeper in a thread of this process until `close`."""
        worker = self.worker(kind="keeper")
        keeper = self.keeper(worker)
        thread = threading.Thread(target=keeper.run, name="sexton-keeper", daemon=True)
        thread.start()
        self._keepers.append((keeper, thread, worker))
        return keeper

    def keep_until(self, started: Callable[[Keeper], None], tell: Callable[[Sweep], None]) -> None:
        """Run a keeper in this thread until somebody stops it."""
        with self.worker(kind="keeper") as worker, closing(self.keeper(worker)) as keeper:
            started(keeper)
            keeper.run(tell)

    def why(self, session: str) -> Explanation:
        """Why a session is as it is, named `[HOME/]ID`."""
        from sexton.keeper.explain import explain  # noqa: PLC0415  # agents seldom ask

        return explain(self.estate(), self.find(session))

    def find(self, name: str) -> Session:
        """The session that `[HOME/]ID` or the beginning of an id means.

        An error lists the candidates if it means several.
        """
        from sexton.wiring.naming import find_session  # noqa: PLC0415  # agents hold their own

        return find_session(self.ledger.index, name)

    def estate(self, extra: Sequence[HomeSetting] = (), *, listed: bool = True) -> Estate:
        """What the engine works with: the homes of the settings, unless told not to, and others."""
        from sexton.keeper.keeper_context import Estate  # noqa: PLC0415  # agents seldom need it

        homes: dict[str, Home] = {NATIVE: self._native()}
        records: dict[str, HomeRecord] = {}
        closed: dict[str, SextonError] = {}
        for setting in (*(self.settings.homes if listed else ()), *extra):
            try:
                home, record = self.attach(setting)
            except SextonError as trouble:
                if setting in extra:
                    raise
                closed[setting.name] = trouble
            else:
                homes[record.name] = home
                records[record.name] = record
        return Estate(
            ledger=self.ledger,
            clock=self.clock,
            processes=self.processes,
            rules=self.rules,
            homes=homes,
            records=records,
            closed=closed,
            actor=self.actor,
            overseer=self.overseer,
            removing=self._means(records, homes),
            space=self._space,
            budget=self.settings.disk,
            keep_journal=self.settings.keeper.keep_journal,
            content=self.content,
        )

    def attach(self, setting: HomeSetting) -> tuple[Home, HomeRecord]:
        """Open a foreign home and make the ledger know it."""
        known = self._attached.get(setting)
        if known is None or not self._is_known(known[1]):
            # Agents have no foreign homes, so they do not pay for their import.
            from sexton.wiring.attaching import attach  # noqa: PLC0415

            self._attached[setting] = attach(self.ledger, self.clock, setting)
        return self._attached[setting]

    def _is_known(self, record: HomeRecord) -> bool:
        """Whether the ledger still has the home; one that was set back may not."""
        place = (record.host, record.path)
        return any((each.host, each.path) == place for each in self.ledger.homes.all())

    def keeper(self, worker: AgentWorker, *, watchful: bool = True) -> Keeper:
        """A keeper that is not running yet; whoever asks for it closes it."""
        from sexton.wiring.keeper_wiring import keeper  # noqa: PLC0415  # agents seldom keep

        return keeper(self, worker, watchful=watchful)

    def _means(self, records: Mapping[str, HomeRecord], homes: Mapping[str, Home]) -> Means:
        # Agents remove nothing.
        from sexton.wiring.home_files import with_files  # noqa: PLC0415
        from sexton.wiring.removal_wiring import means  # noqa: PLC0415

        if self._removing is None:
            self._removing = means(self)
        return with_files(self._removing, records, homes)

    def _space(self) -> Space:
        from sexton.retention.disk_space import space_at  # noqa: PLC0415
        from sexton.wiring.home_files import beside  # noqa: PLC0415  # agents do not ask

        return space_at(self.settings.archive.directory or beside(self.ledger, "vault"))

    def _native(self) -> Home:
        from sexton.homes.native import NativeHome  # noqa: PLC0415  # agents go without a home

        return NativeHome(self.ledger)
