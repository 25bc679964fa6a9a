"""LangGraph as a contender: `SqliteSaver.put`. Runs in the peers' environment.

A graph puts the whole state into each checkpoint, and reads the last one back. Checkpoints that
hold only the new messages are less than any graph could go on from. Less still are lists of words
in place of the messages that every graph makes of what is said.
"""

from __future__ import annotations

import importlib
import itertools
import os
from typing import Any

from bench.data import TURN, texts
from bench.serving import seconds, serve


class LangGraph:
    """Checkpoints in one SQLite file."""

    def __init__(self) -> None:
        sqlite: Any = importlib.import_module("langgraph.checkpoint.sqlite")
        shapes: Any = importlib.import_module("langgraph.checkpoint.base")
        self._message: Any = importlib.import_module("langchain_core.messages").HumanMessage
        self._empty = shapes.empty_checkpoint
        self._open = sqlite.SqliteSaver.from_conn_string(
            os.path.join(os.environ["HOME"], "checkpoints.db")
        )
        self._saver = self._open.__enter__()
        self._saver.setup()
        self._names = map(str, itertools.count())

    def append_one(self, count: int) -> float:
        """Each message in a checkpoint of its own."""
        return self._put([[said] for said in self._said(count)])

    def append_kept(self, count: int) -> float:
        """Each message in a checkpoint with all before it, as a graph with messages does."""
        said = self._said(count)
        return self._put([said[: at + 1] for at in range(count)])

    def append_turns(self, turns: int) -> float:
        """Each turn in a checkpoint of its own."""
        return self._put(_turns(self._said(turns * TURN)))

    def append_lists(self, turns: int) -> float:
        """The same without messages."""
        return self._put(_turns([["user", text] for text in texts(turns * TURN)]))

    def _said(self, count: int) -> list[Any]:
        return [self._message(text) for text in texts(count)]

    def _put(self, checkpoints: list[list[Any]]) -> float:
        where: Any = {"configurable": {"thread_id": next(self._names), "checkpoint_ns": ""}}

        def run() -> None:
            config = where
            for step, said in enumerate(checkpoints):
                checkpoint = self._empty()
                checkpoint["channel_values"] = {"messages": said}
                config = self._saver.put(config, checkpoint, {"source": "loop", "step": step}, {})

        return seconds(run)


def _turns(said: list[Any]) -> list[list[Any]]:
    return [said[at : at + TURN] for at in range(0, len(said), TURN)]


if __name__ == "__main__":
    serve(LangGraph())
