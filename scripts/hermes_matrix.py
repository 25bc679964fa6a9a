"""Write into docs/hermes.md how sessions of the real Hermes end, with and without the plugin.

Every way to run Hermes meets every way to end it, each in a home of its own. `--mode` and `--exit`
choose some (`--mode=-z`); then the table is only printed.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.scenario.hermes_exits import EXITS, MODES, Ends, ends_of  # noqa: E402
from tests.scenario.hermes_inside import furnished_environment  # noqa: E402

AIOHTTP = "aiohttp>=3.14,<4"
PAGE = ROOT / "docs" / "hermes.md"
BEGIN, END = "<!-- exits -->\n", "<!-- /exits -->\n"
HEAD = """| run as | ended by | Hermes alone | then the keeper | with the plugin | then the keeper |
|---|---|---|---|---|---|
"""


def main() -> int:
    """Measure, print, and write the page if everything was measured."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mode", choices=MODES, action="append")
    options.add_argument("--exit", choices=EXITS, action="append")
    chosen = options.parse_args()
    # What runs in the background of a shell ignores it, and so would every child.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    hermes = ROOT / ".venvs" / "hermes" / "bin" / "python"
    lines = []
    with tempfile.TemporaryDirectory(prefix="sexton-exits-") as directory:
        python = furnished_environment(hermes, Path(directory) / "environment")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, AIOHTTP], check=True)  # Hermes's API server needs it
        for mode in chosen.mode or MODES:
            for how in chosen.exit or EXITS:
                place = Path(directory) / f"{mode}-{how}".replace(" ", "")
                alone = ends_of(python, place / "alone", mode, how, plugin=False)
                inside = ends_of(python, place / "inside", mode, how, plugin=True)
                lines.append(row(mode, how, alone, inside))
                print(lines[-1], end="", flush=True)
    if chosen.mode or chosen.exit:
        return 0
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}{HEAD}{''.join(lines)}{END}{after}")
    return 0


def row(mode: str, how: str, alone: Ends, inside: Ends) -> str:
    """One line of the table."""
    cells = [cell for ends in (alone, inside) for cell in cells_of(ends)]
    return f"| `{mode}` | {how} | {' | '.join(cells)} |\n"


def cells_of(ends: Ends) -> tuple[str, str]:
    """As the process left it, and after the sweep; one that ran on was killed before that."""
    return shown(ends.left) + (", runs on" if ends.stayed else ""), shown(ends.swept)


def shown(ends: dict[str, str | None]) -> str:
    """The reasons, of several rows each with its source."""
    words = {source: f"`{reason}`" if reason else "**open**" for source, reason in ends.items()}
    if len(words) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{source} {word}" for source, word in words.items()) or "no row"


if __name__ == "__main__":
    raise SystemExit(main())
