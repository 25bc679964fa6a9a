"""A program for Hermes's interpreter in which turns of its sessions follow one another quickly.

Hooks are called as Hermes calls them, its rows are those of its own library, and no model is asked.
"""

TURNS = """
import sys
from datetime import UTC, datetime, timedelta

import apsw
from hermes_state import SessionDB

from sexton.integrations.hermes_plugin.guests import Guests
from sexton.integrations.hermes_plugin.trying import REST, Trying
from sexton.integrations.hermes_plugin.plugin_turns import Turns
from sexton.integrations.hermes_plugin.wiring import _come, _usual
from sexton.testing import ManualClock

clock = ManualClock()
guests = Guests(_come, lambda: datetime.now(UTC))
trying = Trying(clock, guests.part)
turns = Turns(guests, trying, _usual)
home = SessionDB()


def turn(name, *ids, platform="cli", tools=0, compress=None):
    '''One turn, which may be compressed after its first call of the model; how often it asked.'''
    asked = []
    for place, id in enumerate(ids):
        if place == 1 and compress:
            compress()
        told = {"session_id": id, "turn_id": name, "task_id": name, "platform": platform}
        call = {"api_request_id": f"{name}{place}", "model": "m"}
        if not place:
            turns.begin(**told)
        turns.around_model(request={"messages": []}, next_call=asked.append, **call, **told)
        if len(asked) > place:
            turns.after_model(usage={"input_tokens": 100, "output_tokens": 5}, **call)
        for number in range(tools):
            use = {"tool_name": "terminal", "tool_call_id": f"{name}{place}{number}"}
            if turns.before_tool(args={"command": use["tool_call_id"]}, **use, **told) is None:
                turns.after_tool(result="no", status="error", **use, **told)
    turns.end(ids[-1], name)
    return len(asked)
"""
