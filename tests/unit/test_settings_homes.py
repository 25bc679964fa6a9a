"""Is every home found where it was said to be, under a name of its own?"""

from __future__ import annotations

from pathlib import Path

import pytest

from sexton.settings.loader import load, problems
from tests.golden import golden


def homes(tmp_path: Path, text: str, user: str = "/home/ada") -> dict[str, str]:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    return {home.name: str(home.path) for home in load(file, {"HOME": user}).homes}


def test_a_tilde_is_the_directory_of_the_user(tmp_path: Path) -> None:
    assert homes(tmp_path, "homes: [{path: ~/.hermes}]") == {"hermes": "/home/ada/.hermes"}
    assert homes(tmp_path, "homes: [{path: '~'}]") == {"ada": "/home/ada"}


def test_a_relative_path_is_beside_the_settings_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = homes(tmp_path, "homes: [{path: agents/../one}]")
    assert found == {"one": str(tmp_path / "one")}


def test_homes_of_the_same_directory_name_get_numbers(tmp_path: Path) -> None:
    text = "homes: [{path: /a/.hermes}, {path: /b/.hermes}, {path: /c/x, name: hermes-2}]"
    assert homes(tmp_path, text) == {
        "hermes": "/a/.hermes",
        "hermes-3": "/b/.hermes",
        "hermes-2": "/c/x",
    }


@pytest.mark.parametrize(
    ("path", "name"),
    [("/", "home"), ("/x/native", "native-2"), ("/x/my agent", "my-agent"), ("/x/...", "home")],
)
def test_every_directory_gives_a_usable_name(tmp_path: Path, path: str, name: str) -> None:
    assert list(homes(tmp_path, f"homes: [{{path: '{path}'}}]")) == [name]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "homes:\n  - path: /a\n  - path: /a/\n",
            "3:11: homes[1].path",
        ),
        (
            "homes:\n  - path: ~/x\n  - path: /home/ada/y/../x\n",
            "3:11: homes[1].path",
        ),
        (
            "homes:\n  - {path: /a, name: n}\n  - {path: /b, name: n}\n",
            "3:22: homes[1].name",
        ),
    ],
)
def test_a_home_can_be_listed_once_only(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text(text)
    (problem,) = problems(file, {"HOME": "/home/ada"})
    assert f"{problem.line}:{problem.column}: {problem.where}" == told
    golden("settings", f"homes: {' '.join(text.split())}", problem.message)
