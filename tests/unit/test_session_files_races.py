"""Somebody who exchanges directories for links while we work leads us nowhere."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from sexton.errors import VaultError
from sexton.ports.vault import FileChanged, FileContent
from sexton.system.files.own import OwnFiles
from tests.unit.vault_scene import file

FOR, AT_MOST = 1.0, 200.0


class Scene:
    """A session with a directory that is now and then a link to where we must not go."""

    def __init__(self, place: Path) -> None:
        self.files = OwnFiles(place / "files", "native")
        self.owner = self.files.owner("s1")
        self.inside = self.files.directory("s1") / "sub"
        self.outside = place / "outside"
        self.inside.mkdir()
        self.outside.mkdir()
        self.mine, self.theirs = self.inside / "f", self.outside / "f"
        self.mine.write_bytes(b"mine")
        self.theirs.write_bytes(b"secret")
        self.swaps = 0

    @contextmanager
    def attacked(self) -> Iterator[None]:
        """Exchange directory and link all the time, in a thread of its own."""
        done = threading.Event()

        def attack() -> None:
            for number in count():  # a name is used once: what was left there would be in the way
                if done.is_set():
                    return
                away = self.inside.with_name(f"away{number}")
                with suppress(OSError):  # what we make in between is in the way
                    os.rename(self.inside, away)
                    os.symlink(self.outside, self.inside)
                    self.swaps += 1
                    os.unlink(self.inside)
                    os.rename(away, self.inside)

        thread = threading.Thread(target=attack)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def is_unharmed(self) -> bool:
        return [(each.name, each.read_bytes()) for each in self.outside.iterdir()] == [
            ("f", b"secret")
        ]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def again_and_again(act: Callable[[], None], is_enough: Callable[[], bool]) -> None:
    """For a while, and for longer where the disk is busy."""
    begun = time.monotonic()
    while (taken := time.monotonic() - begun) < FOR or not is_enough():
        assert taken < AT_MOST
        with suppress(VaultError, FileChanged, FileNotFoundError):
            act()


def test_nothing_outside_is_read(scene: Scene) -> None:
    read: list[bytes] = []

    def act() -> None:
        for found in scene.files.of([scene.owner]).values():
            for each in found.contents:
                with suppress(FileChanged):
                    read.append(b"".join(each.chunks()))

    with scene.attacked():
        again_and_again(act, lambda: scene.swaps > 100 and bool(read))
    assert set(read) == {b"mine"}


def test_nothing_outside_is_removed(scene: Scene) -> None:
    status = scene.theirs.stat()
    twin = FileContent(
        path=("sub", "f"),
        mode=0o600,
        mtime_ns=status.st_mtime_ns,
        size=status.st_size,
        inode=status.st_ino,
        chunks=lambda: iter(()),
    )
    removed = 0

    def act() -> None:
        nonlocal removed
        removed += scene.files.remove({scene.owner: [twin]})

    with scene.attacked():
        again_and_again(act, lambda: scene.swaps > 100)
    assert (removed, scene.is_unharmed()) == (0, True)


def test_nothing_outside_is_written(scene: Scene) -> None:
    done = 0

    def act() -> None:
        nonlocal done
        scene.files.put_back(scene.owner, [file("sub", f"new{done}")])
        done += 1

    with scene.attacked():
        again_and_again(act, lambda: scene.swaps > 20 and done > 10)
    assert scene.is_unharmed()


def test_an_attacker_can_not_make_us_remove_the_newer_file(scene: Scene) -> None:
    (scene.inside / "another").touch()
    for version in range(300):
        scene.mine.write_bytes(b"old")
        found = scene.files.of([scene.owner])[scene.owner].contents
        [seen] = (each for each in found if each.path == ("sub", "f"))
        newer = scene.inside.parent / "newer"
        newer.write_bytes(b"%d" % version)
        both = threading.Barrier(2)

        def replace(newer: Path = newer, both: threading.Barrier = both) -> None:
            both.wait()
            os.replace(newer, scene.mine)

        thread = threading.Thread(target=replace)
        thread.start()
        both.wait()
        scene.files.remove({scene.owner: [seen]})
        thread.join()
        assert scene.mine.read_bytes() == b"%d" % version
        assert {each.name for each in scene.inside.iterdir()} == {"f", "another"}
