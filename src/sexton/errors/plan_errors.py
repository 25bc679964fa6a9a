"""What can be wrong with a plan?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


class PlanInvalid(SextonError):
    """The file is not a plan."""

    exit_code = 40
    hint = "Make one with 'sexton plan --json > plan.json'."


class PlanEdited(SextonError):
    """The plan is not what 'sexton plan' wrote."""

    exit_code = 41
    hint = "Make a new plan; an edited one is never applied."


class PlanForeign(SextonError):
    """The plan was made for another ledger."""

    exit_code = 42
    hint = "Apply it with the --ledger it was made for."


class NothingToUndo(SextonError):
    """Nothing that the receipt stands for is in the trash or the archive."""

    exit_code = 43
    hint = "'sexton trash list' and 'sexton archive list' show what can be brought back."
