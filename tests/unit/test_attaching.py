"""A home comes into a settings file, and nothing else of the file moves."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sexton.cli.cli_attaching import with_home, without_home
from sexton.errors import SettingsInvalid

HOME, FILE = Path("/srv/agents/.hermes"), Path("/etc/sexton/sexton.yaml")
OTHER = {"path": "/srv/other", "name": "other"}
WRITTEN = [
    "",
    "# nothing but a remark\n",
    "reset:\n  mode: idle  # mine\n",
    "reset: {mode: idle}",
    "homes:\n  - path: /srv/other\n    name: other  # theirs\n# the end\nreset: {mode: idle}\n",
    "homes:\n- path: /srv/other\n  name: other\n",
    "homes: [{path: /srv/other, name: other}]  # in one line\n",
    "homes: []\nreset: {mode: idle}\n",
    "homes:\nreset: {mode: idle}\n",
    "homes:\r\n  - path: /srv/other # theirs\r\n    name: other\r\nreset:\r\n  mode: idle\r\n",
    "homes:\n  # a remark\n  -\n    path: /srv/other\n    name: other\n",
]


@pytest.mark.parametrize("act", [False, True])
@pytest.mark.parametrize("text", WRITTEN)
def test_every_line_stays_and_again_is_not_more(text: str, act: bool) -> None:
    changed = attached(text, act=act)
    before, after = yaml.safe_load(text) or {}, yaml.safe_load(changed)
    homes = before.get("homes") or []
    new = {"path": str(HOME)} | ({"act": True} if act else {})
    assert sorted(map(str, after["homes"])) == sorted(map(str, [*homes, new]))
    assert {**after, "homes": 0} == {**before, "homes": 0}
    assert all(line in changed for line in text.split("\n") if "homes: [" not in line)
    assert ("\r\n" in changed) == ("\r\n" in text)
    assert attached(changed, act=act) == changed
    assert attached(changed, act=False) == changed


@pytest.mark.parametrize(
    "text",
    [
        "homes:\n  - path: /srv/agents/.hermes  # mine\n    name: work\n  - path: /srv/other\n",
        "homes:\n  - name: work\n    act: false  # not yet\n    path: ../../srv/agents/.hermes\n",
        "homes: [{path: /srv/agents/.hermes, name: work}, {path: /srv/other}]\n",
        "homes:\n- path: ~/.hermes\n  name: work\n",
    ],
)
def test_a_home_that_is_listed_is_only_allowed_to_be_changed(text: str) -> None:
    assert attached(text) == text
    changed = attached(text, act=True)
    before, after = yaml.safe_load(text)["homes"], yaml.safe_load(changed)["homes"]
    [place] = [place for place, each in enumerate(before) if each.get("name") == "work"]
    assert after[place] == {**before[place], "act": True}
    assert [*after[:place], *after[place + 1 :]] == [*before[:place], *before[place + 1 :]]
    assert all(remark in changed for remark in ("# mine", "# not yet") if remark in text)
    assert attached(changed, act=True) == changed


@pytest.mark.parametrize("act", [False, True])
@pytest.mark.parametrize("text", WRITTEN)
def test_what_was_attached_is_taken_out_again_and_nothing_else(text: str, act: bool) -> None:
    changed = detached(attached(text, act=act))
    before, after = yaml.safe_load(text) or {}, yaml.safe_load(changed) or {}
    assert {**after, "homes": after.get("homes") or []} == {
        **before, "homes": before.get("homes") or [],
    }  # fmt: skip
    if before.get("homes") or "homes" not in text:
        assert changed.rstrip() == text.rstrip()
    assert detached(changed) == changed
    assert detached(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("homes:\n  - path: /srv/agents/.hermes  # mine\n    name: work\n  - path: /srv/other\n",
         "homes:\n  - path: /srv/other\n"),
        ("homes:\n  - path: /srv/other\n  # mine\n  - path: /srv/agents/.hermes\n# end\n",
         "homes:\n  - path: /srv/other\n  # mine\n# end\n"),
        ("homes: [{path: ~/.hermes, name: work}, {path: /srv/other}]\n",
         "homes: [{path: /srv/other}]\n"),
        ("homes: [{path: /srv/other}, {path: ~/.hermes}]  # two\n",
         "homes: [{path: /srv/other}]  # two\n"),
        ("homes: [{path: ~/.hermes}]\nreset: {mode: idle}\n", "homes: []\nreset: {mode: idle}\n"),
        ("homes:  # those of the team\n- path: ~/.hermes\nreset: {mode: idle}\n",
         "homes: []  # those of the team\nreset: {mode: idle}\n"),
        ("homes:\r\n  -\r\n    path: ~/.hermes\r\nreset: {mode: idle}\r\n",
         "reset: {mode: idle}\r\n"),
        ("homes:\n  - path: /srv/agents/.hermes", ""),
    ],
)  # fmt: skip
def test_a_home_is_taken_out_wherever_it_stands(text: str, left: str) -> None:
    assert detached(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "homes:\n  - &mine {path: ~/.hermes, act: true}\n  - {<<: *mine, path: /srv/other}\n",
        "{homes: [{path: ~/.hermes}]\n",
        "all: &all [{path: ~/.hermes}]\nhomes: *all\n",
    ],
)
def test_what_can_not_be_taken_out_line_by_line_stays(text: str) -> None:
    with pytest.raises(SettingsInvalid):
        detached(text)


@pytest.mark.parametrize(
    "text", ["homes: 3\n", "{reset: {mode: idle}}\n", "homes: [\n", "- a list\n", "homes: {a: b}\n"]
)
def test_what_can_not_be_changed_line_by_line_is_refused(text: str) -> None:
    with pytest.raises(SettingsInvalid):
        attached(text)


def test_any_path_comes_back_as_it_is() -> None:
    for name in ("with space", "a: b", "#c", "né", "'q'", '"', "yes", "{x}", "tab\tbed", "\u2028"):
        home = Path("/srv", name)
        changed = with_home("", home, act=False, file=FILE, environ={})
        assert yaml.safe_load(changed)["homes"] == [{"path": str(home)}]


def attached(text: str, *, act: bool = False) -> str:
    environ = {"HOME": "/srv/agents"}
    return with_home(text, HOME, act=act, file=FILE, environ=environ)


def detached(text: str) -> str:
    return without_home(text, HOME, file=FILE, environ={"HOME": "/srv/agents"})
