"""What tests of an agent that embeds Sexton use."""

from sexton.testing.manual_clock import START, ManualClock

__all__ = ["START", "ManualClock"]
