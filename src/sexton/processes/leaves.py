"""Which process of a tree does what the tree is there for?"""

from __future__ import annotations

from sexton.processes.listening import Ports
from sexton.processes.process_table import (
    ZOMBIES,
    children_of,
    descendants,
    read_command,
    read_table,
)


def leaf_command(pid: int) -> list[str]:
    """What the process that listens or works below a pid runs: not the shell around it.

    Of those that have started nobody else, one that listens comes first, then who used most of a
    processor.
    """
    table = read_table()
    if pid not in table:
        return []
    living = {each: row for each, row in table.items() if row.state not in ZOMBIES}
    children = children_of(living)
    leaves = [
        each for each in descendants(pid, children) if each in living and each not in children
    ] or [pid]
    ports = Ports().of({(each, table[each].started) for each in leaves})
    best = max(
        leaves, key=lambda each: (bool(ports.get(each)), table[each].cpu, table[each].started)
    )
    return read_command(best)
