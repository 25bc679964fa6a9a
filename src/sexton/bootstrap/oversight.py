"""Who looks after the background processes of sessions?"""

from __future__ import annotations

from sexton.engine.processes import Overseer
from sexton.ledger.in_force import RulesInForce
from sexton.ports import Clock, Ledger
from sexton.system.clock import SystemClock
from sexton.system.sampling import Sampler
from sexton.system.stopping import Stopper


def overseer(ledger: Ledger, clock: Clock, rules: RulesInForce) -> Overseer:
    """One for a ledger. What real processes use and how they end takes real time."""
    real = SystemClock()
    return Overseer(ledger.registry, Sampler(real), Stopper(real), clock, lambda: rules(None).rules)
