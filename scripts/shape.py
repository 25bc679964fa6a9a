"""Prints the figures by which one sees whether the tree is easy to find one's way in.

Files, lines, names that stand twice, the share of imports, how many modules a call passes, and in
how many files a setting, a verb and a field of the API are named.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1] / "src" / "sexton"
USUAL = {"__init__.py", "__main__.py", "model.py", "policy.py", "store.py"}
NAMED = {"a setting": "warn_messages", "a verb": "end_now", "an API field": "human_touched"}
"""One example of each."""


def sources() -> list[Path]:
    """The package without what only tests use."""
    found = sorted(ROOT.rglob("*.py"))
    return [path for path in found if path.relative_to(ROOT).parts[0] != "testing"]


def twice(names: list[str]) -> int:
    """How many of the names stand more than once."""
    return sum(times > 1 for times in Counter(names).values())


def imported(tree: ast.Module) -> int:
    """How many lines are imports."""
    kinds = ast.Import | ast.ImportFrom
    found = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)


def passed(call: Callable[[], object]) -> int:
    """How many modules of the package a call passes, in its own thread."""
    modules = set[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(ROOT)):
            modules.add(frame.f_code.co_filename)

    call()  # what is loaded late is loaded now
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(modules)


def calls(place: Path) -> dict[str, int]:
    """Modules passed by an append, a reservation and an apply."""
    import sexton

    with sexton.open(str(place / "ledger.db")) as opened, opened.worker() as worker:
        session = worker.session("chat")
        figures = {"an append": passed(lambda: session.append(role="user", content="hello"))}
        with session.turn() as turn:
            figures["a reservation"] = passed(lambda: turn.reserve(input_tokens=1))

        def apply() -> None:
            opened.apply(opened.plan())

        worker.session("other").end()
        figures["a plan and its apply"] = passed(apply)
    return figures


def main() -> None:
    """Print them."""
    files = sources()
    texts = [path.read_text(encoding="utf-8") for path in files]
    trees = [ast.parse(text) for text in texts]
    lines = sum(text.count("\n") for text in texts)
    classes = [
        node.name
        for tree in trees
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]
    print(f"{len(files):8}  source files")
    print(f"{lines:8}  lines")
    print(f"{100 * sum(map(imported, trees)) / lines:8.1f}  per cent of them imports")
    print(f"{twice([p.name for p in files if p.name not in USUAL]):8}  file names that stand twice")
    print(f"{twice(classes):8}  public class names that stand twice")
    with tempfile.TemporaryDirectory() as place:
        for what, count in calls(Path(place)).items():
            print(f"{count:8}  modules that {what} passes")
    for what, name in NAMED.items():
        print(f"{sum(name in text for text in texts):8}  files that name {what} ({name})")


if __name__ == "__main__":
    main()
