"""In which tone is a word shown? The same for a state, a verdict and what was done."""

from __future__ import annotations

from collections.abc import Mapping

_TONES: Mapping[str, str] = {
    word: tone
    for tone, words in {
        "live": "live done listening delivered revive restore good finalized",
        "waiting": "waiting pending idle hint pinned none keep_process release_process pin unpin",
        "suspect": "suspect warn warning costly retry_finalizer stalled zombie held_back",
        "leaked": "leaked reap over refused",
        "unproven": "unproven unknown recorded foreign observed rule",
        "held": "held kept keep archive archived open undo",
        "busy": "busy running working due writing clearing restoring end finalizing",
        "dead": "dead grave failed kill pause trash trashed stop stop_process signal_process "
        "remove purge purged removing remove_files reset discard_finalizer",
        "done": "ended skipped closed",
    }.items()
    for word in words.split()
}


def tone_of(word: str) -> str:
    """The tone of a word; one we do not know is plain."""
    return _TONES.get(word) or _TONES.get(word.partition(" ")[0], "done")


def short(count: int) -> str:
    """A big number with three digits at most."""
    for unit, size in (("G", 10**9), ("M", 10**6), ("k", 10**4)):
        if count >= size:
            amount = count / (1000 if unit == "k" else size)
            return f"{amount:.0f} {unit}" if amount >= 100 else f"{amount:.1f} {unit}"
    return str(count)
