"""A vault file is there whole or not at all, for its user alone."""

from __future__ import annotations

import errno
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sexton.core.record import replace
from sexton.errors import PlaceUnsafe, VaultDamaged, VaultError, VaultMissing
from sexton.retention.model import FileChanged, SessionContent
from sexton.retention.vault.directory import FileVault
from sexton.retention.vault.vault_codec import Format
from tests.golden import golden
from tests.unit.vault_scene import HEADER, file, plain, put, session, taken

UNKNOWN = "0" * 32 + ".jsonl.zst"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "vault"


@pytest.fixture
def vault(place: Path) -> FileVault:
    made = FileVault(place)
    made.establish()
    return made


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_from_the_first_byte_nobody_else_can_read_it(
    mask: int, place: Path, tmp_path: Path
) -> None:
    seen: list[int] = []

    def contents() -> Iterator[SessionContent]:
        yield session()
        seen.extend(mode_of(each) for each in place.iterdir())

    before = os.umask(mask)
    try:
        vault = FileVault(place)
        vault.establish()
        name = vault.new_name()
        written = vault.write(name, HEADER, contents())
        vault.export(name, written, tmp_path / "export.jsonl")
    finally:
        os.umask(before)
    assert seen == [0o600]
    assert mode_of(place) == 0o700
    assert mode_of(place / name) == mode_of(tmp_path / "export.jsonl") == 0o600


