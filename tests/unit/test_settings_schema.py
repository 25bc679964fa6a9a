"""Does the schema that editors get describe the settings the loader takes?"""

from __future__ import annotations

from pathlib import Path

import yaml

from sexton.settings.loader import load
from sexton.settings.settings_schema import SECTIONS, json_schema
from sexton.settings.settings_values import Settings


def test_every_setting_says_what_it_is_for() -> None:
    nameless = {
        (*path, name)
        for path, model in SECTIONS.items()
        for name, field in model.model_fields.items()
        if not field.description and (*path, name) not in SECTIONS
    }
    assert not nameless


def test_unknown_keys_are_forbidden_everywhere() -> None:
    schema = json_schema()
    described = [schema, *schema["$defs"].values()]
    assert len(described) == len(SECTIONS) + len(["PriceFields"])
    assert all(each["additionalProperties"] is False for each in described)


def test_the_defaults_an_editor_offers_load_to_the_defaults(tmp_path: Path) -> None:
    schema = json_schema()
    offered = {
        section: {
            name: described["default"]
            for name, described in schema["$defs"][model]["properties"].items()
        }
        for section, model in (
            ("reset", "ResetFields"),
            ("liveness", "LivenessFields"),
            ("processes", "ProcessFields"),
            ("breaker", "BreakerFields"),
            ("runaway", "RunawayFields"),
            ("notify", "NotifyFields"),
            ("keeper", "KeeperFields"),
            ("retention", "RetentionFields"),
            ("disk", "DiskFields"),
            ("archive", "ArchiveFields"),
            ("trash", "TrashFields"),
            ("gc", "GcFields"),
            ("serve", "ServeFields"),
        )
    }
    assert offered["trash"] == {"grace": "7d"}
    file = tmp_path / "sexton.yaml"
    file.write_text(yaml.safe_dump(offered))
    assert load(file, {}) == Settings()


def test_no_default_is_offered_for_what_a_rule_inherits() -> None:
    for name in ("RuleFields", "ClassFields"):
        described = json_schema()["$defs"][name]["properties"].values()
        assert not [each for each in described if "default" in each]


def test_only_what_has_no_default_is_required() -> None:
    required = {name: each.get("required") for name, each in json_schema()["$defs"].items()}
    assert {name: each for name, each in required.items() if each} == {
        "HomeFields": ["path"],
        "FinalizerFields": ["name", "kind"],
        "BudgetFields": ["scope"],
        "PriceFields": ["input", "output"],
        "ClassFields": ["sources"],
    }


def test_no_default_is_offered_where_it_depends_on_the_kind_or_can_not_be_written() -> None:
    described = json_schema()["$defs"]["FinalizerFields"]["properties"]
    offered = {name: each["default"] for name, each in described.items() if "default" in each}
    assert offered == {
        "attempts": 14,
        "per_minute": None,
        "secret_env": None,
        "api_key_env": None,
        "file": "memories.md",
        "context_tokens": 32000,
        "daily_calls": 500,
    }
