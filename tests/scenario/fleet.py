"""Several machines in one process: scripted process tables, a clock each, one ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sexton.core.session import Session
from sexton.keeper.keeper import Keeper
from sexton.keeper.swept import Sweep
from sexton.liveness.evidence import Sight
from sexton.liveness.model import Identity
from sexton.liveness.policy import LivenessPolicy
from sexton.resets.policy import Mode, ResetPolicy
from sexton.rules.rulebook import Rulebook
from sexton.sessions.agent_worker import AgentWorker
from sexton.settings.settings_values import Settings
from sexton.store.ledger import Ledger
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.wiring import Sexton

INTERVAL = 60.0
NEVER = ResetPolicy(mode=Mode.NONE)


class Machine:
    """A host with a boot id, on which every worker is a process of its own."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.boot = 1
        self.gone: set[int] = set()
        self._last_pid = 100

    def myself(self) -> Identity:
        self._last_pid += 1
        return Identity(
            host=self.host, boot_id=f"boot {self.boot}", pid=self._last_pid, started=self._last_pid
        )

    def look(self, identity: Identity) -> Sight:
        if identity.host != self.host:
            return Sight.ELSEWHERE
        if identity.boot_id != f"boot {self.boot}":
            return Sight.REBOOTED
        return Sight.GONE if identity.pid in self.gone else Sight.PRESENT


class Site:
    """A machine with its clock and its Sexton; `dies` is all that a SIGKILL leaves of a worker."""

    def __init__(self, url: str, host: str, liveness: LivenessPolicy | None = None) -> None:
        self.clock = ManualClock()
        self.machine = Machine(host)
        # Beats come from the test alone; the threads of scripted workers would raise the dead.
        quiet = replace(liveness or LivenessPolicy(), beat_every=timedelta(days=1))
        rules = Rulebook(reset=NEVER, liveness=quiet)
        settings = Settings(rulebook=rules)
        self.house = Sexton(open_ledger(url), settings, clock=self.clock, processes=self.machine)
        self.house.publish()
        self.house.rules(None)
        self._keepers: dict[str, Keeper] = {}

    @property
    def ledger(self) -> Ledger:
        return self.house.ledger

    def dies(self, worker: AgentWorker) -> None:
        """The worker's process is gone without a word."""
        self.machine.gone.add(self.pid(worker.id))

    def pid(self, worker: str) -> int:
        [found] = [each for each in self.ledger.reaping.suspects() if each.id == worker]
        return found.identity.pid

    def keeper(self, name: str = "the keeper") -> Keeper:
        """A keeper of this machine that remembers from one sweep to the next."""
        if name not in self._keepers:
            own = self.house.worker(kind="keeper")
            self._keepers[name] = Keeper(self.house.estate, lambda: own.id, INTERVAL)
        return self._keepers[name]

    def sweep(self) -> Sweep:
        return self.keeper().sweep()

    def find(self, id: str) -> Session:
        return self.house.find(id)

    def close(self) -> None:
        self.house.close()


def beat(*workers: AgentWorker) -> None:
    """Each worker's thread gets its turn."""
    for worker in workers:
        worker._desk.membership.renew()


def pass_time(
    keeper: Site, seconds: float, *alive: AgentWorker, sites: tuple[Site, ...] = ()
) -> list[Sweep]:
    """Let time pass on all machines, with beats every 15 s and a sweep every 30 s."""
    sweeps = []
    for step in range(1, int(seconds / 15) + 1):
        for site in {keeper, *sites}:
            site.clock.advance(timedelta(seconds=15))
        beat(*alive)
        if step % 2 == 0:
            sweeps.append(keeper.sweep())
    return sweeps


def codes(*sweeps: Sweep) -> list[str]:
    """What the sweeps did, by reason."""
    return [
        outcome.action.reason.code
        for sweep in sweeps
        for outcome in sweep.outcomes
        if outcome.result == "done"
    ]
