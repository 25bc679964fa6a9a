"""Does the schema that editors get describe the settings the loader takes?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sexton.settings.loader import load
from sexton.settings.sections import MAPPINGS, SECTIONS, json_schema
from sexton.settings.settings_values import Settings


def described(*path: str) -> dict[str, Any]:
    """What the schema says of the settings of a section."""
    found = json_schema()
    for name in path:
        found = found["properties"][name]
        found = found.get("items", found)
    properties: dict[str, Any] = found["properties"]
    return properties


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every section in a schema."""
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        schema = list(schema.values())
    for inner in schema if isinstance(schema, list) else ():
        yield from objects(inner)


def test_unknown_keys_are_forbidden_everywhere() -> None:
    sections = list(objects(json_schema()))
    assert len(sections) == len(SECTIONS) + len(["prices.unknown"])
    assert all(each["additionalProperties"] is False for each in sections)


def test_the_defaults_an_editor_offers_load_to_the_defaults(tmp_path: Path) -> None:
    offered = {
        section: {name: each["default"] for name, each in described(section).items()}
        for section in MAPPINGS
    }
    assert offered["trash"] == {"grace": "7d"}
    file = tmp_path / "sexton.yaml"
    file.write_text(yaml.safe_dump(offered))
    assert load(file, {}) == Settings()


def test_no_default_is_offered_for_what_a_rule_inherits() -> None:
    for path in (("reset", "rules"), ("retention", "classes")):
        assert not [each for each in described(*path).values() if "default" in each]


def test_only_what_has_no_default_is_required() -> None:
    required = [each["required"] for each in objects(json_schema()) if "required" in each]
    price = ["input", "output"]
    assert required == [["path"], ["name", "kind"], ["scope"], price, price, ["sources"]]


def test_no_default_is_offered_where_it_depends_on_the_kind_or_can_not_be_written() -> None:
    settings = described("finalizers").items()
    offered = {name: each["default"] for name, each in settings if "default" in each}
    assert offered == {
        "attempts": 14,
        "per_minute": None,
        "cwd": ".",
        "secret_env": None,
        "api_key_env": None,
        "file": "memories.md",
        "context_tokens": 32000,
        "daily_calls": 500,
    }
