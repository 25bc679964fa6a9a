"""Which ledger does a command work with, and what may it do to it?

A command that asks takes an existing ledger as it is. A command that decides makes the ledger if
need be and puts the settings in force for all its users.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sexton.cli.command import Shared
from sexton.errors import LedgerError, LedgerMissing
from sexton.settings.settings_values import Settings
from sexton.store.opening import POSTGRES_SCHEMES, masked, open_ledger, sqlite_path
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import ledger_url, load_settings


def chosen_url(shared: Shared) -> str:
    """The ledger's URL, by option, by environment or by custom."""
    if shared.ledger == "":
        raise LedgerError("the ledger's path is empty")
    url = ledger_url(shared.ledger, os.environ)
    try:
        url.encode()
    except UnicodeEncodeError:
        raise LedgerError("the ledger's path is not valid UTF-8") from None
    return url


def chosen_settings(shared: Shared) -> Settings | None:
    """The settings given by file or environment, or None if there are none."""
    return load_settings(shared.config, os.environ)


@contextmanager
def existing(shared: Shared) -> Iterator[Sexton]:
    """A ledger that is there already; nothing is published and no home is attached."""
    url = chosen_url(shared)
    settings = chosen_settings(shared) or Settings()
    with Sexton(open_ledger(url, create=False), replace(settings, homes=())) as opened:
        yield opened


@contextmanager
def reaching(shared: Shared) -> Iterator[Sexton]:
    """A ledger that is there already, with the homes of the settings; nothing is published."""
    settings = chosen_settings(shared) or Settings()
    with Sexton(open_ledger(chosen_url(shared), create=False), settings) as opened:
        yield opened


@contextmanager
def deciding(shared: Shared) -> Iterator[Sexton]:
    """A ledger, made if need be, with the given settings in force."""
    settings = chosen_settings(shared)
    with Sexton(open_ledger(chosen_url(shared)), settings or Settings()) as opened:
        if settings is not None:
            opened.publish()
        yield opened


@contextmanager
def attaching(shared: Shared) -> Iterator[Sexton]:
    """A ledger, made if need be, whose policies stay as they are."""
    settings = chosen_settings(shared) or Settings()
    with Sexton(open_ledger(chosen_url(shared)), settings) as opened:
        yield opened


def missing(url: str) -> LedgerError | None:
    """The error to give where no ledger is; a server is asked by opening it."""
    path = ledger_file(url)
    if path is None:
        return None
    try:
        os.stat(path)
    except FileNotFoundError:
        return LedgerMissing(f"there is no ledger at {path} yet")
    except OSError:
        return None  # opening it says what is wrong
    return None


def ledger_file(url: str) -> Path | None:
    """The file a ledger is kept in; None if it is on a server."""
    scheme = url.partition("://")[0] if "://" in url else ""
    return Path(sqlite_path(url)) if scheme in ("", "sqlite") else None


def shown_url(url: str) -> str:
    """The URL as people may see it."""
    return masked(url) if url.partition("://")[0] in POSTGRES_SCHEMES else url
