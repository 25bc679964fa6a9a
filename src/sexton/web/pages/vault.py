"""What was removed, where is it, and until when can it be brought back?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from sexton.core.wording import counted, remaining
from sexton.retention.model import Holds, VaultFile, VaultKind, WantedFiles
from sexton.web.desk import Desk
from sexton.web.memory import Remembered
from sexton.web.pages.forms import choice
from sexton.web.pages.showing import show

LIMIT = 50
CHUNK = 1000
_NAMES = {VaultKind.TRASH: ("Trash", "dead"), VaultKind.ARCHIVE: ("Archive", "held")}


class Vaults:
    """The page of the vault; how much there is in all is counted now and then."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._totals = Remembered(self._count, desk.house.clock, 5.0)

    def page(self, kind: str | None = None, before: int | None = None) -> Response:
        """Vault files, newest first, from the newest of all or from before a row."""
        desk = self._desk
        chosen = choice(VaultKind, kind)
        found = desk.house.ledger.vault.newest(WantedFiles(kind=chosen), before, LIMIT + 1)
        means = desk.lookout.estate().removing
        assert means is not None
        left = desk.house.ledger.vault.left(found)
        older = None
        if len(found) > LIMIT:
            kept = {"kind": chosen.value} if chosen else {}
            older = "/vault?" + urlencode({**kept, "before": found[LIMIT - 1].ref})
        return show(
            desk,
            "vault.html",
            page="vault",
            kinds=self._totals(),
            rows=[_row(each, left[each.ref], means.host) for each in found[:LIMIT]],
            older=older,
        )

    def _count(self) -> list[Mapping[str, Any]]:
        files: dict[VaultKind, list[int]] = {kind: [0, 0, 0] for kind in VaultKind}
        after = 0
        while page := self._desk.house.ledger.vault.page(WantedFiles(), after, CHUNK):
            for each in page:
                totals = files[each.kind]
                totals[0] += 1
                totals[1] += each.written.sessions if each.holds is Holds.SESSIONS else 0
                totals[2] += each.written.bytes
            after = page[-1].ref
        return [_kind(kind, *files[kind]) for kind in (VaultKind.TRASH, VaultKind.ARCHIVE)]


def _kind(kind: VaultKind, files: int, sessions: int, bytes: int) -> Mapping[str, Any]:
    name, tone = _NAMES[kind]
    says = f"{counted(sessions, 'session')} in {counted(files, 'file')}"
    return {"kind": kind.value, "name": name, "tone": tone, "files": files, "bytes": bytes,
            "says": says}  # fmt: skip


def _row(each: VaultFile, left: int, here: str) -> Mapping[str, Any]:
    return {
        "receipt": each.receipt,
        "name": each.name,
        "kind": each.kind.value,
        "state": each.state.value,
        "home": each.home,
        "source": each.source,
        "host": each.host,
        "elsewhere": each.host != here,
        "sessions": remaining(left, each.written.sessions) if each.holds is Holds.SESSIONS else "–",
        "files": each.written.files,
        "bytes": each.written.bytes,
        "made_at": each.made_at,
        "expires_at": each.expires_at,
    }
