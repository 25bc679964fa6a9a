"""Stop the server for a minute under workers and a keeper: `python -m tests.crash.stopping`.

The workers say that they run on other hosts, so that nothing but their beats speaks for them.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from contextlib import closing
from datetime import timedelta

from sexton.liveness.policy import LivenessPolicy
from sexton.store.opening import open_ledger
from tests.crash.holding import HOLD, HOST, KEEP, publish
from tests.crash.victims import Victim, assert_go_on, holders_of
from tests.kit.aftermath import assert_lives_on
from tests.kit.nursery import Nursery
from tests.kit.postgres_server import PostgresServer

SHORT = LivenessPolicy(
    beat_every=timedelta(seconds=0.2),
    ttl=timedelta(seconds=6),
    lock_delay=timedelta(seconds=0.5),
)
HOSTS = ("here", "there", "elsewhere")


def stop_server(
    nursery: Nursery, server: PostgresServer, rules: LivenessPolicy, seconds: float
) -> None:
    """Assert that nobody is reaped or doubted for it, and that everybody goes on as before."""
    url = server.create_database()
    publish(url, rules)
    workers = [
        Victim(child=nursery.start(HOLD, url, f"w{n}", "shared", "0.05", environ={HOST: host}))
        for n, host in enumerate(HOSTS * 2)
    ]
    keeper = nursery.start(KEEP, url, environ={HOST: "here"})
    try:
        for each in workers:
            each.introduce()
        keeper.wait_for(lambda lines: lines.count("swept") > 3)
        server.pause()
        threading.Event().wait(seconds)
        server.resume()
        swept = keeper.lines().count("swept")
        # Long enough for a silence to be believed, if anybody took the stop for one.
        wait = (rules.ttl + rules.lock_delay).total_seconds() * 1.5
        keeper.wait_for(lambda lines: lines.count("swept") > swept + wait / 0.4, wait * 3 + 60)
        assert_go_on(workers)
        told = [line for line in keeper.lines() if line != "swept"]
        assert told == [], told[:5]
        with closing(open_ledger(url)) as ledger:
            for (_, id), holders in holders_of(workers).items():
                [session] = ledger.index.find(None, id)
                assert session.epoch == 1
                assert_lives_on(ledger, session, holders)
    finally:
        server.resume()
        for child in (*(each.child for each in workers), keeper):
            child.kill()


def main() -> int:
    """A real minute under the default rules; in CI some seconds under short ones."""
    rules, seconds = (SHORT, 10.0) if os.environ.get("CI") else (LivenessPolicy(), 60.0)
    with PostgresServer() as server, Nursery("tests.crash.holding") as nursery:
        try:
            stop_server(nursery, server, rules, seconds)
        except AssertionError:
            print(f"FAILED {traceback.format_exc()}again with: python -m tests.crash.stopping")
            return 1
    print(f"a server stopped for {seconds:g} s under {len(HOSTS) * 2} workers: nobody was reaped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