def test_it_is_on_disk_before_it_has_its_name_and_the_name_before_it_is_told(
    vault: FileVault, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []
    fsync, rename = os.fsync, os.rename

    def watched_fsync(descriptor: int) -> None:
        is_directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        size = 0 if is_directory else os.fstat(descriptor).st_size
        steps.append(("directory" if is_directory else "file", size))
        fsync(descriptor)

    def watched_rename(*given: str, src_dir_fd: int, dst_dir_fd: int) -> None:
        steps.append(("rename", 0))
        rename(*given, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "rename", watched_rename)
    _, written = put(vault, session())
    assert steps == [("file", written.bytes), ("rename", 0), ("directory", 0)]


def test_a_new_directory_is_known_above_before_anything_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    place = tmp_path / "share" / "sexton" / "some.vault"
    FileVault(place, with_parents=True).establish()
    assert synced == [each.stat().st_ino for each in reversed(list(place.parents)[:3])]
    FileVault(place, with_parents=True).establish()
    assert len(synced) == 3


@pytest.mark.parametrize("size", [10, 6_000_000])
def test_what_the_disk_did_not_keep_is_noticed_at_once(
    size: int, vault: FileVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync

    def forgetful(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.pwrite(descriptor, b"!", os.fstat(descriptor).st_size // 2)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", forgetful)
    with pytest.raises(VaultDamaged):
        put(vault, session(said=[os.urandom(size)]))
    assert list(vault.names()) == []


@pytest.mark.parametrize("times", [1, 1_000_000])
def test_what_the_compressor_did_not_keep_is_noticed_at_once(
    times: int, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgetful:
        def __init__(self, *given: Any) -> None:
            self._real = really(*given)
            self.flush = self._real.flush

        def compress(self, data: bytes) -> bytes:
            return self._real.compress(data.replace(b"hello", b"hellO", 1))

    really = zlib.compressobj
    vault = FileVault(place, Format.GZIP)
    vault.establish()
    monkeypatch.setattr(zlib, "compressobj", Forgetful)
    with pytest.raises(VaultDamaged):
        put(vault, session(said=[b"hello" * times]))
    assert list(vault.names()) == []


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_where_the_disk_fails_nothing_is_left(
    call: str, vault: FileVault, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        monkeypatch.undo()
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(VaultError) as refused:
        put(vault, session())
    assert isinstance(refused.value.__context__, OSError)
    assert refused.value.__context__.errno == errno.EIO
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("problem", [KeyboardInterrupt, ZeroDivisionError, MemoryError])
def test_what_stops_a_write_half_way_is_told_and_nothing_is_left(
    problem: type[BaseException], vault: FileVault, place: Path
) -> None:
    def contents() -> Iterator[SessionContent]:
        yield session(said=[os.urandom(1_000_000)])
        raise problem

    with pytest.raises(problem):
        vault.write(vault.new_name(), HEADER, contents())
    assert list(place.iterdir()) == []


def test_a_file_of_a_session_that_changed_meanwhile_stops_the_write(vault: FileVault) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"a"
        raise FileChanged("abc", ("f",))

    with pytest.raises(FileChanged) as told:
        put(vault, session(files=[replace(file("f"), chunks=chunks)]))
    assert (told.value.owner, told.value.path) == ("abc", ("f",))
    assert list(vault.names()) == []


def test_a_name_is_used_once(vault: FileVault) -> None:
    name, written = put(vault, session("first"))
    with pytest.raises(VaultError) as refused:
        vault.write(name, HEADER, [session("second")])
    golden("archive", "a name is used once", str(refused.value).replace(name, "<name>"))
    assert taken(vault, name, written) == [plain(session("first"))]


@pytest.mark.parametrize(
    "name",
    ["", ".", "../ledger.db", "a.jsonl.zst", UNKNOWN + "x", "/" + UNKNOWN, UNKNOWN + ".part", "\0"],
)
def test_only_names_of_ours_are_taken(name: str, vault: FileVault, place: Path) -> None:
    _, written = put(vault)
    for act in (
        lambda: vault.write(name, HEADER, []),
        lambda: vault.verify(name, written),
        lambda: vault.read(name, written),
        lambda: vault.export(name, written, place / "x"),
        lambda: vault.remove(name),
    ):
        with pytest.raises(VaultError) as refused:
            act()
        scene = f"not a name of ours: {name.replace(UNKNOWN, '<name>')!r}"
        golden("archive", scene, str(refused.value).replace(UNKNOWN, "<name>"))


def test_what_an_interrupted_write_left_is_listed_and_removed(
    vault: FileVault, place: Path
) -> None:
    kept, written = put(vault, session())
    left = vault.new_name()
    (place / f"{left}.part").write_bytes(b"half")
    (place / "notes.txt").write_text("not ours")
    (place / UNKNOWN).mkdir()
    assert sorted(vault.names()) == sorted([(kept, written.bytes), (left, 4)])
    for _ in range(2):
        vault.remove(left)
        assert list(vault.names()) == [(kept, written.bytes)]
    vault.remove(kept)
    assert sorted(each.name for each in place.iterdir()) == [UNKNOWN, "notes.txt"]


def test_a_vault_that_vanished_is_told_and_not_made_anew(vault: FileVault, place: Path) -> None:
    name, written = put(vault)
    (place / name).unlink()
    missing(lambda: vault.verify(name, written), lambda: vault.read(name, written))
    place.rmdir()
    missing(lambda: vault.verify(name, written), lambda: vault.read(name, written))
    missing(lambda: put(vault), lambda: vault.remove(name))
    assert list(vault.names()) == []
    assert not place.exists()


def test_a_directory_that_others_can_change_is_not_used(vault: FileVault, place: Path) -> None:
    name, written = put(vault)
    for mode in (0o720, 0o702, 0o777):
        place.chmod(mode)
        unsafe(lambda: put(vault), lambda: vault.read(name, written), vault.establish)
    place.chmod(0o700)
    vault.verify(name, written)


def test_a_directory_of_somebody_else_is_not_used(
    vault: FileVault, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() == 0:
        os.chown(place, 65534, 65534)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 65534)
    unsafe(lambda: put(vault), vault.establish)


def test_a_link_is_not_taken_for_the_directory(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(0o700)
    place.symlink_to("elsewhere")
    vault = FileVault(place)
    unsafe(lambda: put(vault), vault.establish)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_something_else_in_the_place_of_a_file_is_refused(
    vault: FileVault, place: Path, tmp_path: Path
) -> None:
    name, written = put(vault, session())
    path = place / name
    os.rename(path, tmp_path / "real")
    makers: tuple[Callable[[], None], ...] = (
        lambda: path.symlink_to(tmp_path / "real"),
        lambda: os.mkfifo(path),
        path.mkdir,
    )
    for kind, make in zip(("link", "pipe", "directory"), makers, strict=True):
        make()
        for use in (vault.verify, vault.read):
            with pytest.raises(VaultDamaged) as refused:
                use(name, written)
            told = str(refused.value).replace(name, "<name>")
            golden("archive", f"damaged: a {kind} in its place", told)
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_link_in_the_way_of_a_new_file_is_not_written_through(
    vault: FileVault, place: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    name = vault.new_name()
    (place / f"{name}.part").symlink_to(victim)
    with pytest.raises(VaultError):
        vault.write(name, HEADER, [session()])
    assert victim.read_text() == "mine"


def test_an_export_is_the_lines_and_replaces_nothing(vault: FileVault, tmp_path: Path) -> None:
    name, written = put(vault, session())
    target = tmp_path / "export.jsonl"
    vault.export(name, written, target)
    lines = target.read_bytes().splitlines()
    assert (len(target.read_bytes()), lines[0][:16]) == (written.raw_bytes, b'{"sexton_vault":')
    with pytest.raises(VaultError):
        vault.export(name, written, target)
    assert target.read_bytes().splitlines() == lines


def test_either_format_is_read_whatever_is_written_now(place: Path) -> None:
    old, new = FileVault(place, Format.GZIP), FileVault(place, Format.ZSTD)
    old.establish()
    for writer, reader in ((old, new), (new, old)):
        assert taken(reader, *put(writer, session())) == [plain(session())]


def missing(*acts: Callable[[], object]) -> None:
    for act in acts:
        with pytest.raises(VaultMissing):
            act()


def unsafe(*acts: Callable[[], object]) -> None:
    for act in acts:
        with pytest.raises(PlaceUnsafe):
            act()


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
