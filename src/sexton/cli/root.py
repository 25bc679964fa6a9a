"""The command `sexton`: which commands are there?"""

from __future__ import annotations

import click

from sexton.cli.command import Group, Late
from sexton.version import __version__

COMMANDS = {
    "doctor": Late("sexton.cli.doctor_command", "Show how the sessions of this machine are doing."),
    "attach": Late("sexton.cli.attach_command", "Have a Hermes home looked after."),
    "detach": Late("sexton.cli.detach_command", "Look after a Hermes home no longer."),
    "sessions": Late(
        "sexton.cli.sessions", "List, show, end, reset, pin, unpin and export sessions."
    ),
    "why": Late(
        "sexton.cli.why_command", "Say why a session is as it is, and what would change it."
    ),
    "plan": Late("sexton.cli.plan_command", "Show what should be done now, and why."),
    "apply": Late("sexton.cli.apply_command", "Carry out a plan."),
    "gc": Late("sexton.cli.gc_command", "Put garbage into the trash: empty and trivial sessions."),
    "undo": Late("sexton.cli.undo_command", "Bring back what was removed or ended."),
    "trash": Late("sexton.cli.trash", "List and empty the trash."),
    "archive": Late("sexton.cli.archive", "List, restore and verify what was put away."),
    "keep": Late(
        "sexton.cli.keep_command", "Keep sessions well until stopped: observe, plan, apply."
    ),
    "serve": Late(
        "sexton.cli.serve_command", "Serve the dashboard and the HTTP API, beside a keeper."
    ),
    "finalizers": Late("sexton.cli.finalizers", "List, show and decide about end-of-session work."),
    "notices": Late("sexton.cli.notices", "List what people were told."),
    "processes": Late(
        "sexton.cli.processes", "List, stop, keep and release the background processes of sessions."
    ),
    "budget": Late("sexton.cli.budget", "Show, set, clear and raise what may be spent."),
    "workers": Late("sexton.cli.workers", "List the processes that hold sessions."),
    "journal": Late("sexton.cli.journal_command", "Show what was done, when, by whom and why."),
    "report": Late("sexton.cli.report", "Show what has changed over time."),
    "config": Late("sexton.cli.config", "Check, show, describe and import the settings."),
    "hermes": Late("sexton.cli.hermes", "Look after the sessions of Hermes from inside."),
    "ledger": Late("sexton.cli.ledger", "Look after the ledger itself."),
    "mcp": Late(
        "sexton.cli.mcp_command", "Answer an agent about its own sessions and processes, over MCP."
    ),
    "service": Late(
        "sexton.cli.service", "Install, ask after and remove the service that keeps sessions well."
    ),
    "demo": Late(
        "sexton.cli.demo", "Show on a throw-away Hermes home what can be done for a real one."
    ),
    "completion": Late("sexton.cli.completion_command", "Write the completion script of a shell."),
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
