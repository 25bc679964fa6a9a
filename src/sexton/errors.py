"""Every error a user can meet: a message, a hint and an exit code.

Exit codes are stable: 1x the ledger, 2x sessions, 3x settings, 4x plans, 5x homes, 6x this machine,
7x spending.
"""

from __future__ import annotations

from datetime import datetime


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


class BudgetExceeded(SextonError):
    """A budget has no room for what was asked; it was not done. No provider said so, Sexton did."""

    exit_code = 70
    hint = "See 'sexton budget show'; 'sexton budget raise' allows more."
    budget, spent, limit, held, asked = "", 0, 0, 0, 0
    until: datetime | None = None

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.__dict__ |= facts


class BreakerOpen(SextonError):
    """Tools failed or repeated themselves too often in a row; the call was not made."""

    exit_code = 71
    hint = "Let the agent say what is wrong and ask; one call is let through after a while."
    until: datetime | None = None


class UsageInvalid(SextonError):
    """A number that nobody can have used, or a grant that was settled before; nothing changed."""

    exit_code = 72
    hint = "Settle each grant once, with what the provider reported."


class PriceUnknown(SextonError):
    """A budget counts money, and nobody knows what the model costs."""

    exit_code = 73
    hint = "Name its price under prices.models, or install 'sexton[prices]'."
