"""What can a session not do?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


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


class SessionRewound(SessionFenced):
    """The ledger was set back to an earlier state, by a restore or a failover; nothing was changed.

    Messages that were stored after that state are not in the ledger any more.
    """

    exit_code = 8
    hint = "Open its key again, and store once more what the ledger has lost of the conversation."


class SessionBusy(SessionError):
    """A turn is running in the session."""

    exit_code = 24
    hint = "Wait for the turn to end, or force it (--force, force=true)."


class ProcessesRunning(SessionBusy):
    """Background processes of the session are running, which would be left to themselves."""

    exit_code = 24
    hint = "See 'sexton processes list'; stop them, or force it (--force, force=true)."


class InvalidName(SessionError):
    """An id, key or source that can not be stored exactly."""

    exit_code = 25
    hint = "Use 1 to 1024 bytes of text without NUL characters and lone surrogates."


class InvalidMessage(SessionError):
    """A message that can not be stored exactly."""

    exit_code = 26
    hint = "Content is text or JSON; extra fields are JSON."


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
