"""Who is told what happened, by a keeper's own settings?"""

from __future__ import annotations

import os
from collections.abc import Callable

from sexton.engine.notify import Messenger
from sexton.model.notice import Event
from sexton.policies.notifying import Interest
from sexton.ports import Clock, Ledger
from sexton.settings.values import NotifySetting
from sexton.system.notify import NotifyPlan, channels


def messenger(
    ledger: Ledger, told: NotifySetting, clock: Clock, worker: Callable[[], str]
) -> Messenger:
    """One that tells what the settings ask for, where they say."""
    plan = NotifyPlan(webhook=told.webhook, secret_env=told.secret_env, urls_env=told.urls_env)
    interest = Interest(events=frozenset(map(Event, told.events)), held_after=told.held_after)
    return Messenger(ledger, clock, channels(plan, clock, os.environ), worker, interest)
