"""Hides texts that agents and programs wrote wherever messages may not be shown."""

from __future__ import annotations

from sexton.model.finalization import Finalization
from sexton.model.notice import Letter
from sexton.model.record import record, replace
from sexton.model.session import Session

HIDDEN = "hidden: this ledger is shared (see serve.messages)"


@record
class Content:
    """Whether previews, messages and the output of programs may be shown.

    Titles, keys and sources are names and are always shown.
    """

    is_shown: bool = True

    def session(self, session: Session) -> Session:
        """The session as it may be shown: without its preview where content is hidden."""
        return session if self.is_shown else replace(session, preview=None)

    def job(self, job: Finalization) -> Finalization:
        """The job as it may be shown: without what its program said where content is hidden."""
        if self.is_shown:
            return job
        return replace(
            job,
            last_error=HIDDEN if job.last_error else None,
            note=HIDDEN if job.note else None,
        )

    def letter(self, letter: Letter) -> Letter:
        """The notification as it may be shown: without the answer of its target."""
        error = HIDDEN if letter.last_error else None
        return letter if self.is_shown else replace(letter, last_error=error)
