"""Do golden files notice a changed word, and nothing else?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import golden as words


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(words, "FOLDER", tmp_path)
    return tmp_path


def written(monkeypatch: pytest.MonkeyPatch, scene: str, text: str) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(words, "WRITES", True)
        words.golden("screen", scene, text)


def test_a_changed_word_fails_and_a_changed_id_does_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(monkeypatch, "one", f"session {'a' * 32}\n\n  ended at 2026-01-02 03:04 UTC  \n")
    words.golden("screen", "one", f"session {'b' * 32}\n\n  ended at 2027-01-02 03:04 UTC")
    with pytest.raises(AssertionError):
        words.golden("screen", "one", f"session {'b' * 32}\n\n  begun at 2027-01-02 03:04 UTC")


def test_a_scene_that_was_never_written_fails(folder: Path) -> None:
    with pytest.raises(AssertionError, match="make golden"):
        words.golden("screen", "two", "anything")


def test_a_scene_that_was_written_by_one_test_is_not_written_otherwise_by_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(monkeypatch, "one", f"session {'a' * 32}")
    written(monkeypatch, "one", f"session {'b' * 32}")
    with pytest.raises(AssertionError):
        written(monkeypatch, "one", "a word that is another")
    words.golden("screen", "one", f"session {'a' * 32}")


def test_scenes_of_a_screen_share_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for scene in ("b", "a"):
        written(monkeypatch, scene, f"line\n\n{scene}")
    assert words.read(folder / "screen.txt") == {"a": "line\n\na", "b": "line\n\nb"}
    assert [file.name for file in folder.iterdir()] == ["screen.txt"]
