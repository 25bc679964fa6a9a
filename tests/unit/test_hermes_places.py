"""Where Hermes homes are looked for."""

from __future__ import annotations

from pathlib import Path

from sexton.homes.hermes.hermes_places import find_homes


def make_home(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "state.db").touch()
    return path


def test_the_usual_home_and_its_profiles_are_found(tmp_path: Path) -> None:
    usual = make_home(tmp_path / ".hermes")
    coder = make_home(usual / "profiles" / "coder")
    (usual / "profiles" / "empty").mkdir()
    (usual / "profiles" / "a file").touch()
    assert find_homes({}, tmp_path) == [usual, coder]


def test_the_named_home_comes_first(tmp_path: Path) -> None:
    usual = make_home(tmp_path / ".hermes")
    named = make_home(tmp_path / "data")
    profile = make_home(named / "profiles" / "coder")
    assert find_homes({"HERMES_HOME": str(named)}, tmp_path) == [named, profile, usual]


def test_a_named_profile_leads_to_the_home_it_belongs_to(tmp_path: Path) -> None:
    root = make_home(tmp_path / "data")
    one = make_home(root / "profiles" / "one")
    two = make_home(root / "profiles" / "two")
    assert find_homes({"HERMES_HOME": str(two)}, tmp_path) == [two, root, one]


def test_a_home_is_listed_once_however_it_is_reached(tmp_path: Path) -> None:
    usual = make_home(tmp_path / ".hermes")
    (tmp_path / "link").symlink_to(usual)
    assert find_homes({"HERMES_HOME": "~/link"}, tmp_path) == [usual]


def test_without_hermes_nothing_is_found(tmp_path: Path) -> None:
    (tmp_path / ".hermes").mkdir()
    assert find_homes({"HERMES_HOME": " "}, tmp_path) == []
