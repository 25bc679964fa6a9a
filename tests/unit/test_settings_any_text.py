"""Does any text at all either load or get refused, before the time of a test is over?"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.errors import SettingsInvalid
from sexton.settings.loader import load
from sexton.settings.sections import SECTIONS
from tests.contract.examples import examples

NAMES = sorted({name for section in SECTIONS.values() for name in section.fields})
TOKENS = [
    *NAMES, ": ", ":", "- ", "\n", "\n  ", "\n    ", "[", "]", "{", "}", ",", "'", '"', "|", ">",
    "&a ", "*a", "!!str ", "!x ", "%YAML 1.1\n", "---\n", "...\n", "# c", "\\x", "\\U0011FFFF",
    "\t", "null", "~", "true", "yes", "04", "1e3", "1_000", "4:00", "2001-01-01", ".nan", "0x1f",
    "<<", "? ", "\ufeff", "\x85", "\u2028", "\r", "é", "😀", "\0", "99999999999999999999", "-5",
    "80%", "2h", "30d", "10MB", "idle", "Europe/Berlin", "/tmp", "%TAG ! x\n", "@", "`", "e0", ".5",
    "+", ".", "command", "memory", "webhook", "python", "https://", "held",
]  # fmt: skip


def load_or_refuse(content: bytes, environ: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "sexton.yaml"
        file.write_bytes(content)
        told = str(file)
        try:
            load(file, environ)
        except SettingsInvalid as error:
            told = str(error)
    assert told.encode()
    assert all(line.startswith((str(file), "environment")) for line in told.split("\n"))


@given(st.lists(st.sampled_from(TOKENS), max_size=40).map("".join))
def test_any_text_made_of_yaml_loads_or_is_refused(text: str) -> None:
    load_or_refuse(text.encode(), {})


@given(st.binary(max_size=200))
def test_any_bytes_load_or_are_refused(content: bytes) -> None:
    load_or_refuse(content, {})


@given(st.sampled_from(["SEXTON_RESET__MODE", "SEXTON_LIVENESS__DIES_WITH_OWNER"]), st.text())
def test_any_value_of_a_variable_is_taken_or_refused(name: str, value: str) -> None:
    load_or_refuse(b"", {name: value})


SECTION_NAMES = ["homes", "reset", "liveness", "processes", "finalizers", "notify", "keeper"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@examples(50)
@given(st.dictionaries(st.sampled_from(SECTION_NAMES), VALUES))
def test_any_values_in_any_place_load_or_are_refused(values: dict[str, object]) -> None:
    import yaml

    text = yaml.safe_dump(values, allow_unicode=True)
    load_or_refuse(text.encode("utf-8", "surrogatepass"), {})


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"k{number}: 1\n" for number in range(9_000)),
        "reset:\n  rules:\n" + "".join(f"  - {{keys: [k{n}], mod: 1}}\n" for n in range(1_500)),
        "x " * 131_000,
        "- " * 131_000,
        "-\n" * 131_000,
        "? " * 131_000,
        "{" * 262_144,
        '"' + "a\n" * 131_000,
        "a: |\n" + " x\n" * 80_000,
        "".join(f"a{number}: &a{number} 1\n" for number in range(13_000)),
    ],
    ids=lambda text: repr(text[:12]),
)
@pytest.mark.slow
def test_a_large_text_loads_or_is_refused(text: str) -> None:
    load_or_refuse(text.encode()[:262_144], {})
