"""Every reason for which the installed Hermes ends a session means one kind of end here."""

from __future__ import annotations

from pathlib import Path

from sexton.core.endings import ENDS, HERMES, PREFIXES
from tests.scenario.hermes_reasons import reasons_in, reasons_of

KNOWN = {
    "agent_close", "branched", "cli_close", "compression", "compute_host_*", "cron_complete",
    "daily", "idle", "idle_timeout", "lru_evict", "new_session", "orphaned_compression",
    "resume_pending_expired", "resumed_other", "session_reset", "session_switch", "suspended",
    "tui_close", "tui_shutdown", "ws_disconnect", "ws_orphan_reap",
}  # fmt: skip
"""What 0.19.0 says; if the reading of its code finds less, it is the reading that is broken."""


def unmapped(reasons: set[str]) -> set[str]:
    """Those that no table says the kind of."""
    known = ENDS[HERMES].keys() | {f"{prefix}*" for prefix in PREFIXES}
    return reasons - known


def test_every_reason_in_the_code_of_hermes_is_mapped(hermes_python: Path) -> None:
    found = reasons_of(hermes_python)
    assert found.keys() >= KNOWN
    assert unmapped(set(found)) == set(), found


def test_a_reason_that_hermes_invents_is_noticed() -> None:
    code = """
def close(db, id, end_reason="by_default"):
    db.end_session(id, "a_new_one")
    db.execute("UPDATE sessions SET ended_at = 1, end_reason = 'in_sql' WHERE id = ?")
    teardown_session(id, end_reason=f"host_{id}")
"""
    assert unmapped(set(reasons_in(code))) == {"by_default", "a_new_one", "in_sql", "host_*"}
