"""A plugin is enabled and disabled again, and nothing else of the configuration moves."""

from __future__ import annotations

import pytest
import yaml

from sexton.cli.hermes.enabling import disabled, enabled, is_enabled
from sexton.errors import HomeRefused
from tests.golden import golden

WRITTEN = [
    "",
    "# nothing but a remark\n",
    "model: {provider: custom}  # local\nmemory:\n  memory_enabled: false",
    "# mine\nplugins:\n  enabled:\n    - one  # keep\n    - two\nmodel: x\n",
    "plugins:\n  enabled:\n  - one\n  disabled: []\n",
    "plugins:  # my own\n  disabled:\n    - one\nmodel: x\n",
    "plugins: {enabled: [one, two]}\n",
    "plugins: {enabled: []}  # none\n",
    "plugins:\n  enabled: []\n  entries: {one: {a: 1}}\n",
    "plugins:\n    enabled: [one]\n",
    "plugins:\nmodel: x\n",
    "first:\n  enabled: [a]\nplugins:\n  disabled: []\nlast:\n  enabled:\n    - b\n",
    "model: x\nplugins:\n  entries:\n    one: {enabled: true}\n",
    'plugins:\n  "enabled": [foo]\n',
    "plugins:\n  'enabled':\n    - foo\n  disabled: []\n",
    '"plugins" :\n  enabled :\n    - foo\n',
    "plugins:\n  enabled : [ foo ]\n",
    "plugins : { enabled : [ foo , two ] }  # mine\n",
    "plugins: &p\n  enabled: &e\n    - foo\nmodel: x\n",
    "plugins: !!map\n  enabled: !!seq [foo]\n",
    "plugins: &p {disabled: []}\n",
    "plugins: {}\nmodel: x\n",
    "base: &b\n  enabled: [foo]\nplugins:\n  <<: *b\n  disabled: []\n",
    "# mine\r\nplugins:\r\n  enabled:\r\n    - one  # keep\r\nmodel: x\r\n",
    "model: x\r\nmemory: {}",
    "plugins:\r\n  enabled: [one]\r\n",
    "plugins: {enabled:\n    [one,\n     two]}\n",
    "  model: x\n  plugins:\n    enabled:\n    - one\n",
    "plugins:\n  enabled:\n    -\n      one\n    - two\n",
    "\N{ZERO WIDTH NO-BREAK SPACE}plugins:\n  enabled: [one]\n",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_every_line_stays_and_the_way_back_leads_to_the_same_text(text: str) -> None:
    with_it = enabled(text, "sexton")
    assert "sexton" in yaml.safe_load(with_it)["plugins"]["enabled"]
    assert is_enabled(with_it, "sexton")
    assert ("\r\n" in with_it) == ("\r\n" in text)
    assert "\n" not in with_it.replace("\r\n", "") or "\r\n" not in text
    before = (yaml.safe_load(text) or {}).get("plugins") or {}
    assert set(before.get("enabled") or ()) <= set(yaml.safe_load(with_it)["plugins"]["enabled"])
    assert all(line in with_it for line in text.splitlines() if "#" in line and "[" not in line)
    assert disabled(with_it, "sexton") == text


def test_what_is_enabled_already_and_what_is_not_there_stays() -> None:
    text = "plugins: {enabled: [sexton]}\n"
    assert enabled(text, "sexton") == text
    assert disabled("model: x\n", "sexton") == "model: x\n"


def test_what_hermes_or_a_person_wrote_is_taken_out_too() -> None:
    assert disabled("plugins:\n  enabled:\n    - one\n    - sexton\n", "sexton") == (
        "plugins:\n  enabled:\n    - one\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "plugins: [sexton]\n",
        "plugins:\n  disabled: [sexton]\n",
        "- a list\n",
        "a: [\n",
        "plugins: {disabled: [], enabled: &x [one], entries: {two: {enabled: *x}}}\nmore: *x\n",
    ],
)
def test_what_can_not_be_changed_line_by_line_is_refused_with_a_way_out(text: str) -> None:
    with pytest.raises(HomeRefused) as refused:
        enabled(text, "sexton")
    golden(
        "errors", f"not enabled: {' '.join(text.split())}", f"{refused.value}\n{refused.value.hint}"
    )
