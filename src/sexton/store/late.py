"""How does an agent open a ledger without loading what only keepers use?"""

from __future__ import annotations

from typing import Any

from sexton.store.database import Database


class _Late:
    """Stands for a part of the ledger until somebody asks it for something."""

    def __init__(self, module: str, name: str, database: Database) -> None:
        self._module = module
        self._name = name
        self._database = database

    def __getattr__(self, asked: str) -> Any:
        # The function of `importlib` would load a module of its own, and `warnings` with it.
        module = __import__(f"sexton.{self._module}", fromlist=[self._name])
        part = getattr(module, self._name)(self._database)
        # Once found here, it is not looked for again.
        self.__dict__.update({name: getattr(part, name) for name in dir(part) if name[0] != "_"})
        return getattr(part, asked)


def late(module: str, name: str, database: Database) -> Any:
    """A part of the ledger, loaded when it is first used."""
    return _Late(module, name, database)
