"""How fast are messages made durable when many sessions of one process write at once?"""

from __future__ import annotations

from collections.abc import Iterator

from bench.figures import OURS, Row, Unit, against
from bench.scene import Scene, rate

NAME = "append_many_sessions"
TARGETS = {16: 15.0, 64: 30.0}


def run(scene: Scene) -> Iterator[Row]:
    """A thread per session, each message acknowledged by itself."""
    for threads in scene.sizes.threads:
        each = scene.sizes.each
        job = rate("append_parallel", threads * each, threads=threads, each=each)
        series = scene.measure(
            NAME,
            f"1 KB messages, {threads} sessions at once",
            Unit.RATE,
            dict.fromkeys((OURS, "hermes"), job),
        )
        yield against(series, "hermes", TARGETS.get(threads))
