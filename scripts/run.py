"""`make run`: keep the Hermes homes of this machine once, or show what that would be like.

Homes that the settings do not list are only observed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sexton.cli import run
from sexton.cli.homes_here import attach_command
from sexton.core.plan import Outcome, Result
from sexton.core.record import replace
from sexton.core.wording import counted
from sexton.homes.hermes.hermes_places import find_homes
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.wiring import Sexton
from sexton.wiring.choosing_ledger import ledger_url, load_settings


def main() -> int:
    """The exit code of the first command that fails, else 0."""
    found = find_homes(os.environ, Path.home())
    settings = load_settings(None, os.environ)
    listed = [each.path.expanduser().resolve() for each in settings.homes] if settings else []
    if not found and not listed:
        sys.stdout.write("no Hermes home was found here; this is what would be done for one\n")
        return run(["demo"])
    unlisted = tuple(_observed(path) for path in found if path not in listed)
    chosen = settings or Settings()
    chosen = replace(chosen, homes=(*chosen.homes, *unlisted))
    with Sexton(open_ledger(ledger_url(None, os.environ)), chosen) as opened:
        if settings is not None:
            opened.publish()
        sweep = opened.sweep()
    for trouble in sweep.troubles:
        sys.stderr.write(f"{trouble}\n")
    sys.stdout.write("".join(f"{line}\n" for line in _told(sweep.outcomes, unlisted)) + "\n")
    return run(["doctor"])


def _told(outcomes: Sequence[Outcome], unlisted: Sequence[HomeSetting]) -> Iterator[str]:
    """What was done, and what would be done in homes that nobody allowed to change."""
    done = sum(each.result is Result.DONE for each in outcomes)
    waiting = Counter(
        each.action.seen.home
        for each in outcomes
        if each.result in (Result.RECORDED, Result.OBSERVED)
    )
    yield f"{counted(done, 'action')} done; 'sexton keep' goes on doing this"
    for home, count in waiting.items():
        yield f"{home} is only observed: {counted(count, 'action')} would be done in it"
    for each in unlisted:
        yield f"'{attach_command(each.path, act=True)}' allows changes of {each.name}"


def _observed(path: Path) -> HomeSetting:
    return HomeSetting(path=path, name=path.name.lstrip(".") or "home")


if __name__ == "__main__":
    sys.exit(main())
