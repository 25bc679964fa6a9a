"""What can be wrong with the ledger?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


class LedgerError(SextonError):
    """The ledger can not be used."""

    exit_code = 10
    hint = "Check --ledger or SEXTON_LEDGER."


class LedgerMissing(LedgerError):
    """There is no ledger there yet, and a command that only asks makes none."""

    hint = "It is made by 'sexton doctor PATH', 'sexton keep' or an agent; --ledger names another."


class LedgerTooNew(LedgerError):
    """The ledger was written by a newer Sexton."""

    exit_code = 11
    hint = "Upgrade Sexton, or point it at another ledger."


class LedgerIsDirectory(LedgerError):
    """The path is a directory, where a ledger would be a file."""

    exit_code = 9
    hint = "Name a file in it, which need not exist yet; nothing was changed."


class LedgerNotADatabase(LedgerError):
    """The path is not a Sexton ledger: another kind of file, another program's database."""

    exit_code = 12
    hint = "Name a Sexton ledger or a path that does not exist yet; nothing was changed."


class LedgerReadOnly(LedgerError):
    """The ledger can not be written."""

    exit_code = 13
    hint = "Make the file and its directory writable for this user; SQLite needs both."


class LedgerFull(LedgerError):
    """There is no room left for the ledger; the write was undone completely."""

    exit_code = 14
    hint = "Free some disk space and try again; nothing was half written."


class LedgerUnreachable(LedgerError):
    """The server did not answer in time; an unconfirmed write may or may not have happened."""

    exit_code = 15
    hint = "Check that PostgreSQL is running; before repeating a write, look whether it arrived."


class LedgerBusy(LedgerError):
    """Another process kept the ledger locked for longer than the deadline; nothing was written."""

    exit_code = 16
    hint = "Try again; if it lasts, find the process that holds the ledger open in a transaction."


class LedgerOutdated(LedgerError):
    """A shared ledger has an older schema; it is not changed behind its other users' backs."""

    exit_code = 17
    hint = "Run 'sexton ledger migrate' once, from one machine."


class LedgerCorrupt(LedgerError):
    """The ledger's file is damaged."""

    exit_code = 18
    hint = "Restore a backup, or move the file away and start a new ledger."


class EngineTooOld(LedgerError):
    """The SQLite engine has a known way of corrupting databases."""

    exit_code = 19
    hint = "Upgrade apsw to 3.51.3 or newer."


class LedgerGone(LedgerError):
    """The ledger's file was removed or replaced while it was open; what was written is not safe."""

    hint = "Stop every process that uses a ledger before it is moved, restored or removed."


class LedgerClosed(LedgerError):
    """The ledger was used after it was closed."""

    hint = "Open it again with sexton.open()."
