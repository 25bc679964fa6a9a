"""The command `sexton`: which commands are there?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late
from sexton.version import __version__

_HERE = "sexton.cli"

COMMANDS = {
    "doctor": Late(_HERE, "Show how the sessions of this machine are doing."),
    "attach": Late(_HERE, "Have a Hermes home looked after."),
    "sessions": Late(_HERE, "List, show, end, reset, pin and export sessions."),
    "why": Late(_HERE, "Say why a session is as it is, and what would change it."),
    "plan": Late(_HERE, "Show what should be done now, and why."),
    "apply": Late(_HERE, "Carry out a plan."),
    "gc": Late(_HERE, "Put garbage into the trash: empty and trivial sessions."),
    "undo": Late(_HERE, "Bring back what was removed or ended."),
    "trash": Late(_HERE, "List and empty the trash."),
    "archive": Late(_HERE, "List, restore and verify what was put away."),
    "keep": Late(_HERE, "Keep sessions well until stopped: observe, plan, apply."),
    "serve": Late(_HERE, "Serve the dashboard and the HTTP API, beside a keeper."),
    "finalizers": Late(_HERE, "List, show and decide about end-of-session work."),
    "notices": Late(_HERE, "List what people were told."),
    "processes": Late(_HERE, "List, stop and keep the background processes of sessions."),
    "budget": Late(_HERE, "Show, set and raise what may be spent."),
    "workers": Late(_HERE, "List the processes that hold sessions."),
    "journal": Late(_HERE, "Show what was done, when, by whom and why."),
    "report": Late(_HERE, "Show what has changed over time."),
    "config": Late(_HERE, "Check, show, describe and import the settings."),
    "hermes": Late(_HERE, "Look after the sessions of Hermes from inside."),
    "ledger": Late(_HERE, "Look after the ledger itself."),
    "mcp": Late(_HERE, "Answer an agent about its own sessions and processes, over MCP."),
    "service": Late(_HERE, "Install, ask after and remove the service that keeps sessions well."),
    "demo": Late(_HERE, "Show on a throw-away Hermes home what can be done for a real one."),
    "completion": Late(_HERE, "Write the completion script of a shell."),
}


@click.group(
    cls=Group,
    late=COMMANDS,
    examples=(
        "sexton doctor ~/.hermes       # how is that Hermes home doing?",
        "sexton attach ~/.hermes       # have it looked after",
        "sexton sessions list          # the sessions, newest activity first",
        "sexton why SESSION            # why is it still open, or why did it end?",
        "sexton plan                   # what should be done now?",
        "sexton keep                   # do it, and go on doing it",
        "sexton serve                  # the same, with a dashboard",
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="sexton", message="%(prog)s %(version)s")
def root() -> None:
    """Look after the sessions of long-running AI agents.

    Sexton knows which sessions are alive, ends the ones that are over, and says why about every
    one it touched or left alone. Everything it knows is in its ledger; nothing is changed by a
    command that only asks.
    """
