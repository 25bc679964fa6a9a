"""Can an installed package do end-of-session work, and only fail alone?"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.finalizers.effects.entry_point import EntryPoint, EntryPointPlan
from sexton.finalizers.job import ClaimLost, EffectFailed, EffectPostponed
from tests.golden import golden
from tests.scenario.effects_desk import Desk

CODE = """
from datetime import UTC, datetime, timedelta
from sexton.finalizers.job import ClaimLost, EffectFailed, EffectPostponed

def tell(job):
    return f"{job.key} had {len(list(job.messages()))} messages"

def say_nothing(job):
    return None

def stumble(job):
    raise ZeroDivisionError("by\\n nought")

def leave(job):
    raise SystemExit(3)

def fail(job):
    raise EffectFailed("later", after=timedelta(hours=1), hopeless=True)

def wait(job):
    raise EffectPostponed("tomorrow", datetime(2026, 1, 2, tzinfo=UTC))

def lose(job):
    raise ClaimLost
"""
DOCUMENTED = re.findall(
    "```python\n(.*?)```",
    (Path(__file__).parents[2] / "docs" / "finalizers.md").read_text(encoding="utf-8"),
    re.DOTALL,
)
NAMES = ("remember", "tell", "say_nothing", "stumble", "leave", "fail", "wait", "lose")


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package is installed that names its functions as finalizers."""
    (tmp_path / "somebodys_finalizers.py").write_text(
        "\n".join([*DOCUMENTED, CODE]), encoding="utf-8"
    )
    about = tmp_path / "somebodys_finalizers-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: somebodys_finalizers\nVersion: 1.0\n", encoding="utf-8")
    named = [f"{name} = somebodys_finalizers:{name}" for name in NAMES]
    text = "\n".join(["[sexton.finalizers]", *named, "broken = no_such_module:nothing"])
    (about / "entry_points.txt").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("somebodys_finalizers", None)


def carry_out(name: str, tmp_path: Path) -> str:
    return EntryPoint(EntryPointPlan(name=name)).carry_out(Desk(tmp_path).job())


def test_the_function_gets_the_job_and_says_what_came_of_it(tmp_path: Path) -> None:
    assert carry_out("tell", tmp_path) == "native/s1/2/notes had 2 messages"


def test_the_documented_function_works(tmp_path: Path) -> None:
    said = [carry_out("remember", tmp_path) for _ in range(2)]
    golden("effects", "python: the documented function, twice", "\n".join(said))


def test_it_need_not_say_anything(tmp_path: Path) -> None:
    golden("effects", "python: nothing said", carry_out("say_nothing", tmp_path))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("stumble", ": by nought"),
        ("leave", ": 3"),
        ("broken", ": No module named 'no_such_module'"),
        ("missing", ""),
    ],
)
def test_whatever_it_does_wrong_is_a_failed_attempt(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(EffectFailed) as caught:
        carry_out(name, tmp_path)
    golden("effects", f"python: {name}", caught.value.for_logs)
    assert str(caught.value) == caught.value.for_logs + said  # which may quote what was said
    assert not caught.value.hopeless


def test_it_may_say_itself_how_it_failed(tmp_path: Path) -> None:
    with pytest.raises(EffectFailed, match="later") as caught:
        carry_out("fail", tmp_path)
    assert caught.value.hopeless
    assert caught.value.after == timedelta(hours=1)
    with pytest.raises(EffectPostponed, match="tomorrow"):
        carry_out("wait", tmp_path)
    with pytest.raises(ClaimLost):
        carry_out("lose", tmp_path)
