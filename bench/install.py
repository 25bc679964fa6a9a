"""Which environments do the peers live in?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.process import ROOT

HERMES = "hermes"
PEERS = "peers"
REQUIREMENTS = ("openai-agents==0.24.0", "langgraph-checkpoint-sqlite==3.1.2")
STAMP = "installed.txt"


def python_of(environment: str) -> Path:
    """The interpreter of an environment."""
    return ROOT / ".venvs" / environment / "bin" / "python"


def install_hermes() -> None:
    """Install Hermes unless it is there; the bench can not do without it."""
    subprocess.run(["sh", ROOT / "scripts" / "install_hermes.sh"], check=True, timeout=900)


def has_peers() -> bool:
    """Whether the other peers are installed, in the versions wanted."""
    stamp = ROOT / ".venvs" / PEERS / STAMP
    return stamp.is_file() and stamp.read_text().split() == list(REQUIREMENTS)


def install_peers() -> bool:
    """Install the other peers unless they are there; False if that can not be done here."""
    if has_peers():
        return True
    environment = ROOT / ".venvs" / PEERS
    steps: tuple[list[str], ...] = (
        [sys.executable, "-m", "venv", "--clear", str(environment)],
        [*(str(python_of(PEERS)), "-m", "pip", "install", "-qq"), *REQUIREMENTS],
    )
    try:
        for step in steps:
            subprocess.run(step, check=True, timeout=900)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return False
    (environment / STAMP).write_text("\n".join(REQUIREMENTS))
    return True
