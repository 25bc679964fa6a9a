"""A connection to a server: what it asks of the server and of TCP, and what a fork leaves of it.

A client that is frozen or cut off cannot end its own transaction, so the server has to. An
operator's own `options` and keepalives in the ledger's URL win over the timeouts here.

A signal handler may fork in the middle of a call. Two processes cannot share a connection, so the
child gets a dead socket in place of each one that it inherited. Its call then breaks like one to a
server that restarted, and the call of its parent goes on.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from sexton.store.rows import Row

# A frozen client's row locks are freed after this time without a statement. It is a third of the
# 15 seconds for which others wait for a row, so they get it; our own code never pauses so long in a
# transaction, and one that did is run again. A statement at work, as in a migration, is not idle.
_ALWAYS = {"idle_in_transaction_session_timeout": "5s"}
# A host that vanished without a word is noticed after 10 + 3 * 5 seconds, by either end.
_KEEPALIVES = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_TCP_MILLISECONDS = 25_000
_ALWAYS |= {f"tcp_{name}": str(value) for name, value in _KEEPALIVES.items()}
# Not on every server. How soon one at work for a client notices that the client is gone; and for
# how long it keeps data that a client does not acknowledge.
_WHERE_KNOWN = {
    "client_connection_check_interval": "2s",
    "tcp_user_timeout": f"{_TCP_MILLISECONDS}ms",
}


class PooledConnection(psycopg.Connection[Row]):
    """Closes when it is collected, without a warning: an exception may have left it behind."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        _connections.add(self)

    def __del__(self, _: object = None, /) -> None:  # libpq's own part closes itself
        return


_connections: WeakSet[PooledConnection] = WeakSet()


def _in_child() -> None:
    """Let go of every inherited connection without a word to the server."""
    inherited = [each for each in list(_connections) if not each.closed]
    if inherited:
        with suppress(OSError):  # no descriptor: the pool still leaves them as they are
            dead, other_end = socket.socketpair()
            other_end.close()
            with dead:
                for connection in inherited:
                    os.dup2(dead.fileno(), connection.fileno(), inheritable=False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def connection_settings(url: str, known: frozenset[str] = frozenset()) -> dict[str, Any]:
    """How to connect to a server that has the `known` optional settings."""
    own = conninfo_to_dict(url)
    on_our_side = {"keepalives": 1, **_KEEPALIVES, "tcp_user_timeout": _TCP_MILLISECONDS}
    timeouts = _ALWAYS | {name: value for name, value in _WHERE_KNOWN.items() if name in known}
    return {name: value for name, value in on_our_side.items() if name not in own} | {
        "application_name": "sexton",
        # The last one wins: timeouts are the operator's to change. The schema is not, and neither
        # is that acknowledged means durable.
        "options": f"{_options(timeouts)} {own.get('options') or ''} "
        "-c search_path=sexton -c synchronous_commit=on",
    }


def learn(url: str, connection: psycopg.Connection[Any]) -> frozenset[str]:
    """Which optional settings this server takes; they are set on this connection, too."""
    own = str(conninfo_to_dict(url).get("options") or "")
    return frozenset(
        name
        for name, value in _WHERE_KNOWN.items()
        if name not in own and _set(connection, name, value)
    )


def _set(connection: psycopg.Connection[Any], name: str, value: str) -> bool:
    with suppress(psycopg.ProgrammingError, psycopg.DataError, psycopg.NotSupportedError):
        connection.execute(sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.Literal(value)))
        return True
    return False


def _options(settings: dict[str, str]) -> str:
    return " ".join(f"-c {name}={value}" for name, value in settings.items())
