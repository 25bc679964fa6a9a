"""All crash campaigns, one after the other; N and SEED are the same for each."""

from __future__ import annotations

import os
import random
import sys

from sexton.core.clock import SystemClock
from tests.crash import (
    campaign,
    days,
    finalizing,
    killing,
    pausing,
    removing,
    reusing,
    stopping,
)

CAMPAIGNS = (campaign, killing, pausing, stopping, days, finalizing, reusing, removing)


def main() -> int:
    """Run them all, also after one has failed; what a shell takes for success or failure."""
    os.environ.setdefault("SEED", str(random.SystemRandom().randrange(1_000_000)))
    clock, failed = SystemClock(), []
    for each in CAMPAIGNS:
        title = (each.__doc__ or "").partition(":")[0]
        print(f"\n== {title}", flush=True)
        started = clock.monotonic()
        if each.main():
            failed.append(each.__name__)
        print(f"{clock.monotonic() - started:.0f} s", flush=True)
    print(f"\nSEED={os.environ['SEED']}: failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
