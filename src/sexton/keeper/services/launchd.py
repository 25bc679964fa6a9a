"""A service of a user under launchd."""

from __future__ import annotations

import os
import plistlib
from collections.abc import Sequence
from pathlib import Path

from sexton.errors import ServiceMissing
from sexton.keeper.services.launch import FILES, MARK, Launch, Standing, ask, claim, order, put

LABEL = "org.sexton.keeper"


class Launchd:
    """Implements installing, asking after and removing by `launchctl`."""

    def __init__(self, home: Path) -> None:
        self.file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self.log = home / "Library" / "Logs" / "sexton.log"

    def text(self, launch: Launch) -> str:
        """What the agent's file says."""
        facts = {
            "Label": LABEL,
            "Comment": MARK,
            "ProgramArguments": list(launch.words),
            "EnvironmentVariables": dict(launch.environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 10,
            "ExitTimeOut": 90,
            "ProcessType": "Background",
            "Umask": 0o077,
            "SoftResourceLimits": {"NumberOfFiles": FILES},
            "StandardOutPath": str(self.log),
            "StandardErrorPath": str(self.log),
        }
        return plistlib.dumps(facts, sort_keys=False).decode()

    def install(self, launch: Launch) -> str:
        """Write the agent and start it; a former one of ours is replaced."""
        put(self.file, self.text(launch).encode())
        self.log.parent.mkdir(parents=True, exist_ok=True)
        ask(["launchctl", "bootout", self._target])  # fails where none runs yet
        order(["launchctl", "bootstrap", self._domain, str(self.file)])
        return ""

    def uninstall(self) -> None:
        """Stop the agent and take its file away."""
        if not claim(self.file):
            raise ServiceMissing(f"there is no {self.file}")
        ask(["launchctl", "bootout", self._target])  # fails where it does not run
        self.file.unlink()

    def status(self) -> Standing:
        """Whether it is installed, whether it runs, and what launchd says of it."""
        code, said = ask(["launchctl", "print", self._target])
        wanted = ("state =", "pid =", "last exit code =")
        found = [line.strip() for line in said.splitlines() if line.strip().startswith(wanted)]
        return Standing(
            installed=claim(self.file),
            running=code == 0 and "state = running" in found,
            words="; ".join(found) or said,
            file=self.file,
        )

    def logs(self, lines: int, *, follow: bool) -> Sequence[str]:
        """The words that show what it wrote."""
        if not claim(self.file):
            raise ServiceMissing(f"there is no {self.file}")
        return ["tail", "-n", str(lines), *(["-F"] if follow else []), str(self.log)]

    @property
    def _domain(self) -> str:
        return f"gui/{os.getuid()}"

    @property
    def _target(self) -> str:
        return f"{self._domain}/{LABEL}"
