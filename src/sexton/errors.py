"""Every error a user can meet: a message, a hint and an exit code.

Exit codes are stable: 1x the ledger, 2x sessions, 3x settings, 4x plans, 5x homes, 6x this machine,
7x the vault.
"""

from __future__ import annotations


class SextonError(Exception):
    """Something a user can understand and mend."""

    exit_code = 1
    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint


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


class LedgerNotADatabase(LedgerError):
    """The path is not a Sexton ledger: a directory, another file, another program's database."""

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


class SessionError(SextonError):
    """A session can not do what was asked."""

    exit_code = 20


class SessionNotFound(SessionError):
    """No session has that name."""

    hint = "List the sessions with 'sexton sessions list'."


class SessionAmbiguous(SessionError):
    """Several sessions have that name."""

    exit_code = 21
    hint = "Say which one as HOME/ID."


class SessionEnded(SessionError):
    """The session has ended; the write changed nothing."""

    exit_code = 22
    hint = "Open its key again to get the current session of the conversation."


class SessionFenced(SessionError):
    """Somebody else took the session over; the write changed nothing."""

    exit_code = 23
    hint = "Open its key again; the conversation goes on there with all its messages."


class SessionBusy(SessionError):
    """A turn is running in the session."""

    exit_code = 24
    hint = "Wait for the turn to end, or add --force."


class InvalidName(SessionError):
    """An id, key or source that can not be stored exactly."""

    exit_code = 25
    hint = "Use 1 to 1024 bytes of text without NUL characters and lone surrogates."


class InvalidMessage(SessionError):
    """A message that can not be stored exactly."""

    exit_code = 26
    hint = "Content is text or JSON; extra fields are JSON."


class LedgerGone(LedgerError):
    """The ledger's file was removed or replaced while it was open; what was written is not safe."""

    hint = "Stop every process that uses a ledger before it is moved, restored or removed."


class WorkerLeft(SessionError):
    """A worker that has left was asked for a session."""

    exit_code = 27
    hint = "Register a new one with Sexton.worker()."


class SummaryFailed(SessionError):
    """No summary could be had, so the session was not compressed; nothing of it was changed."""

    exit_code = 28
    hint = "Try again later, or compress with force=True or on_failure='fallback'."


class SummaryPostponed(SummaryFailed):
    """A summary failed a short while ago, so none was asked for."""

    hint = "Wait, or compress with force=True or on_failure='fallback'."


class SessionRemoved(SessionError):
    """The session was archived, trashed or purged: only its row is here."""

    exit_code = 29
    hint = "'sexton why SESSION' says where it is."


class LedgerClosed(LedgerError):
    """The ledger was used after it was closed."""

    hint = "Open it again with sexton.open()."


class SettingsInvalid(SextonError):
    """The settings have problems; the message lists all of them."""

    exit_code = 30
    hint = "Mend the lines above; 'sexton config schema' describes every setting."


class SettingsNotFound(SextonError):
    """The settings file named does not exist."""

    exit_code = 31
    hint = "Check --config or SEXTON_CONFIG."


class PlanInvalid(SextonError):
    """The file is not a plan."""

    exit_code = 40
    hint = "Make one with 'sexton plan --json > plan.json'."


class PlanEdited(SextonError):
    """The plan is not what 'sexton plan' wrote."""

    exit_code = 41
    hint = "Make a new plan; an edited one is never applied."


class PlanForeign(SextonError):
    """The plan was made for another ledger."""

    exit_code = 42
    hint = "Apply it with the --ledger it was made for."


class NothingToUndo(SextonError):
    """Nothing that the receipt stands for is in the trash or the archive."""

    exit_code = 43
    hint = "'sexton trash list' and 'sexton archive list' show what can be brought back."


class HomeNotFound(SextonError):
    """There is no agent home at that path."""

    exit_code = 50
    hint = "Name the directory that holds the agent's database."


class HomeUnknown(SextonError):
    """The home's database has a shape Sexton does not know; it was not touched."""

    exit_code = 51
    hint = "Upgrade Sexton, or report the schema version named above."


class HomeUnreadable(SextonError):
    """The home's database can not be read."""

    exit_code = 52
    hint = "Check permissions and the disk; nothing was changed."


class HomeObserved(SextonError):
    """The home is only observed; its sessions are not changed from here."""

    exit_code = 53
    hint = "Change it with the agent itself; this release only observes foreign homes."


class ExtraMissing(SextonError):
    """An optional part is not installed."""

    exit_code = 60


class PlatformUnsupported(SextonError):
    """This operating system is not supported."""

    exit_code = 61
    hint = "Sexton runs on Linux and macOS."


class InputInvalid(SextonError):
    """A value that can only be a mistake."""

    exit_code = 62


class VaultError(SextonError):
    """The directory of archives and trash can not be used; nothing was removed."""

    exit_code = 70
    hint = "Check archive.directory, its permissions and its disk."


class VaultMissing(VaultError):
    """A vault file that the ledger knows is not there."""

    exit_code = 71
    hint = "Mount or restore the vault's directory; 'sexton archive verify' lists what is missing."


class VaultDamaged(VaultError):
    """A vault file is not what was written; nothing of it was restored."""

    exit_code = 72
    hint = "Restore the file from a backup; docs/reference/vault.md says how to read what is left."


class VaultFull(VaultError):
    """There is no room for the copy, so nothing was removed."""

    exit_code = 73
    hint = "Free some disk space, or set archive.directory to another disk."


class PlaceUnsafe(VaultError):
    """A directory of Sexton's is a link, belongs to somebody else or is open to others."""

    exit_code = 74
    hint = "Make it a directory of this user with mode 0700."


class VaultElsewhere(VaultError):
    """The vault file is on another machine, and can only be used there."""

    exit_code = 75
    hint = "Run the command on that machine."


class VaultBusy(VaultError):
    """Somebody else restores or removes what is in the vault file just now."""

    exit_code = 76
    hint = "Try again in a while; 'sexton trash list' and 'sexton archive list' say who is at it."


class VaultOutdated(VaultError):
    """A newer Sexton wrote the vault file; nothing of it was restored."""

    exit_code = 77
    hint = "Upgrade Sexton to restore it; the file named above has what is in it, to be read."
