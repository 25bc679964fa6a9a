"""How is a receipt undone from a page?"""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from sexton.bootstrap.removing import undo_receipt
from sexton.engine.removing.undo import files_to_undo
from sexton.engine.reviving import ended_by
from sexton.ports.removal import Holds
from sexton.shapes.wording import counted, size
from sexton.web.desk import Desk
from sexton.web.pages.acts.proposal import Proposal, Step, done, proposed
from sexton.web.pages.deeds import Deed, Deeds


def undoing(desk: Desk, receipt: str) -> Response:
    """What would come back, and what would be opened again."""
    means, ended = desk.lookout.estate().removing, ended_by(desk.house.ledger, receipt)
    assert means is not None
    files = files_to_undo(means, receipt, required=not ended)
    steps = [
        Step(
            kind="revive",
            verb="open again",
            what=counted(len(ids), "session") + f" of {home}",
            why="those that have not gone on since",
        )
        for home, ids in ended.items()
    ]
    steps += [
        Step(
            kind="restore",
            verb="bring back",
            what=_inside(each.holds, each.written.sessions, each.written.files),
            why=f"{each.source} of {each.home}, {size(each.written.raw_bytes)}, from {each.kind} "
            f"file {each.name[:8]}",
        )
        for each in files
    ]
    return proposed(
        desk,
        "journal",
        Proposal(
            title=f"Undo {receipt[:12]}",
            says="Sessions come back with all their messages and files, exactly as they were.",
            steps=steps,
            verb="Undo",
            undoing="A file is never written over another one. The plan can be applied again.",
            action="/act/undo",
            back="/receipt?" + urlencode({"id": receipt}),
            fields=(("receipt", receipt),),
        ),
    )


def undone(desk: Desk, deeds: Deeds, receipt: str) -> Response:
    """Bring back what was removed, and open what was ended."""
    done_now = undo_receipt(desk.house, receipt)
    opened, back, again = done_now.opened_again, done_now.files, done_now.receipt
    words = [
        f"{counted(opened, 'session')} opened again" if opened else "",
        f"{counted(sum(each.sessions for each in back), 'session')} and "
        f"{counted(sum(each.files for each in back), 'file')} brought back"
        if back
        else "",
        *(f"nothing came back from {each.file.name}: {each.trouble}" for each in back
          if each.trouble),
        *(f"another file is at {place} now; what was there is at {aside}" for each in back
          for place, aside in each.aside.items()),
    ]  # fmt: skip
    bad = any(each.trouble for each in back)
    deed = Deed(words="; ".join(filter(None, words)), tone="bad" if bad else "good")
    return done(deeds, again, deed)


def _inside(holds: Holds, sessions: int, files: int) -> str:
    if holds is Holds.FILES:
        return counted(files, "file")
    return f"{counted(sessions, 'session')}, {counted(files, 'file')}"
