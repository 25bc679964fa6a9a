"""A site over a ledger with very many sessions of two homes, on either engine."""

from __future__ import annotations

import html
import re
import time
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

import apsw
import psycopg

from bench.serving import seconds_each, serve
from sexton.settings.settings_values import Settings
from sexton.store.opening import open_ledger
from sexton.web.access.addresses import address_of
from sexton.web.web_serving import Site, desk_for, listening
from sexton.wiring import Sexton
from tests.kit.postgres_server import PostgresServer

HOST = "127.0.0.1"
YEAR = 365 * 86_400_000_000
OLDER = re.compile(r'href="(/sessions\?[^"]*after=[^"]*)"')
NUMBERS = {
    "sqlite": "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
    " WHERE i + 1 < {count})",
    "postgres": "WITH n (i) AS (SELECT generate_series(0, {count} - 1))",
}
SESSIONS = """INSERT INTO sessions (home, id, source, state, started_at, active_at, ended_at,
    end_reason, last_seq, message_count, byte_count, title)
{numbers}, facts AS (
    SELECT i, {now} - {year} / {count} * i AS active,
           CASE WHEN i % 100 = 7 THEN 'open' WHEN i % 10 < 7 THEN 'finalized'
                ELSE 'ended' END AS state
    FROM n
)
SELECT CASE WHEN i % 3 = 0 THEN {foreign} ELSE 1 END, 's' || (10000000 + i),
       CASE i % 5 WHEN 0 THEN 'cron' WHEN 1 THEN 'cli' WHEN 2 THEN 'discord' ELSE 'telegram' END,
       state, active - 3600000000, active, CASE WHEN state <> 'open' THEN active END,
       CASE WHEN state <> 'open' THEN 'idle' END, 9, 9, 100 + i % 5000, 'Conversation ' || i
FROM facts"""


class SextonPages:
    """What the benchmark asks of the list of sessions."""

    def __init__(self) -> None:
        self._open = ExitStack()

    def open_pages(self, directory: str, sessions: int, engine: str) -> None:
        """Serve a ledger with so many sessions of two homes, one in a hundred of them open."""
        place = Path(directory)
        if engine == "postgres":
            url = self._open.enter_context(PostgresServer()).create_database()
        else:
            url = f"sqlite:///{place / 'pages.db'}"
        house = Sexton(open_ledger(url), Settings())
        foreign = house.ledger.homes.attach("other", "hermes", "/other", "other", False).ref
        fill = SESSIONS.format(
            numbers=NUMBERS[engine].format(count=sessions),
            count=sessions,
            foreign=foreign,
            now=int(time.time() * 1e6),
            year=YEAR,
        )
        if engine == "postgres":
            with psycopg.connect(url, autocommit=True) as database:
                database.execute(fill.encode())
                database.execute("ANALYZE sessions")
        else:
            with apsw.Connection(str(place / "pages.db")) as file:
                file.execute(fill)
        opened = listening(HOST, 0)
        self._port = opened.getsockname()[1]
        address = address_of(HOST, self._port, tls=False, public_url=None)
        desk = desk_for(house, address, {}, place / f"token-{engine}", keeping=False)
        self._token = (place / f"token-{engine}").read_text().strip()
        Site(desk, opened).start()

    def page(self, path: str, times: int) -> float:
        """Seconds for a page of the dashboard."""
        return seconds_each(lambda: self._get(path), times)

    def looked_on(self, path: str, times: int) -> list[float]:
        """Seconds for each page on the way to the end, or the first so many of them."""
        taken, next_one = [], path
        for _ in range(times):
            start = time.perf_counter()
            found = OLDER.search(self._get(next_one))
            taken.append(time.perf_counter() - start)
            if found is None:
                break
            next_one = html.unescape(found.group(1))
        return taken

    def _get(self, path: str) -> str:
        connection = HTTPConnection(HOST, self._port, timeout=60)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
            answer = connection.getresponse()
            text = answer.read().decode()
            assert answer.status == 200, text
            return text
        finally:
            connection.close()


if __name__ == "__main__":
    serve(SextonPages())
