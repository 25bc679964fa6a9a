"""Who is told what happened, by a keeper's own settings?"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from sexton.notifications.channels import NotifyPlan, channels
from sexton.notifications.model import Channel, Event
from sexton.notifications.policy import Interest
from sexton.notifications.sender import Messenger
from sexton.wiring.home_channels import home_channels

if TYPE_CHECKING:
    from sexton.wiring import Sexton


def messenger(opened: Sexton, worker: Callable[[], str]) -> Messenger | None:
    """One that tells what the settings ask for, where they say; None if they say nowhere."""
    told, clock = opened.settings.notify, opened.clock
    own = home_channels(opened, os.environ)
    homes = {name: f"hermes-{name}" for name in own}
    plan = NotifyPlan(webhook=told.webhook, secret_env=told.secret_env, urls_env=told.urls_env)
    interest = Interest(events=frozenset(map(Event, told.events)), held_after=told.held_after)
    found: dict[str, Channel] = {homes[name]: channel for name, channel in own.items()}
    found |= channels(plan, clock, os.environ)
    return Messenger(opened.ledger, clock, found, worker, interest, homes) if found else None
