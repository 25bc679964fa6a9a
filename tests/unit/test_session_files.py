"""The files of a session are read, removed and put back as they are, and nothing else is."""

from __future__ import annotations

import os
import socket
import stat
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.record import replace
from sexton.errors import PlaceUnsafe, VaultDamaged, VaultError
from sexton.retention.files.descriptors import unfit_kind
from sexton.retention.files.file_listing import walk
from sexton.retention.files.own_directories import OwnFiles
from sexton.retention.model import FileChanged, FileContent, FoundFile, PutBack
from sexton.retention.vault.directory import FileVault
from tests.contract.examples import examples
from tests.golden import golden
from tests.unit.vault_scene import file, put, session

NAMES = st.binary(min_size=1, max_size=255).filter(
    lambda name: name not in {b".", b".."} and not {0, 47} & set(name)
)
TREES = st.dictionaries(
    st.lists(NAMES, min_size=1, max_size=4).map(tuple),
    st.tuples(st.binary(max_size=200), st.integers(0o600, 0o777), st.integers(0, 2**61)),
    max_size=6,
)


@pytest.fixture
def files(tmp_path: Path) -> OwnFiles:
    return OwnFiles(tmp_path / "files", "native")


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_a_session_has_a_directory_for_its_user_alone(
    mask: int, files: OwnFiles, tmp_path: Path
) -> None:
    before = os.umask(mask)
    try:
        place = files.directory("s1")
    finally:
        os.umask(before)
    assert place == files.directory("s1")
    assert place.parent == tmp_path / "files"
    assert mode_of(place) == mode_of(place.parent) == 0o700


@given(st.text(), st.text())
def test_whatever_its_id_its_directory_is_one_below_and_its_own(one: str, other: str) -> None:
    one, other = (each.encode("utf-8", "replace").decode() for each in (one, other))
    files = OwnFiles(Path("files"), "native")
    assert files.owner(one).isalnum()
    assert (files.owner(one) == files.owner(other)) == (one == other)
    assert files.owner(one) != OwnFiles(Path("files"), "other").owner(one)


@pytest.mark.parametrize("id", ["../../etc", "a/b", "a\0b", "*", "[ab]?", "x" * 4096, ".", ""])
def test_an_id_that_looks_like_a_path_or_a_pattern_is_none(
    id: str, files: OwnFiles, tmp_path: Path
) -> None:
    (files.directory(id) / "f").write_bytes(b"x")
    (files.directory("a") / "f").write_bytes(b"y")
    assert [len(found.contents) for found in files.of([files.owner(id)]).values()] == [1]
    assert len(list((tmp_path / "files").iterdir())) == 2


def test_a_session_without_files_has_none(files: OwnFiles, tmp_path: Path) -> None:
    assert files.of([files.owner("s1")]) == {}
    assert files.remove({files.owner("s1"): [file("f")]}) == 0
    assert list(files.scan()) == []
    assert list(tmp_path.iterdir()) == []
    files.directory("s2")
    assert {files.owner("s2")} == files.of([files.owner("s1"), files.owner("s2")]).keys()
    assert files.remove({files.owner("s1"): [file("f")]}) == 0


@examples(25)
@given(TREES)
def test_files_of_any_name_come_back_from_a_vault_as_they_were(
    tree: dict[tuple[bytes, ...], tuple[bytes, int, int]],
) -> None:
    with TemporaryDirectory() as directory:
        files = OwnFiles(Path(directory, "files"), "native")
        top = os.fsencode(files.directory("s1"))
        for path, (data, mode, mtime_ns) in tree.items():
            plant(top, path, data, mode, mtime_ns)
        before, owner = snapshot(top), files.owner("s1")
        found = files.of([owner]).get(owner)
        contents = found.contents if found else ()
        assert len(contents) == len(before)
        vault = FileVault(Path(directory, "vault"))
        vault.establish()
        name, written = put(vault, replace(session(), owner=owner, files=contents))
        assert files.remove({owner: contents}) == len(before)
        assert not before or not os.path.exists(top)
        for _ in range(2):
            _, sessions = vault.read(name, written)
            for each in sessions:
                assert files.put_back(owner, each.files) == PutBack(files=len(before))
            assert snapshot(top) == before


