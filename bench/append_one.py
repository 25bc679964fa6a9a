"""How fast are messages made durable by one writer, and how big do they get?"""

from __future__ import annotations

from collections.abc import Iterator

from bench.data import TURN
from bench.figures import OURS, Row, Series, Unit, against, alone, at_most
from bench.scene import LIMIT, Scene, rate
from tests.kit.postgres_server import PostgresServer

NAME = "append_one"
LONGER = 4  # so many times the messages in turns, which take a sixth of the time
LANGGRAPH = "langgraph"
WHOLE = {OURS: "append_one", LANGGRAPH: "append_kept"}
BARE = {OURS: "append_turns", LANGGRAPH: "append_lists"}


def run(scene: Scene) -> Iterator[Row]:
    """One message per acknowledgement, then turns of six, on SQLite against every peer."""
    count = scene.sizes.messages
    names = (OURS, *scene.peers, LIMIT)
    one = scene.measure(
        NAME,
        "1 KB messages, one writer",
        Unit.RATE,
        dict.fromkeys(names, rate("append_one", count, count=count)),
    )
    yield from _held_against(one, scene.peers, 4)
    yield against(one, LIMIT)
    more = LONGER * count
    turns = scene.measure(
        NAME,
        f"turns of {TURN}, one writer",
        Unit.RATE,
        dict.fromkeys(names, rate("append_turns", more, turns=more // TURN)),
    )
    yield from _held_against(turns, scene.peers, 15)
    yield against(turns, LIMIT)
    stored = (count + more) * scene.sizes.rounds
    size = scene.measure(
        NAME,
        "on disk per 1 KB message",
        Unit.BYTES,
        dict.fromkeys((OURS, "hermes"), lambda who: who.ask("stored") / stored),
        rounds=1,
    )
    yield at_most(size, 2048, "hermes")
    if LANGGRAPH in scene.peers:
        yield from _against_langgraph(scene)
    yield from _on_postgres(scene)


def _against_langgraph(scene: Scene) -> Iterator[Row]:
    """The same where its last checkpoint leads to all that was said before; then the very least."""
    count = scene.sizes.messages
    kept = {name: rate(job, count, count=count) for name, job in WHOLE.items()}
    whole = scene.measure(NAME, "1 KB messages, history kept", Unit.RATE, kept)
    yield against(whole, LANGGRAPH, 1)
    more = LONGER * count
    lists = {name: rate(job, more, turns=more // TURN) for name, job in BARE.items()}
    what = f"turns of {TURN}; theirs: lists, no messages"
    yield against(scene.measure(NAME, what, Unit.RATE, lists), LANGGRAPH)


def _held_against(series: Series, peers: tuple[str, ...], hermes: float) -> Iterator[Row]:
    for peer in peers:
        yield against(series, peer, hermes if peer == "hermes" else 1, LIMIT)


def _on_postgres(scene: Scene) -> Iterator[Row]:
    count = scene.sizes.messages
    with PostgresServer(fsync=True) as server:
        ledger = server.create_database()
        jobs = {
            "PostgreSQL: one writer": rate("append_one", count, count=count, ledger=ledger),
            f"PostgreSQL: turns of {TURN}": rate(
                "append_turns", count, turns=count // TURN, ledger=ledger
            ),
        }
        for threads in scene.sizes.threads:
            each = scene.sizes.each
            jobs[f"PostgreSQL: {threads} sessions at once"] = rate(
                "append_parallel", threads * each, threads=threads, each=each, ledger=ledger
            )
        for what, job in jobs.items():
            yield alone(scene.measure(NAME, what, Unit.RATE, {OURS: job}))
        scene.ours.ask("close", ledger=ledger)
