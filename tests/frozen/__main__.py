"""`make frozen`: compare everything with its frozen file, or write it (FROZEN=1)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.frozen import PLAIN, POSTGRES, answers, commands, difference, file_of, left_over, parts
from tests.frozen.places import place


def main() -> int:
    """Print what differs; 1 if anything does."""
    with tempfile.TemporaryDirectory(prefix="sexton-frozen-") as made:
        directory = Path(made).resolve()
        texts = {name: make(directory) for name, make in PLAIN.items()}
        (directory / "scene").mkdir()
        texts |= answers(directory / "scene")
    with place("postgres server")() as server:
        texts[POSTGRES] = parts.postgres_schema(server.create_database())
    unseen = [each for each in commands() if file_of(each) not in texts]
    found = [difference(name, text) for name, text in sorted(texts.items())]
    found += [f"'sexton {each}' is not in the scene\n" for each in unseen]
    found += [
        f"{each} is frozen, but there is no such thing\n" for each in sorted(left_over({*texts}))
    ]
    sys.stdout.writelines(found)
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