def test_what_is_no_plain_file_is_refused_with_the_reason(
    files: OwnFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = files.directory("s1")
    (place / "plain").write_bytes(b"x")
    (place / "link").symlink_to(tmp_path / "secret")
    (place / "linked").symlink_to(tmp_path)
    os.mkfifo(place / "pipe")
    deep = place.joinpath(*"d" * 32)
    deep.mkdir(parents=True)
    (deep / "f").write_bytes(b"x")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(place)
        listener.bind("socket")
        found = files.of([files.owner("s1")])[files.owner("s1")]
    assert [each.path for each in found.contents] == [("plain",)]
    refused = sorted(found.refused)
    odd = [("d",) * 32, ("link",), ("linked",), ("pipe",), ("socket",)]
    assert [path for path, _ in refused] == odd
    words = [f"{path[0]}: {why}" for path, why in refused]
    golden("outcomes", "refused: no plain files", "\n".join(words))
    assert found.bytes == 1
    golden("outcomes", "refused: a device", unfit_kind(os.stat("/dev/null")) or "")


def test_a_mounted_directory_is_not_entered() -> None:
    descriptor = os.open("/dev", os.O_RDONLY)
    try:
        mounted = [name for name in os.listdir(descriptor) if os.path.ismount(f"/dev/{name}")]
        refused = {entry.path: entry.why for entry in walk(descriptor) if len(entry.path) == 1}
    finally:
        os.close(descriptor)
    told = {refused[(name,)] for name in mounted if os.path.isdir(f"/dev/{name}")}
    assert len(told) == (sys.platform == "linux")  # where there always are some
    if told:
        golden("outcomes", "refused: another file system", str(told.pop()))


def test_a_file_that_can_not_be_read_is_refused_with_the_reason(
    files: OwnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files.directory("s1") / "closed").write_bytes(b"x")
    really = os.open

    def guarded(name: str, *given: int, dir_fd: int | None = None) -> int:
        if name == "closed":
            raise PermissionError(13, "Permission denied")
        return really(name, *given, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", guarded)
    found = files.of([files.owner("s1")])[files.owner("s1")]
    [(path, why)] = found.refused
    assert path == ("closed",)
    golden("outcomes", "refused: can not be read", why)


def test_a_link_in_the_place_of_a_session_is_refused_and_the_others_are_told(
    files: OwnFiles, tmp_path: Path
) -> None:
    (files.directory("good") / "f").write_bytes(b"x")
    bad = files.directory("bad")
    bad.rmdir()
    bad.symlink_to(tmp_path)
    found = files.of([files.owner("bad"), files.owner("good")])
    assert len(found[files.owner("good")].contents) == 1
    assert found[files.owner("bad")].refused
    with pytest.raises(PlaceUnsafe):
        files.directory("bad")
    with pytest.raises(PlaceUnsafe):
        files.put_back(files.owner("bad"), [file("f")])


def test_a_place_that_others_can_change_is_not_used(files: OwnFiles, tmp_path: Path) -> None:
    files.directory("s1")
    (tmp_path / "files").chmod(0o777)
    for act in (
        lambda: files.directory("s1"),
        lambda: files.of([files.owner("s1")]),
        lambda: files.remove({}),
        lambda: list(files.scan()),
    ):
        with pytest.raises(PlaceUnsafe):
            act()


@pytest.mark.parametrize("owner", ["..", "../files", "", "x", "a" * 41])
def test_an_owner_that_is_no_digest_is_refused(owner: str, files: OwnFiles) -> None:
    files.directory("s1")
    for act in (
        lambda: files.of([owner]),
        lambda: files.remove({owner: []}),
        lambda: files.put_back(owner, []),
    ):
        with pytest.raises(VaultDamaged):
            act()


def test_a_file_that_changes_while_it_is_read_is_noticed(files: OwnFiles) -> None:
    path = files.directory("s1") / "f"
    path.write_bytes(b"x" * 1_000_000)
    content = only(files)
    for change in (
        lambda: os.truncate(path, 999_999),
        lambda: path.write_bytes(b"y" * 1_000_000),
        lambda: os.truncate(path, 2_000_000),
        path.unlink,
    ):
        content = only(files)
        chunks = content.chunks()
        next(chunks)
        change()
        if path.exists():
            with pytest.raises(FileChanged):
                list(chunks)
        with pytest.raises(FileChanged):
            list(content.chunks())


def test_only_a_file_that_is_as_it_was_seen_is_removed(files: OwnFiles) -> None:
    place, owner = files.directory("s1"), files.owner("s1")
    for name in "abcd":
        (place / name).write_bytes(b"old")
    seen = files.of([owner])[owner].contents
    (place / "a").write_bytes(b"longer")
    os.utime(place / "b", ns=(1, 1))
    (place / "new").write_bytes(b"old")
    os.utime(place / "new", ns=(seen[2].mtime_ns, seen[2].mtime_ns))
    os.replace(place / "new", place / "c")
    before = {each.name: each.stat().st_ctime_ns for each in place.iterdir()}
    assert files.remove({owner: seen}) == 1
    assert before.pop("d")
    assert {each.name: each.stat().st_ctime_ns for each in place.iterdir()} == before


def test_what_is_put_in_its_place_at_the_last_moment_is_not_removed(
    files: OwnFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, owner = files.directory("s1"), files.owner("s1")
    (place / "f").write_bytes(b"old")
    seen = only(files)
    really = os.stat

    def interfering(name: str, **given: Any) -> os.stat_result:
        status = really(name, **given)
        if name == "f":
            monkeypatch.undo()
            (place / "new").write_bytes(b"new")
            os.replace(place / "new", place / "f")
        return status

    monkeypatch.setattr(os, "stat", interfering)
    assert files.remove({owner: [seen]}) == 0
    assert [(each.name, each.read_bytes()) for each in place.iterdir()] == [("f", b"new")]


def test_a_removal_that_was_interrupted_is_finished(files: OwnFiles) -> None:
    place, owner = files.directory("s1"), files.owner("s1")
    (place / "f").write_bytes(b"old")
    seen = only(files)
    os.rename(place / "f", place / f".sexton-{seen.inode}.removing")
    (place / "f").write_bytes(b"new")
    assert files.remove({owner: [seen]}) == 1
    assert [(each.name, each.read_bytes()) for each in place.iterdir()] == [("f", b"new")]


def test_nothing_is_written_over_or_through(files: OwnFiles, tmp_path: Path) -> None:
    place, owner = files.directory("s1"), files.owner("s1")
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (place / "taken").write_bytes(b"theirs")
    (place / "taken.restored").write_bytes(b"theirs, too")
    (place / "link").symlink_to(victim)
    (place / "same").write_bytes(b"data")
    done = files.put_back(owner, [file("taken"), file("link"), file("same"), file("new", "f")])
    assert done == PutBack(
        files=2, aside={("taken",): ("taken.restored-2",), ("link",): ("link.restored",)}
    )
    assert victim.read_bytes() == b"mine"
    assert (place / "taken").read_bytes() == b"theirs"
    assert (place / "taken.restored-2").read_bytes() == b"data"
    assert files.put_back(owner, [file("taken")]).aside == {("taken",): ("taken.restored-2",)}
    assert len(list(place.iterdir())) == 7


def test_a_link_on_the_way_is_not_followed(files: OwnFiles, tmp_path: Path) -> None:
    place, owner = files.directory("s1"), files.owner("s1")
    (place / "sub").mkdir()
    (place / "sub" / "f").write_bytes(b"mine")
    seen = only(files)
    (tmp_path / "elsewhere").mkdir()
    os.rename(place / "sub" / "f", tmp_path / "elsewhere" / "f")
    (place / "sub").rmdir()
    (place / "sub").symlink_to(tmp_path / "elsewhere")
    assert files.remove({owner: [seen]}) == 0
    with pytest.raises(FileChanged):
        list(seen.chunks())
    with pytest.raises(PlaceUnsafe):
        files.put_back(owner, [file("sub", "g")])
    assert [each.name for each in (tmp_path / "elsewhere").iterdir()] == ["f"]


@pytest.mark.parametrize("path", [("..", "f"), ("a", "..", "f"), ("/f",), (".",), (), ("a/b",)])
def test_a_path_that_leads_elsewhere_is_not_put_back(
    path: tuple[str, ...], files: OwnFiles
) -> None:
    with pytest.raises(VaultDamaged):
        files.put_back(files.owner("s1"), [replace(file("f"), path=path)])


def test_a_file_put_back_has_its_time_and_rights_but_no_more(files: OwnFiles) -> None:
    given = [file("a", mode=0o6755), file("b", mode=0o400)]
    files.put_back(files.owner("s1"), given)
    status = [(files.directory("s1") / name).stat() for name in "ab"]
    assert [stat.S_IMODE(each.st_mode) for each in status] == [0o755, 0o400]
    assert {each.st_mtime_ns for each in status} == {given[0].mtime_ns}


def test_while_it_is_put_back_nobody_else_can_read_it(files: OwnFiles) -> None:
    place = files.directory("s1")
    seen: list[int] = []

    def chunks() -> list[bytes]:
        seen.extend(mode_of(each) for each in place.iterdir())
        return [b"data"]

    before = os.umask(0)
    try:
        content = replace(file("f", mode=0o644), chunks=lambda: iter(chunks()))
        files.put_back(files.owner("s1"), [content])
    finally:
        os.umask(before)
    assert seen == [0o600]


def test_what_an_interrupted_attempt_left_is_not_in_the_way(files: OwnFiles) -> None:
    owner = files.owner("s1")

    def broken() -> list[bytes]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.put_back(owner, [replace(file("f"), chunks=lambda: iter(broken()))])
    assert list(files.directory("s1").iterdir()) == []
    with pytest.raises(VaultError):
        files.put_back(owner, [replace(file("f"), size=99)])
    files.put_back(owner, [file("f")])
    [left] = files.directory("s1").iterdir()
    own = next(name for name in names_used(files, owner) if name.endswith(".restoring"))
    left.rename(left.with_name(own))
    assert files.put_back(owner, [file("f")]) == PutBack(files=1)
    assert [each.name for each in files.directory("s1").iterdir()] == ["f"]


def test_a_scan_tells_every_file_and_whose_it_is(files: OwnFiles, tmp_path: Path) -> None:
    for id in ("s1", "s2"):
        (files.directory(id) / "sub").mkdir()
        (files.directory(id) / "sub" / "f").write_bytes(b"12345")
    (files.directory("s1") / "link").symlink_to(tmp_path)
    (tmp_path / "files" / "stray").write_bytes(b"1")
    (tmp_path / "files" / "other").mkdir()
    (tmp_path / "files" / "other" / "f").write_bytes(b"1")
    found = {each._replace(mtime_ns=0) for each in files.scan()}
    assert found == {
        FoundFile(files.owner("s1"), ("sub", "f"), 5, 0),
        FoundFile(files.owner("s2"), ("sub", "f"), 5, 0),
        FoundFile(None, ("stray",), 1, 0),
        FoundFile(None, ("other", "f"), 1, 0),
    }


def only(files: OwnFiles) -> FileContent:
    [content] = files.of([files.owner("s1")])[files.owner("s1")].contents
    return content


def names_used(files: OwnFiles, owner: str) -> list[str]:
    """The names that are there while a file is put back."""
    names: list[str] = []

    def chunks() -> list[bytes]:
        names.extend(each.name for each in files.directory("s1").iterdir())
        return [b"data"]

    files.put_back(owner, [replace(file("f"), chunks=lambda: iter(chunks()))])
    return names


def plant(top: bytes, path: tuple[bytes, ...], data: bytes, mode: int, mtime_ns: int) -> None:
    """Make a file unless something else has its place."""
    target = os.path.join(top, *path)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "xb") as opened:
            opened.write(data)
    except OSError:
        return
    os.chmod(target, mode)
    os.utime(target, ns=(mtime_ns, mtime_ns))


def snapshot(top: bytes) -> dict[bytes, tuple[bytes, int, int]]:
    found = {}
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            status = os.stat(path)
            with open(path, "rb") as opened:
                facts = (opened.read(), stat.S_IMODE(status.st_mode), status.st_mtime_ns)
            found[os.path.relpath(path, top)] = facts
    return found


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
