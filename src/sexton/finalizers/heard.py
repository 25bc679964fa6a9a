"""Was everything there that end-of-session work is about?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sexton.core.message import Message
from sexton.finalizers.job import EffectFailed


class Heard:
    """Counts the messages that are read: a foreign home may have dropped some since."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._found = expected

    def __call__(self, messages: Iterable[Message]) -> Iterator[Message]:
        """The messages; where none is left there is nothing to be done, now or later."""
        found = 0
        for message in messages:
            found += 1
            yield message
        self._found = found
        if not found:
            raise EffectFailed("its home holds none of its messages any more", hopeless=True)

    @property
    def lack(self) -> str:
        """What to add to a note, if some were gone."""
        if self._found >= self._expected:
            return ""
        return f"; its home held only {self._found} of {self._expected} messages"
