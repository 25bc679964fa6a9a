"""What can an agent ask, and what may it do about its own processes?"""

from __future__ import annotations

from typing import Any

from sexton.core.session import NATIVE
from sexton.errors import ProcessKept, ProcessNotFound
from sexton.integrations.mcp.scope import Scope
from sexton.keeper.apply import new_receipt
from sexton.keeper.explain import explain
from sexton.operations import thing_records as things
from sexton.operations import values
from sexton.processes.listed import view
from sexton.processes.model import Process
from sexton.processes.stops import keep_process, outcome, stop_processes
from sexton.spending.budget_standing import explained, standings, who
from sexton.wiring import Sexton
from sexton.wiring.reaching import everywhere

ASKED = "asked for by the agent over MCP"


class Answers:
    """The tools of the server; each docstring is what the agent reads about it."""

    def __init__(self, house: Sexton, scope: Scope) -> None:
        self._house = house
        self._scope = scope

    def my_sessions(self) -> dict[str, Any]:
        """List your session and everything that came of it, with its state and what it used.

        That is subagents and conversations that were compressed.
        """
        shown = map(self._house.content.session, self._scope.sessions())
        return {"sessions": [values.session(each) for each in shown]}

    def why(self, session: str | None = None) -> dict[str, Any]:
        """Say why a session is as it is: why it is not reset or when it will be, who holds it.

        Also what holds a reset back and how its budgets stand. Without a name it is about your own.
        """
        found = self._scope.session(session)
        return dict(values.explanation(explain(everywhere(self._house), found)))

    def my_processes(self) -> dict[str, Any]:
        """List the background processes of your sessions that really run, and what each does.

        It may work, idle or listen on ports, and hold a reset back. Ask this before you start a
        server again.
        """
        found = view(everywhere(self._house), self._scope.processes())
        return {"processes": [things.process(each) for each in found]}

    def my_budget(self, session: str | None = None) -> dict[str, Any]:
        """Show what a session may spend and has spent: tokens, money, iterations, calls, time.

        Without a name it is about your own session.
        """
        found = self._scope.session(session)
        if found.home != NATIVE:
            return {"budgets": [], "note": f"budgets of the home '{found.home}' are counted there"}
        estate = self._house.estate()
        spender = who(estate, found)
        return {
            "budgets": [
                {**things.budget(standing, budget, word), "detail": words}
                for standing in standings(estate, spender)
                for budget, word, words in explained(standing, spender.source)
            ]
        }

    def keep_process(self, pid: int, keep: bool = True) -> dict[str, Any]:
        """Keep a background process of yours from being stopped when its session ends or is reset.

        With keep=false it may be stopped again, unless a person keeps it. It does not hold a reset
        back by being kept.
        """
        process, receipt, by_agent = self._mine(pid), new_receipt(), self._scope.is_agent
        estate = self._house.estate()
        if not keep_process(estate, process, keep, receipt, ASKED, by_agent=by_agent):
            self._check_free(self._mine(pid))
            raise ProcessNotFound(f"the process {pid} has ended")
        return {"receipt": receipt, "pid": pid, "kept": keep}

    def stop_process(self, pid: int) -> dict[str, Any]:
        """Stop a background process of yours with everything it started, and say what ended how.

        Each is asked to end, and killed if it does not. This can not be undone. One that a person
        keeps is not stopped.
        """
        process, receipt = self._mine(pid), new_receipt()
        self._check_free(process)
        # Nobody was shown its command: only what is proved to be the registered one is signalled.
        done = stop_processes(
            self._house.estate(), [process], receipt, confirmed=False, asked=ASKED
        )
        return {
            "receipt": receipt,
            "result": outcome(done) or "there was nothing to stop",
            "stopped": all(each.is_over for each in done),
            "processes": [things.stopped(each) for each in done],
        }

    def _check_free(self, process: Process) -> None:
        """An error if a person keeps the process and this is an agent."""
        if self._scope.is_agent and process.is_kept_by_person:
            raise ProcessKept(f"a person keeps the process {process.identity.pid}")

    def _mine(self, pid: int) -> Process:
        here = self._house.processes.myself()
        for each in self._scope.processes():
            who = each.identity
            if (who.pid, who.host, who.boot_id) == (pid, here.host, here.boot_id):
                return each
        raise ProcessNotFound(
            f"no process {pid} of this machine is yours",
            hint="Ask for your processes, and name one of those.",
        )
