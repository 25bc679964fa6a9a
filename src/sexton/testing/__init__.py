"""What tests of an agent that embeds Sexton use."""

from sexton.testing.manual_clock import START, ManualClock
from sexton.testing.throw_away import house

__all__ = ["START", "ManualClock", "house"]
