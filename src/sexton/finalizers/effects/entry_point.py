"""How does installed Python code do end-of-session work?

A package names a function in the entry point group `sexton.finalizers`. It gets the `Job` and
returns a few words or None. It may run more than once for the same `job.key`, has no time limit
of ours, and reports trouble by raising: `EffectFailed` and `EffectPostponed` say when to try again.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint as EntryPointFound
from importlib.metadata import entry_points

from sexton.core.message import one_line
from sexton.core.record import record
from sexton.finalizers.job import ClaimLost, EffectFailed, EffectPostponed, Job

GROUP = "sexton.finalizers"
LONGEST = 500


@record
class EntryPointPlan:
    """Which function of the group to call."""

    name: str


class EntryPoint:
    """Calls an installed function."""

    def __init__(self, plan: EntryPointPlan) -> None:
        self._name = plan.name

    def check(self) -> None:
        """Raise EffectFailed if no such function is installed here."""
        self._found()

    def carry_out(self, job: Job) -> str:
        # Whatever somebody else's code does wrong is a failed attempt, and nothing more.
        try:
            said = self._function()(job)
        except (ClaimLost, EffectFailed, EffectPostponed):
            raise
        except BaseException as problem:  # in a thread of its own, so no signal's
            said = one_line(str(problem))[:LONGEST]
            kind = type(problem).__name__
            raise EffectFailed(f"'{self._name}' raised {kind}", said=said) from problem
        return one_line(str(said))[:LONGEST] if said is not None else f"'{self._name}' returned"

    def _function(self) -> Callable[[Job], object]:
        function: Callable[[Job], object] = self._found().load()
        return function

    def _found(self) -> EntryPointFound:
        found = list(entry_points(group=GROUP, name=self._name))
        if len(found) != 1:
            count = "no" if not found else "more than one"
            raise EffectFailed(f"{count} installed package has a '{self._name}' in {GROUP}")
        return found[0]
