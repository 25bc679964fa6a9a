"""What do all errors that a user can meet have in common?"""

from __future__ import annotations


class SextonError(Exception):
    """Something a user can understand and mend."""

    exit_code = 1
    hint = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        if hint is not None:
            self.hint = hint
