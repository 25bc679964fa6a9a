"""How does a contender do as it is told? Runs in every environment, so it needs Python only.

One JSON request per line comes in: the job and its values. One JSON answer per line goes out.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any


def serve(contender: object) -> None:
    """Carry out requests, each named after a method, until there are no more."""
    # What a contender prints by itself must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(_answer(contender, **request)) + "\n")
        answers.flush()


def _answer(contender: object, job: str, values: Mapping[str, Any]) -> dict[str, Any]:
    gc.collect()
    try:
        return {"result": getattr(contender, job)(**values)}
    except BaseException:  # noqa: BLE001  # raised again in the process that asked
        return {"error": traceback.format_exc()}


def seconds(work: Callable[[], Any]) -> float:
    """How long the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def seconds_each(work: Callable[[], Any], times: int) -> float:
    """How long the work usually takes, once it is warm."""
    work()
    return median(seconds(work) for _ in range(times))


def seconds_together(writers: Sequence[Callable[[], Any]]) -> float:
    """How long it takes until every writer, each in a thread of its own, has finished."""
    line = threading.Barrier(len(writers) + 1)
    problems: list[BaseException] = []

    def run(writer: Callable[[], Any]) -> None:
        line.wait()
        try:
            writer()
        except BaseException as problem:  # noqa: BLE001  # raised again below
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(writer,)) for writer in writers]
    for thread in threads:
        thread.start()
    line.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - start
    if problems:
        raise problems[0]
    return taken


def bytes_below(place: str) -> int:
    """How much a directory holds."""
    return sum(
        os.path.getsize(os.path.join(folder, name))
        for folder, _, names in os.walk(place)
        for name in names
    )
