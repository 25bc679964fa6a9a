"""Hides texts that agents and programs wrote wherever messages may not be shown."""

from __future__ import annotations

from sexton.core.record import record, replace
from sexton.core.session import Session
from sexton.finalizers.model import Finalization
from sexton.notifications.model import Letter

HIDDEN = "hidden: this ledger is shared (see serve.messages)"


@record
class Content:
    """Whether previews, messages and the output of programs may be shown.

    Titles, keys and sources are names and are always shown.
    """

    is_shown: bool = True

    def quote(self, text: str | None) -> str | None:
        """What somebody wrote, or that it is hidden; nothing stays nothing."""
        return text if self.is_shown or not text else HIDDEN

    def session(self, session: Session) -> Session:
        """The session as it may be shown: without its preview where content is hidden."""
        return session if self.is_shown else replace(session, preview=None)

    def job(self, job: Finalization) -> Finalization:
        """The job as it may be shown: without what its program said where content is hidden."""
        return replace(job, last_error=self.quote(job.last_error), note=self.quote(job.note))

    def letter(self, letter: Letter) -> Letter:
        """The notification as it may be shown: without the answer of its target."""
        return replace(letter, last_error=self.quote(letter.last_error))
