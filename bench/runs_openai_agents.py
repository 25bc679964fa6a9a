"""The OpenAI Agents SDK as a contender: `SQLiteSession`. Runs in the peers' environment."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import os
from typing import Any

from bench.data import TURN, texts
from bench.serving import seconds, serve


class OpenAIAgents:
    """Sessions in one SQLite file."""

    def __init__(self) -> None:
        self._agents: Any = importlib.import_module("agents.memory.sqlite_session")
        self._path = os.path.join(os.environ["HOME"], "sessions.db")
        self._names = map(str, itertools.count())

    def append_one(self, count: int) -> float:
        """Each message as an item of its own."""
        return self._add([[_item(text)] for text in texts(count)])

    def append_turns(self, turns: int) -> float:
        """Each turn in one call."""
        items = [_item(text) for text in texts(turns * TURN)]
        return self._add([items[at : at + TURN] for at in range(0, len(items), TURN)])

    def _add(self, calls: list[list[dict[str, str]]]) -> float:
        session = self._agents.SQLiteSession(next(self._names), self._path)

        async def run() -> None:
            for items in calls:
                await session.add_items(items)

        try:
            return seconds(lambda: asyncio.run(run()))
        finally:
            session.close()


def _item(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


if __name__ == "__main__":
    serve(OpenAIAgents())
