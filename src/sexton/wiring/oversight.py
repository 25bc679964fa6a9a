"""Who looks after the background processes of sessions?"""

from __future__ import annotations

from sexton.core.clock import SystemClock
from sexton.core.machine_ports import Clock
from sexton.processes.overseer import Overseer
from sexton.processes.sampling import Sampler
from sexton.processes.stopping import Stopper
from sexton.rules.in_force import RulesInForce
from sexton.store.ledger import Ledger


def overseer(ledger: Ledger, clock: Clock, rules: RulesInForce) -> Overseer:
    """One for a ledger. What real processes use and how they end takes real time."""
    real = SystemClock()
    return Overseer(ledger.registry, Sampler(real), Stopper(real), clock, lambda: rules(None).rules)
