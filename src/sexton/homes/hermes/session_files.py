"""Whose is a file in a Hermes home's `sessions` directory?

Hermes writes `session_<id>.json` and `request_dump_<id>_<time>.json` with an id made fit for
file names, and wrote `<id>.jsonl` with the id itself. A name is read as a whole: that one id
begins like another, or could be a pattern, means nothing.
"""

from __future__ import annotations

import re
from hashlib import sha256

from sexton.retention.model import Ownership

_SNAPSHOT = re.compile(r"session_([\w-]+)\.json")
_DUMP = re.compile(r"request_dump_([\w-]+)_\d{8}_\d{6}_\d{6}\.json")
_TRANSCRIPT = re.compile(r"([^.].*)\.jsonl?", re.DOTALL)
_USUAL_ID = re.compile(
    r"(?:cron_.+_)?\d{8}_\d{6}(?:_[0-9a-f]{6,8})?|api_\d+_[0-9a-f]{8}|api-[0-9a-f]{16}"
)
_INDEX = "sessions.json"
_LONGEST = 96


class HermesFileNames:
    """Implements `home_storage.FileNames`; an owner is an id as Hermes puts it into names."""

    def owner(self, id: str) -> str:
        given = id.strip()
        fit = re.sub(r"[^\w-]", "_", given).strip("._")[:_LONGEST] or "session"
        if fit == given:
            return fit
        return f"{fit}_{sha256(given.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"

    def owner_of(self, name: str) -> Ownership:
        if name == _INDEX or not _is_text(name):
            return Ownership(None)
        found = _SNAPSHOT.fullmatch(name) or _DUMP.fullmatch(name)
        if found:
            return Ownership(found[1], sure=True)
        found = _TRANSCRIPT.fullmatch(name)
        if found is None:
            return Ownership(None)
        return Ownership(self.owner(found[1]), sure=_USUAL_ID.fullmatch(found[1]) is not None)


def _is_text(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)
