"""Where does the log of a command go?"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from sexton.core.message import one_line

LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)


class OneLine(logging.Formatter):
    """A record is one line, whatever a session's name or a home's path contains."""

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802  # the standard library's name
        return f"{datetime.fromtimestamp(record.created, UTC):{datefmt or '%Y-%m-%d %H:%M:%S'}} UTC"

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the standard library's name
        record.message = one_line(record.message)
        return super().formatMessage(record)


def log_to_terminal(verbose: int) -> None:
    """Write our log to standard error, the more the oftener -v was given."""
    level = LEVELS[min(verbose, len(LEVELS) - 1)]
    stream = logging.StreamHandler()
    stream.setFormatter(OneLine("%(asctime)s %(levelname)s %(message)s"))
    _send("sexton", level, stream)
    # What the driver meets reaches people as an error of ours; its own words are for developers.
    _send("psycopg", level, stream if level == logging.DEBUG else logging.NullHandler())


def _send(name: str, level: int, handler: logging.Handler) -> None:
    log = logging.getLogger(name)
    log.setLevel(level)
    for former in list(log.handlers):
        log.removeHandler(former)
    log.addHandler(handler)
    log.propagate = False
