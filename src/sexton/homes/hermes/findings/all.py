"""What is wrong with a Hermes home, all topics together?"""

from __future__ import annotations

from sexton.homes.hermes.condition import Condition
from sexton.homes.hermes.config_files import Configuration
from sexton.homes.hermes.findings.config_names import Known, name_findings
from sexton.homes.hermes.findings.config_reset import reset_findings
from sexton.homes.hermes.findings.config_sections import (
    fallback_findings,
    inert_findings,
    repeated_findings,
    retention_findings,
    server_findings,
    unusable_findings,
    variable_findings,
)
from sexton.homes.hermes.findings.conversations import conversation_findings
from sexton.homes.hermes.findings.files_findings import Kept, file_findings, link_findings
from sexton.homes.hermes.findings.finding import Finding, Names, Rules
from sexton.homes.hermes.findings.money import money_findings
from sexton.homes.hermes.findings.runtime import runtime_findings
from sexton.homes.hermes.findings.sessions_findings import (
    Totals,
    compression_findings,
    garbage_findings,
    leak_findings,
)
from sexton.homes.hermes.findings.storage import storage_findings


def home_findings(
    seen: Condition, said: Configuration, totals: Totals, rules: Rules, names: Names
) -> tuple[Finding, ...]:
    """What is wrong with the sessions, files and processes."""
    kept = Kept(now=seen.now, retention=rules.ours.retention, back=rules.back)
    return (
        *leak_findings(totals, names),
        *garbage_findings(seen.small, totals, names),
        *compression_findings(seen.compressions, names),
        *conversation_findings(seen, said, rules, names),
        *file_findings(seen.files, seen.owners, kept, names),
        *link_findings(seen.linked, names),
        *money_findings(rules.unpriced),
        *storage_findings(seen.storage, names),
    )


def config_findings(
    said: Configuration, schema: int, known: Known | None, names: Names
) -> tuple[Finding, ...]:
    """What is wrong with the configuration."""
    return (
        *unusable_findings(said, names),
        *reset_findings(said, schema, names),
        *retention_findings(said, names),
        *repeated_findings(said),
        *variable_findings(said),
        *inert_findings(said, known),
        *fallback_findings(said, names),
        *server_findings(said),
        *runtime_findings(said, names),
        *name_findings(said, known),
    )
