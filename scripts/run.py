"""`make run`: keep the Hermes homes of this machine once, or show what that would be like.

Homes that the settings do not list are only observed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sexton.bootstrap import Sexton
from sexton.bootstrap.finding import ledger_url, load_settings
from sexton.cli import run
from sexton.homes.hermes.places import find_homes
from sexton.ledger.opening import open_ledger
from sexton.model.record import replace
from sexton.settings.values import HomeSetting, Settings


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
    sys.stdout.write(f"{len(sweep.outcomes)} actions; 'sexton keep' goes on doing this\n\n")
    return run(["doctor"])


def _observed(path: Path) -> HomeSetting:
    return HomeSetting(path=path, name=path.name.lstrip(".") or "home")


if __name__ == "__main__":
    sys.exit(main())
