"""Whose a file of a Hermes home is, its whole name tells and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.errors import PlaceUnsafe, VaultDamaged
from sexton.homes.hermes.session_files import HermesFileNames
from sexton.retention.files.flat_directory import FlatFiles
from sexton.retention.model import Ownership, PutBack
from tests.contract.examples import examples
from tests.golden import golden
from tests.unit.vault_scene import file

NAMES = HermesFileNames()
TIME = "20260301_120000_123456"
ID = "20260301_115900_a1b2c3"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sessions").mkdir()
    return tmp_path / "sessions"


@pytest.fixture
def files(place: Path) -> FlatFiles:
    return FlatFiles(place, NAMES)


@pytest.mark.parametrize(
    ("name", "owner", "sure"),
    [
        (f"session_{ID}.json", ID, True),
        (f"request_dump_{ID}_{TIME}.json", ID, True),
        (f"request_dump_{TIME}_{TIME}.json", TIME, True),
        (f"{ID}.jsonl", ID, True),
        (f"{ID}.json", ID, True),
        ("cron_daily_20260301_115900.jsonl", "cron_daily_20260301_115900", True),
        ("api_1700000000_0a1b2c3d.jsonl", "api_1700000000_0a1b2c3d", True),
        ("notes.json", "notes", False),
        ("a b.jsonl", NAMES.owner("a b"), False),
        ("sessions.json", None, False),
        (f"session_{ID}.json.tmp", None, False),
        (f".session_{ID}.json", None, False),
        (f"request_dump_{ID}.json", f"request_dump_{ID}", False),
        ("README.md", None, False),
        ("session_\udcff.json", None, False),
    ],
)
def test_a_name_is_read_as_a_whole(name: str, owner: str | None, sure: bool) -> None:
    assert NAMES.owner_of(name) == Ownership(owner, sure)


@examples(50)
@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_each_id_has_names_of_its_own(one: str, other: str) -> None:
    owner = NAMES.owner(one)
    assert NAMES.owner_of(f"session_{owner}.json") == Ownership(owner, sure=True)
    assert NAMES.owner_of(f"request_dump_{owner}_{TIME}.json") == Ownership(owner, sure=True)
    assert "/" not in owner
    assert (owner == NAMES.owner(other)) == (one.strip() == other.strip())


def test_the_files_of_one_session_are_not_those_of_one_that_begins_like_it(
    files: FlatFiles, place: Path
) -> None:
    for id in ("a", "ab", "a_b", "a*", "[ab]", "../a"):
        for name in (
            f"session_{NAMES.owner(id)}.json",
            f"request_dump_{NAMES.owner(id)}_{TIME}.json",
        ):
            (place / name).write_text(id)
    for id in ("a", "ab", "a_b", "a*", "[ab]", "../a"):
        found = files.of([files.owner(id)])
        assert [each.size for each in found[files.owner(id)].contents] == [len(id)] * 2
    assert files.of([files.owner("*")]) == {}


def test_of_a_session_everything_goes_and_comes_back_and_the_rest_stays(
    files: FlatFiles, place: Path
) -> None:
    mine = {f"session_{ID}.json", f"request_dump_{ID}_{TIME}.json", f"{ID}.jsonl"}
    others = {"sessions.json", "session_other.json", "notes.txt"}
    for name in mine | others:
        (place / name).write_text(name)
    (place / "saved").mkdir()
    contents = files.of([ID])[ID].contents
    texts = {each.path[0]: b"".join(each.chunks()) for each in contents}
    assert texts == {name: name.encode() for name in mine}
    assert files.remove({ID: contents}) == 3
    assert {each.name for each in place.iterdir()} == others | {"saved"}
    assert files.of([ID]) == {}
    back = [file(name, data=data) for name, data in texts.items()]
    assert files.put_back(ID, back) == PutBack(files=3)
    assert {each.name for each in place.iterdir()} == mine | others | {"saved"}


@pytest.mark.parametrize(
    "path", [("sessions.json",), ("session_other.json",), ("..", f"session_{ID}.json"), ("x",)]
)
def test_nothing_is_put_back_that_is_not_the_sessions_own(
    path: tuple[str, ...], files: FlatFiles, place: Path
) -> None:
    with pytest.raises(VaultDamaged):
        files.put_back(ID, [file(*path)])
    assert list(place.iterdir()) == []


def test_orphans_are_told_from_files_that_may_be_anybodys(files: FlatFiles, place: Path) -> None:
    for name in (f"session_{ID}.json", "session_gone.json", "notes.json", "sessions.json"):
        (place / name).write_text("{}")
    os.mkfifo(place / "session_pipe.json")
    known = {files.owner(ID)}
    orphans = [each.path for each in files.scan() if each.sure and each.owner not in known]
    assert orphans == [("session_gone.json",)]
    assert sum(1 for _ in files.scan()) == 4


def test_a_link_among_the_files_of_a_session_is_refused(files: FlatFiles, place: Path) -> None:
    (place / f"session_{ID}.json").symlink_to("/etc/passwd")
    (place / f"{ID}.jsonl").write_text("x")
    found = files.of([ID])[ID]
    assert [each.path for each in found.contents] == [(f"{ID}.jsonl",)]
    [(path, why)] = found.refused
    assert path == (f"session_{ID}.json",)
    golden("outcomes", "refused: a link", why)


def test_a_home_without_the_directory_has_no_files(tmp_path: Path) -> None:
    files = FlatFiles(tmp_path / "sessions", NAMES)
    assert (files.of([ID]), list(files.scan()), files.remove({ID: []})) == ({}, [], 0)


def test_a_directory_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / f"session_{ID}.json").write_text("x")
    (tmp_path / "sessions").symlink_to("elsewhere")
    files = FlatFiles(tmp_path / "sessions", NAMES)
    seen = {ID: [file(f"session_{ID}.json")]}
    assert (files.of([ID]), list(files.scan()), files.remove(seen)) == ({}, [], 0)
    assert (tmp_path / "elsewhere" / f"session_{ID}.json").exists()
    with pytest.raises(PlaceUnsafe):
        files.put_back(ID, [file(f"session_{ID}.json")])
