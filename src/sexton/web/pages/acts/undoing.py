"""How is a receipt undone from a page?"""

from __future__ import annotations

from urllib.parse import urlencode

from starlette.responses import Response

from sexton.core.wording import counted, size
from sexton.homes.home_ports import Ended
from sexton.keeper.keeper_context import Estate
from sexton.keeper.reopening import ended_by, staying
from sexton.operations.undone import reopening
from sexton.retention.removal_ports import Holds
from sexton.retention.undo import files_to_undo
from sexton.web.desk import Desk
from sexton.web.pages.acts.act_proposal import SHOWN, Proposal, done, proposed
from sexton.web.pages.deeds import Deed, Deeds
from sexton.web.proposals import Step
from sexton.wiring.removal_wiring import undo_receipt


def undoing(desk: Desk, receipt: str) -> Response:
    """What would come back, and what would be opened again."""
    estate = desk.lookout.estate()
    means, ended = estate.removing, ended_by(estate.ledger, receipt)
    assert means is not None
    files = files_to_undo(means, receipt, required=not ended)
    left = estate.ledger.vault.left(files)
    steps = [
        Step(
            kind="restore",
            verb="bring back",
            what=_inside(each.holds, left[each.ref], each.written.files),
            why=f"{each.source} of {each.home}, {size(each.written.raw_bytes)}, from {each.kind} "
            f"file {each.name[:8]}",
        )
        for each in files
    ]
    steps += [_again(estate, home, each) for home, ends in ended.items() for each in ends[:SHOWN]]
    many = sum(map(len, ended.values()))
    return proposed(
        desk,
        "journal",
        Proposal(
            title=f"Undo {receipt[:12]}",
            says=_says(many, len(files)),
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
    back, again = done_now.files, done_now.receipt
    words = [
        *reopening(done_now.opened),
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


def _says(ended: int, files: int) -> str:
    words = [
        f"{counted(ended, 'session')} that ended would be opened again, where the conversation has "
        "not gone on since. Who held it before is refused; whoever comes next takes it up."
        if ended
        else "",
        "Sessions come back with all their messages and files, exactly as they were."
        if files
        else "",
    ]
    return " ".join(filter(None, words))


def _again(estate: Estate, home: str, ended: Ended) -> Step:
    why, what = staying(estate, home, ended), f"{home}/{ended.id}"
    if why is not None:
        return Step(kind="skipped", verb="leave", what=what, why=why)
    return Step(kind="revive", verb="open again", what=what, why=f"it was ended: {ended.why}")


def _inside(holds: Holds, sessions: int, files: int) -> str:
    if holds is Holds.FILES:
        return counted(files, "file")
    return f"{counted(sessions, 'session')}, {counted(files, 'file')}"
