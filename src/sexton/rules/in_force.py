"""Which rules are in force right now?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexton.rules.rulebook import InForce, Rulebook, decode, digest, encode

if TYPE_CHECKING:
    from sexton.rules.store import PolicyStore


class RulesInForce:
    """The published rules, read again only when a newer version is known to exist."""

    def __init__(self, store: PolicyStore) -> None:
        self._store = store
        text = encode(Rulebook())
        self.known = InForce(0, digest(text), Rulebook())
        """The rules as last read, without asking again."""

    def __call__(self, serial: int | None = None) -> InForce:
        """The rules in force; with a serial, from memory if that is the version known."""
        if serial is None or serial != self.known.serial:
            stored = self._store.in_force()
            if stored is not None and stored.serial != self.known.serial:
                self.known = InForce(stored.serial, stored.digest, decode(stored.text))
        return self.known
