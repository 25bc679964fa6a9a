"""Write into docs/hermes.md how sessions of the real Hermes end, with and without the plugin.

Every way to run Hermes meets every way to end it: each in a home of its own, and all of them one
after another in a home that its gateway and an idle command line have open. `--place`, `--mode` and
`--exit` choose some (`--mode=-z`); a table is written only if all of it was measured.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.scenario.hermes_exits import (  # noqa: E402
    AIOHTTP,
    API,
    EXITS,
    MODES,
    Ends,
    company,
    ends_of,
    furnished,
    rows,
)
from tests.scenario.hermes_inside import furnished_environment  # noqa: E402

PAGE = ROOT / "docs" / "hermes.md"
ALONE, BESIDE = "alone", "beside"
HEAD = """| run as | ended by | Hermes alone | then the keeper | with the plugin | then the keeper |
|---|---|---|---|---|---|
"""
Case = tuple[str, str]


def main() -> int:
    """Measure, print, and write the tables of which everything was measured."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--place", choices=(ALONE, BESIDE), action="append")
    options.add_argument("--mode", choices=MODES, action="append")
    options.add_argument("--exit", choices=EXITS, action="append")
    chosen = options.parse_args()
    # What runs in the background of a shell or without one ignores them, and so would every child.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    hermes = ROOT / ".venvs" / "hermes" / "bin" / "python"
    cases = [(mode, how) for mode in chosen.mode or MODES for how in chosen.exit or EXITS]
    with tempfile.TemporaryDirectory(prefix="sexton-exits-") as directory:
        python = furnished_environment(hermes, Path(directory) / "environment")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, AIOHTTP], check=True)  # Hermes's API server needs it
        for where in chosen.place or (ALONE, BESIDE):
            measure = alone if where == ALONE else beside
            found = {
                plugin: dict(measure(python, Path(directory, where, str(plugin)), cases, plugin))
                for plugin in (False, True)
            }
            lines = [row(*case, found[False][case], found[True][case]) for case in cases]
            print(f"{where}\n{''.join(lines)}", flush=True)
            if not (chosen.mode or chosen.exit):
                write(where, lines)
    return 0


def alone(
    python: Path, place: Path, cases: Sequence[Case], plugin: bool
) -> Iterator[tuple[Case, Ends]]:
    """Each in a home in which nobody else is."""
    for mode, how in cases:
        found = ends_of(python, place / f"{mode}-{how}".replace(" ", ""), mode, how, plugin=plugin)
        yield told(mode, how, found)


def beside(
    python: Path, place: Path, cases: Sequence[Case], plugin: bool
) -> Iterator[tuple[Case, Ends]]:
    """All in one home that a gateway and an idle command line have open; the latter stays open."""
    with furnished(python, place, plugin=plugin) as home:
        for api in (False, True):
            some = [case for case in cases if (case[0] == API) == api]
            if not some:
                continue
            with company(home.lab, gateway=not api) as idle:
                for mode, how in some:
                    yield told(mode, how, home.ends(mode, how))
                    if rows(home.lab.home)[idle][1] is not None:
                        raise SystemExit(f"{mode}, {how}: the row of the living was ended")


def told(mode: str, how: str, ends: Ends) -> tuple[Case, Ends]:
    """A case with what came of it, said at once: all of them take long."""
    print(f"{mode}, {how}: {', then '.join(cells_of(ends))}", file=sys.stderr, flush=True)
    return (mode, how), ends


def write(where: str, lines: Sequence[str]) -> None:
    """Put a table in the place of the one on the page."""
    begin, end = f"<!-- exits {where} -->\n", f"<!-- /exits {where} -->\n"
    before, rest = PAGE.read_text().split(begin)
    _, after = rest.split(end)
    PAGE.write_text(f"{before}{begin}{HEAD}{''.join(lines)}{end}{after}")


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
