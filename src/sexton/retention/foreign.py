"""How do sessions leave a foreign home once the ledger has let go of them, and which stay?

The ledger comes first: until a session is gone from its home too, its copy in the vault and the
state of the file say that it is on its way, and whoever recovers brings it to an end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sexton.core.plan import Reason
from sexton.core.session import State
from sexton.retention.home_storage import OF_HOME, TOGETHER, as_text
from sexton.retention.model import Part, VaultFile
from sexton.retention.removal_context import Means

STAYS = Reason("changed", "it was changed in its home while it was being removed")


def let_stay(
    means: Means, file: VaultFile, states: Mapping[int, State], cut: Collection[str]
) -> None:
    """Take sessions back that did not leave their home; what is missing of those cut is added."""
    if not states:
        return
    if cut:
        with means.rows_of(file.home).returning() as put_back:
            for content in means.look(file, lambda vault: vault.read(file.name, file.written))[1]:
                if content.row["id"] in cut and content.row["ref"] in states:
                    put_back(content.row[OF_HOME], content.messages)
    parts = [Part(ref, (), state) for ref, state in states.items()]
    entry = means.entry("restore", file.receipt, STAYS)
    means.ledger.removal.put_back(file, parts, entry, means.clock.now())


def leave_again(means: Means, file: VaultFile) -> None:
    """Complete what somebody else began, as the copy itself says what was to leave."""
    inside = {each.ref for each in means.ledger.vault.inside(file)}
    states: dict[int, State] = {}
    refs: dict[str, int] = {}
    together: dict[str, dict[str, str]] = {}
    for content in means.look(file, lambda vault: vault.read(file.name, file.written))[1]:
        ref, id = int(content.row["ref"]), str(content.row["id"])
        if ref in inside:
            states[ref], refs[id] = State(content.row["state"]), ref
            group = together.setdefault(content.row[TOGETHER], {})
            group[id] = as_text(content.row[OF_HOME])
    gone = means.rows_of(file.home).remove(list(together.values()), begun=True).gone
    staying = {ref: states[ref] for id, ref in refs.items() if id not in gone}
    let_stay(means, file, staying, refs.keys() - gone)
