"""Every question that has a path of the API and a tool of its own.

A question is one function in `questions`. Its parameters are the query of `/v1/NAME` and the
arguments of the MCP tool; its docstring is what both say about it, and what it returns is the JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sexton.operations.questions.budget_questions import budgets
from sexton.operations.questions.finding_questions import findings
from sexton.operations.questions.home_questions import homes
from sexton.operations.questions.job_questions import finalizers
from sexton.operations.questions.journal_questions import journal
from sexton.operations.questions.leak_questions import leaks
from sexton.operations.questions.notification_questions import notifications
from sexton.operations.questions.process_questions import processes
from sexton.operations.questions.session_questions import sessions
from sexton.operations.questions.settings_questions import settings
from sexton.operations.questions.vault_questions import vault
from sexton.operations.questions.worker_questions import workers

QUESTIONS: Mapping[str, Callable[..., Mapping[str, Any]]] = {
    each.__name__: each
    for each in (
        budgets,
        finalizers,
        findings,
        homes,
        journal,
        leaks,
        notifications,
        processes,
        sessions,
        settings,
        vault,
        workers,
    )
}
