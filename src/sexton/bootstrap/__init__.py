"""Where the parts meet: the only module that names concrete classes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from types import TracebackType
from typing import TYPE_CHECKING

from sexton.agent.desk import Desk
from sexton.agent.membership import Membership
from sexton.agent.worker import AgentWorker
from sexton.bootstrap.finding import ledger_url, load_settings
from sexton.errors import HomeNotFound, SessionAmbiguous, SessionNotFound, SextonError
from sexton.ledger.in_force import RulesInForce
from sexton.ledger.opening import open_ledger
from sexton.model.message import Message
from sexton.model.session import NATIVE, Session, check_name
from sexton.policies.rulebook import Rulebook, digest, encode
from sexton.settings.values import HomeSetting, Settings
from sexton.system.clock import SystemClock
from sexton.system.processes import SystemProcesses, host

if TYPE_CHECKING:
    from pathlib import Path

    from sexton.engine.estate import Estate
    from sexton.engine.explain import Explanation
    from sexton.engine.finalize import Runner
    from sexton.engine.keep import Keeper, Sweep
    from sexton.engine.notify import Messenger
    from sexton.model.plan import Outcome, Plan
    from sexton.ports import Clock, Home, HomeRecord, Ledger, ProcessTable


SHORTEST = 4
"""So many characters of an id are enough to name a session, if no other begins like that."""
CANDIDATES = 10


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
        self._workers: list[AgentWorker] = []
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
        for keeper, thread, worker in self._keepers:
            keeper.stop()
            thread.join()
            keeper.close()
            worker.leave()
        self._keepers.clear()
        for each in self._workers:
            each.leave()
        self.ledger.close()

    def publish(self) -> None:
        """Put this process's settings in force for every user of the ledger."""
        text = encode(self.settings.rulebook)
        self.ledger.policies.publish(digest(text), text, self.actor, self.clock.now())

    @property
    def actor(self) -> str:
        """Who acts, as the journal names it."""
        return f"{_user()}@{host()} pid {os.getpid()}"

    def worker(self, kind: str = "agent") -> AgentWorker:
        """Register this process as a holder of sessions; a context manager."""
        membership = Membership(
            self.ledger,
            self.clock,
            self.processes,
            lambda: self.rules.known.rules.liveness,
            check_name("worker kind", kind),
        )
        desk = Desk(
            ledger=self.ledger,
            clock=self.clock,
            processes=self.processes,
            rules=self.rules,
            membership=membership,
            actor=self.actor,
        )
        registered = AgentWorker(desk)
        self._workers = [each for each in self._workers if each.is_open] + [registered]
        return registered

    def plan(self, home: str | None = None, rules: Rulebook | None = None) -> Plan:
        """What should be done now, and why, under the rules in force or others. Changes nothing."""
        from sexton.engine.plan import survey  # noqa: PLC0415  # agents seldom plan

        return survey(self.estate(), home, rules).plan

    def apply(self, plan: Plan, receipt: str | None = None) -> list[Outcome]:
        """Carry out a plan; what came of each action."""
        return list(self.applying(plan, receipt))

    def applying(self, plan: Plan, receipt: str | None = None) -> Iterator[Outcome]:
        """Carry out a plan action by action, as the outcomes are asked for."""
        from sexton.engine.apply import apply, new_receipt  # noqa: PLC0415  # agents seldom apply

        return apply(self.estate(), plan, receipt or new_receipt())

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
        from sexton.engine.explain import explain  # noqa: PLC0415  # agents seldom ask

        return explain(self.estate(), self.find(session))

    def find(self, name: str) -> Session:
        """The session that `[HOME/]ID` or the beginning of an id means.

        An error lists the candidates if it means several.
        """
        check_name("session", name)
        home, slash, id = name.partition("/")
        found = self.ledger.index.find(home, id) if slash else []
        found = found or self.ledger.index.find(None, name)
        if not found and len(name) >= SHORTEST:
            found = self.ledger.index.begins_with(name, CANDIDATES)
        if not found:
            raise SessionNotFound(f"there is no session '{name}'")
        if len(found) > 1:
            names = ", ".join(f"{each.home}/{each.id}" for each in found)
            raise SessionAmbiguous(f"'{name}' means several sessions: {names}")
        return found[0]

    def estate(self, extra: Sequence[HomeSetting] = ()) -> Estate:
        """What the engine works with: the homes of the settings, and further ones."""
        from sexton.engine.estate import Estate  # noqa: PLC0415  # agents seldom need it

        homes: dict[str, Home] = {NATIVE: self._native()}
        records: dict[str, HomeRecord] = {}
        unreachable: list[str] = []
        for setting in (*self.settings.homes, *extra):
            try:
                home, record = self.attach(setting)
            except SextonError as trouble:
                if setting in extra:
                    raise
                unreachable.append(f"{setting.name}: {trouble}")
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
            unreachable=tuple(unreachable),
            actor=self.actor,
        )

    def attach(self, setting: HomeSetting) -> tuple[Home, HomeRecord]:
        """Open a foreign home and make the ledger know it."""
        # Agents have no foreign homes, so they do not pay for their import.
        from pathlib import Path  # noqa: PLC0415

        from sexton.homes.hermes.home import HermesHome  # noqa: PLC0415
        from sexton.system.zone import local_zone  # noqa: PLC0415

        if setting not in self._attached:
            path = Path(setting.path).expanduser().resolve()
            HermesHome(path, setting.name, clock=self.clock)  # refuses what is no home first
            record = self.ledger.homes.attach(
                setting.name, setting.kind, str(path), host(), setting.act
            )
            zone = local_zone(os.environ)
            home = HermesHome(path, record.name, setting.act, clock=self.clock, zone=zone)
            self._attached[setting] = (home, record)
        return self._attached[setting]

    def keeper(self, worker: AgentWorker, *, watchful: bool = True) -> Keeper:
        """A keeper that is not running yet; whoever asks for it closes it."""
        # Agents seldom keep.
        from sexton.engine.keep import Keeper  # noqa: PLC0415
        from sexton.system.deaths import DeathWatch  # noqa: PLC0415

        every = self.settings.keeper.sweep_every.total_seconds()
        deaths = DeathWatch() if watchful and hasattr(os, "pidfd_open") else None
        runner, messenger = self._runner(worker), self._messenger(worker)
        return Keeper(self.estate, lambda: worker.id, every, deaths, runner, messenger)

    def _messenger(self, worker: AgentWorker) -> Messenger | None:
        """Who tells people what happened, if the settings say where."""
        if not self.settings.notify.has_target:
            return None
        from sexton.bootstrap.notices import messenger  # noqa: PLC0415  # agents tell nobody

        return messenger(self.ledger, self.settings.notify, self.clock, lambda: worker.id)

    def _native(self) -> Home:
        from sexton.homes.native import NativeHome  # noqa: PLC0415  # agents go without a home

        return NativeHome(self.ledger)

    def _transcript(self, session: Session, since: int, through: int) -> Iterator[Message]:
        home = self.estate().homes.get(session.home)
        if home is None:
            raise HomeNotFound(f"the home '{session.home}' is not attached here")
        return home.transcript(session, since, through)

    def _runner(self, worker: AgentWorker) -> Runner | None:
        """Who does end-of-session work here, if the settings name any."""
        if not self.settings.finalizers:
            return None
        from sexton.bootstrap.duties import duties  # noqa: PLC0415  # agents seldom finalize
        from sexton.engine.finalize import Runner  # noqa: PLC0415

        ready = duties(self.settings, self.clock, os.environ)
        most = self.settings.keeper.finalizers_at_once
        return Runner(self.ledger, self.clock, ready, lambda: worker.id, self._transcript, most)


def _user() -> str:
    try:
        import getpass  # noqa: PLC0415  # few ask who acts

        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
