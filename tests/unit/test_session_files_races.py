"""Somebody who exchanges directories for links while we work leads us nowhere.

Nothing is left to chance: an act is repeated, and the attacker moves before each of its system
calls in turn.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import FrameType

from sexton.errors import VaultError
from sexton.retention.files.own_directories import OwnFiles
from sexton.retention.model import FileChanged, FileContent
from tests.unit.vault_scene import file

Move = Callable[[], None]
AFTER = (1, 2, 3, 5, 8)
"""So many system calls lie between an attacker's first move and the second."""


class Scene:
    """A session with a directory that somebody exchanges for a link to where we must not go."""

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
        self.twin = seen(self.theirs)
        self.moves = 0
        self._away = self.inside.with_name("away")

    def take_away(self) -> None:
        self._move(os.rename, self.inside, self._away)

    def link(self) -> None:
        self._move(os.symlink, self.outside, self.inside)

    def take_away_and_link(self) -> None:
        self.take_away()
        self.link()

    def give_back(self) -> None:
        self._move(os.unlink, self.inside)
        self._move(os.rename, self._away, self.inside)

    def _move(self, act: Callable[..., None], *given: Path) -> None:
        with suppress(OSError):  # what we make in between is in the way
            act(*given)
            self.moves += 1

    def is_unharmed(self) -> bool:
        return [(each.name, each.read_bytes()) for each in self.outside.iterdir()] == [
            ("f", b"secret")
        ]


def carried_out(act: Move, moves: Mapping[int, Move]) -> int:
    """Act, with a move before each of those system calls; how many calls there were."""
    calls = 0

    def note(_: FrameType, event: str, called: object) -> None:
        nonlocal calls
        if event == "c_call" and getattr(called, "__module__", None) == os.name:
            calls += 1
            moves.get(calls, lambda: None)()

    sys.setprofile(note)
    try:
        with suppress(VaultError, FileChanged, FileNotFoundError):
            act()
    finally:
        sys.setprofile(None)
    return calls


def attacked(place: Path, act: Callable[[Scene], None]) -> Iterator[Scene]:
    """Scenes in which somebody made two moves before all pairs of near system calls of an act."""
    moves = 0
    for number in count(1):
        calls = 0
        for after in AFTER:
            for second in ("link", "give_back"):
                scene = Scene(place / f"{number} {after} {second}")
                first = scene.take_away if second == "link" else scene.take_away_and_link
                plan = {number: first, number + after: getattr(scene, second)}
                calls = carried_out(lambda scene=scene: act(scene), plan)  # type: ignore[misc]
                moves += scene.moves
                yield scene
        if number > calls:
            assert moves > 10 * number  # somebody was there
            return


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    read: list[bytes] = []

    def act(scene: Scene) -> None:
        for found in scene.files.of([scene.owner]).values():
            for each in found.contents:
                with suppress(FileChanged):
                    read.append(b"".join(each.chunks()))

    assert all(scene.is_unharmed() for scene in attacked(tmp_path, act))
    assert set(read) == {b"mine"}


def test_nothing_outside_is_removed(tmp_path: Path) -> None:
    removed = 0

    def act(scene: Scene) -> None:
        nonlocal removed
        removed += scene.files.remove({scene.owner: [scene.twin]})

    assert all(scene.is_unharmed() for scene in attacked(tmp_path, act))
    assert removed == 0


def seen(theirs: Path) -> FileContent:
    """What a look at somebody else's file tells, as if it were one of the session's."""
    status = theirs.stat()
    return FileContent(
        path=("sub", "f"),
        mode=0o600,
        mtime_ns=status.st_mtime_ns,
        size=status.st_size,
        inode=status.st_ino,
        chunks=lambda: iter(()),
    )


def test_nothing_outside_is_written(tmp_path: Path) -> None:
    done = 0

    def act(scene: Scene) -> None:
        nonlocal done
        scene.files.put_back(scene.owner, [file("sub", "new")])
        done += 1

    assert all(scene.is_unharmed() for scene in attacked(tmp_path, act))
    assert done


def test_an_attacker_can_not_make_us_remove_the_newer_file(tmp_path: Path) -> None:
    for number in count(1):
        scene = Scene(tmp_path / f"{number}")
        (scene.inside / "another").touch()
        [old] = (
            each
            for each in scene.files.of([scene.owner])[scene.owner].contents
            if each.path == ("sub", "f")
        )
        newer = scene.inside.parent / "newer"
        newer.write_bytes(b"newer")

        def act(scene: Scene = scene, old: FileContent = old) -> None:
            scene.files.remove({scene.owner: [old]})

        def replace(newer: Path = newer, mine: Path = scene.mine) -> None:
            os.replace(newer, mine)

        if carried_out(act, {number: replace}) < number:
            break
        assert scene.mine.read_bytes() == b"newer"
        assert {each.name for each in scene.inside.iterdir()} == {"f", "another"}
    assert number > 10


def test_without_an_attacker_files_are_read_removed_and_written(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    [found] = scene.files.of([scene.owner])[scene.owner].contents
    assert b"".join(found.chunks()) == b"mine"
    assert scene.files.remove({scene.owner: [found]}) == 1
    scene.files.put_back(scene.owner, [file("sub", "new")])
    assert (scene.inside / "new").exists()
