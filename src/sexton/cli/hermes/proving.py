"""Does Hermes load the plugin in a home, and which ledger does it use there?

Hermes's own loader is asked, in Hermes's own interpreter, with what the home's `.env` says. Nothing
is fetched from outside for that, and no conversation begins.
"""

from __future__ import annotations

from pathlib import Path

from sexton.core.record import record
from sexton.integrations.interpreters import Interpreter

_ASK = """
import json, os, sys
home, said, sys.stdout = sys.argv[1], sys.stdout, sys.stderr
from dotenv import dotenv_values
file = os.path.join(home, ".env")
try:
    named = dotenv_values(file, encoding="utf-8")
except UnicodeDecodeError:
    named = dotenv_values(file, encoding="latin-1")
os.environ.update({name: value for name, value in named.items() if value is not None})
from hermes_cli.plugins import get_plugin_manager
manager = get_plugin_manager()
manager.discover_and_load(force=True)
found = [each for each in manager.list_plugins() if each["name"] == "sexton"]
why = "it does not find it" if not found else found[0].get("error") or "it is not enabled"
loaded = bool(found and found[0]["enabled"] and found[0]["hooks"])
from sexton.wiring.choosing_ledger import ledger_url
ledger = ledger_url(None, os.environ)
by_home = bool(named.get("SEXTON_LEDGER"))
told = {"loaded": loaded, "why": str(why), "ledger": ledger, "named": by_home}
print(json.dumps(told), file=said)
"""


@record
class Proof:
    """Whether Hermes loads the plugin, why not, and the ledger it uses; `named` by the home."""

    loaded: bool
    why: str
    ledger: str
    named: bool


def proved(interpreter: Interpreter, home: Path) -> Proof:
    """What Hermes itself says of the plugin in a home."""
    also = {"HERMES_HOME": str(home), "HERMES_DISABLE_LAZY_INSTALLS": "1"}
    return Proof(**interpreter.told(_ASK, str(home), also=also))
