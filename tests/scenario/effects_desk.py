"""Work to be done by an effect: a session, its messages, and a memo that outlives the process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sexton.core.message import Message
from sexton.core.session import Session, State
from sexton.finalizers.job import Job

ENDED = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECRET = "what-was-said"
"""A word of the transcript that no error may repeat."""


def message(seq: int, role: str, content: Any) -> Message:
    return Message(seq=seq, role=role, content=content, at=ENDED)


def talk() -> Iterator[Message]:
    """A short conversation."""
    yield message(1, "user", f"hello, {SECRET}")
    yield message(2, "assistant", [{"type": "text", "text": "good day"}])


@dataclass
class Desk:
    """Where a job's memo and its spent calls are kept, as a ledger would."""

    place: Path
    said: Callable[[], Iterator[Message]] = talk
    budget: int = 1000
    key: str = field(default_factory=lambda: os.environ.get("DESK_KEY", "native/s1/2/notes"))
    session_id: str = "s1"
    title: str | None = None
    attempts: int = field(default=0)

    def job(self) -> Job:
        """The next attempt."""
        self.attempts += 1
        return Job(
            key=self.key,
            finalizer="notes",
            session=self._session(),
            since=0,
            through=2,
            attempt=self.attempts,
            messages=self.said,
            memo=self.memo.read_bytes() if self.memo.exists() else None,
            memoise=self._memoise,
            spend=self._spend,
        )

    @property
    def memo(self) -> Path:
        return self.place / "memo"

    @property
    def spent(self) -> int:
        file = self.place / "spent"
        return file.stat().st_size if file.exists() else 0

    def _session(self) -> Session:
        return Session(
            ref=1, home="native", id=self.session_id, key="k", source="cli", state=State.ENDED,
            started_at=ENDED, active_at=ENDED, ended_at=ENDED, end_reason="idle",
            message_count=2, title=self.title,
        )  # fmt: skip

    def _memoise(self, memo: bytes) -> None:
        new = self.place / "memo.new"
        new.write_bytes(memo)
        os.replace(new, self.memo)

    def _spend(self, calls: int) -> bool:
        if self.spent + calls > self.budget:
            return False
        with (self.place / "spent").open("ab") as file:
            file.write(b"." * calls)
        return True
