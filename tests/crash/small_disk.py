"""A small disk for a program that fills it, where this user may mount one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.layers import unavailable

MOUNTED = "mounted"
MOUNT = f'mount -t tmpfs -o size=$SIZE tmpfs "$0" && echo {MOUNTED} && exec "$@" "$0"'
PATIENCE = 240.0


def told_on_a_small_disk(directory: Path, *command: str, megabytes: int = 4) -> list[str]:
    """What a program tells that runs on a disk of its own and is given its directory."""
    unshare = shutil.which("unshare")
    if unshare is None:
        unavailable("disk: there is no unshare here to mount one with")
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    done = subprocess.run(
        [unshare, *rights, "--mount", "sh", "-c", MOUNT, str(directory), *command],
        check=False, capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, "SIZE": f"{megabytes}m"},
    )  # fmt: skip
    first, *told = done.stdout.splitlines() or [""]
    if first != MOUNTED:
        unavailable(f"disk: this user may not mount one: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")
    return told
