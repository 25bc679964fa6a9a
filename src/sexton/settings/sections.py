"""Every section of the settings, in the order of the file.

A setting is declared where its value is: in the policy or the record that has it. Here stands which
records make up which section, and what the lists and mappings in between are for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sexton.core.record import replace
from sexton.core.setting import setting
from sexton.liveness.policy import LivenessPolicy
from sexton.processes.handling import ProcessPolicy
from sexton.resets.policy import ResetPolicy
from sexton.retention.disk_budget import DiskBudget
from sexton.retention.policy import Retention, RetentionClass
from sexton.rules.rulebook import ResetRule
from sexton.settings.budget_entries import BudgetEntry
from sexton.settings.settings_values import (
    ArchiveSettings,
    FinalizerSetting,
    GcSettings,
    HomeSetting,
    KeeperSettings,
    NotifySetting,
    ServeSettings,
    TrashSettings,
)
from sexton.settings.shapes import Field, Items, Pairs, Section, declared, sections_of
from sexton.settings.vocabulary import DURATION
from sexton.spending.policy import BreakerPolicy, Price, Prices, RunawayPolicy

_PRICE = Section("What a million tokens cost, in dollars.", declared(Price))
_RESET = declared(ResetPolicy)
_RETENTION = declared(RetentionClass, "sources", "after_delivery")


def _listed(
    name: str, entry: Section, about: str, change: str, otherwise: str = "none"
) -> dict[str, Field]:
    """A list of entries."""
    declaration: Any = setting(default=(), otherwise=otherwise, about=about, change=change)
    return {name: Field(name, name, Items(entry, f"a list of {name}"), declaration, blank=True)}


def _heir(about: str, own: Mapping[str, Field], general: Mapping[str, Field]) -> Section:
    """A section that inherits what it does not set, so that nothing in it has a default."""
    fields = {**own, **general}
    return Section(about, {name: replace(field, inherits=True) for name, field in fields.items()})


def _section(name: str, about: str, *parts: Mapping[str, Field]) -> dict[str, Field]:
    fields = {field.name: field for part in parts for field in part.values()}
    declaration: Any = setting(otherwise="the defaults of its settings", about=about, change="")
    return {name: Field(name, name, Section(about, fields), declaration, blank=True)}


FILE: Final = Section(
    "The settings of Sexton, `sexton.yaml`.",
    {
        **_listed(
            "homes",
            Section("A place where another agent keeps sessions.", declared(HomeSetting)),
            "The homes of other agents. Sexton looks at no directory that is not listed.",
            "Add the home of each agent that Sexton is to look after, or use `sexton attach`.",
        ),
        **_section(
            "reset",
            "When a session is over.",
            _RESET,
            _listed(
                "rules",
                _heir(
                    "A reset policy for some sessions; what it does not set it inherits from "
                    "`reset`.",
                    declared(ResetRule),
                    _RESET,
                ),
                "Exceptions for some sessions. The most specific rule wins: a key pattern outranks "
                "a source, a source outranks a chat type, and of equals the later one wins.",
                "Add a rule where some conversations end sooner or later than others.",
            ),
        ),
        **_section(
            "liveness",
            "How Sexton notices the death of a process, and what it means for its sessions.",
            declared(LivenessPolicy, inactivity_bound=Pairs(DURATION, "sources to durations")),
        ),
        **_section(
            "processes",
            "What the background processes of sessions may block, and what happens to them.",
            declared(ProcessPolicy),
        ),
        **_listed(
            "finalizers",
            Section("Work to be done when a session has ended.", declared(FinalizerSetting)),
            "Work to be done for every session that ends. Programs and servers read what was said, "
            "so there is none by default.",
            "Add one to keep memories, to call your own program, or to post sessions to a server.",
        ),
        **_listed(
            "budgets",
            Section("What may be spent, and what happens when it is.", declared(BudgetEntry)),
            "What may be spent. Two budgets always exist, unless one of the same name takes their "
            "place: 200 iterations a turn (`turn.iterations`), and 5 million tokens an hour for "
            "each tree of sessions (`tree.tokens/1h`).",
            "Add one where agents could spend more than their work is worth.",
            otherwise="`turn.iterations` and `tree.tokens/1h`",
        ),
        **_section(
            "prices",
            "What models cost.",
            declared(
                Prices,
                models=Pairs(_PRICE, "models to prices"),
                unknown=replace(_PRICE, words="a price, or null for an error", null=True),
            ),
        ),
        **_section(
            "breaker", "When tools that fail or repeat themselves stop.", declared(BreakerPolicy)
        ),
        **_section(
            "runaway",
            "How much of each in one minute is a loop rather than a conversation.",
            declared(RunawayPolicy),
        ),
        **_section(
            "notify", "Who is notified of what happens to sessions.", declared(NotifySetting)
        ),
        **_section(
            "retention",
            "How long Sexton keeps what sessions left behind.",
            _RETENTION,
            declared(Retention),
            _listed(
                "classes",
                _heir(
                    "How long it is kept for some sources; what it does not set it inherits from "
                    "`retention`.",
                    declared(RetentionClass),
                    {},
                ),
                "What is different for some sources. A class names what it removes, so there is "
                "none by default.",
                "Add a class where sessions of some sources are worth less, or more, than others.",
            ),
        ),
        **_section(
            "disk",
            "How much of the disk Sexton uses. What must go for it goes oldest first.",
            declared(DiskBudget),
        ),
        **_section(
            "archive", "Where and how Sexton archives what it removes.", declared(ArchiveSettings)
        ),
        **_section("trash", "What was removed and can still be restored.", declared(TrashSettings)),
        **_section("gc", "What `sexton gc` takes for garbage by default.", declared(GcSettings)),
        **_section("keeper", "How a keeper works.", declared(KeeperSettings)),
        **_section(
            "serve",
            "Where and to whom `sexton serve` shows the ledger.",
            declared(ServeSettings),
        ),
    },
)

SECTIONS: Final[Mapping[tuple[str, ...], Section]] = dict(sections_of(FILE))
"""Every section by the names that lead to it; places in lists are left out."""
MAPPINGS: Final[Mapping[str, Section]] = {
    name: field.shape for name, field in FILE.fields.items() if isinstance(field.shape, Section)
}
"""The sections of the file that are no lists."""
LISTS: Final = {
    (name, setting)
    for name, section in MAPPINGS.items()
    for setting, field in section.fields.items()
    if isinstance(field.shape, Items) and isinstance(field.shape.item, Section)
}
"""The lists of entries inside of these."""


def json_schema() -> dict[str, Any]:
    """The settings as JSON Schema, for editors and for programs that write them."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **FILE.schema}
