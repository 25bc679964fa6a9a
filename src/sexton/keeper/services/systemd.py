"""A service of a user under systemd."""

from __future__ import annotations

import getpass
from collections.abc import Mapping, Sequence
from pathlib import Path

from sexton.errors import ServiceMissing
from sexton.keeper.services.launch import FILES, MARK, Launch, Standing, ask, claim, order, put

UNIT = "sexton.service"
CONTROL = ("systemctl", "--user")
LINGERING = Path("/var/lib/systemd/linger")
LOGOUT = "it ends when you log out; 'loginctl enable-linger' keeps it running"

# What would give the keeper a view of its own (namespaces of users, of processes, of files) is left
# out: it must see the processes it judges, and programs it runs at the end of a session inherit all
# of this.
_TEMPLATE = """\
# {mark}
[Unit]
Description=Sexton, which looks after the sessions of agents
Documentation=man:systemd.service(5)
After=network-online.target
StartLimitIntervalSec=600
StartLimitBurst=5

[Service]
Type=notify
NotifyAccess=main
ExecStart={command}
{environment}Restart=on-failure
RestartSec=10
WatchdogSec=600
TimeoutStopSec=90
KillMode=mixed
UMask=0077
LimitNOFILE={files}
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""


class Systemd:
    """Implements installing, asking after and removing by `systemctl --user`."""

    def __init__(self, settings: Path) -> None:
        self.file = settings / "systemd" / "user" / UNIT

    def text(self, launch: Launch) -> str:
        """What the unit's file says."""
        given = (_quoted(f"{name}={value}") for name, value in launch.environment)
        return _TEMPLATE.format(
            mark=MARK,
            files=FILES,
            command=" ".join(_quoted(word, dollars=True) for word in launch.words),
            environment="".join(f"Environment={each}\n" for each in given),
        )

    def install(self, launch: Launch) -> str:
        """Write the unit, enable and start it; a former one of ours is replaced."""
        order([*CONTROL, "show", "--property=Version"])  # before anything is written
        put(self.file, self.text(launch).encode())
        order([*CONTROL, "daemon-reload"])
        order([*CONTROL, "enable", UNIT])
        order([*CONTROL, "restart", UNIT])
        return "" if self._lingers() else LOGOUT

    def uninstall(self) -> None:
        """Stop and disable the unit, and take its file away."""
        if not claim(self.file):
            raise ServiceMissing(f"there is no {self.file}")
        order([*CONTROL, "disable", "--now", UNIT])
        self.file.unlink()
        order([*CONTROL, "daemon-reload"])
        ask([*CONTROL, "reset-failed", UNIT])  # fails where there is nothing to forget

    def status(self) -> Standing:
        """Whether it is installed, whether it runs, and what systemd says of it."""
        installed = claim(self.file)
        wanted = "--property=ActiveState,SubState,MainPID"
        code, said = ask([*CONTROL, "show", UNIT, wanted])
        facts = {} if code else dict(line.partition("=")[::2] for line in said.splitlines())
        running = facts.get("ActiveState") == "active"
        words = _told(facts) if facts else said
        return Standing(installed=installed, running=running, words=words, file=self.file)

    def logs(self, lines: int, *, follow: bool) -> Sequence[str]:
        """The words that show what it wrote."""
        if not claim(self.file):
            raise ServiceMissing(f"there is no {self.file}")
        words = ["journalctl", "--user", "--unit", UNIT, "--lines", str(lines), "--no-pager"]
        return [*words, "--follow"] if follow else words

    def _lingers(self) -> bool:
        return (LINGERING / getpass.getuser()).exists()


def _told(facts: Mapping[str, str]) -> str:
    parts = [f"{facts.get('ActiveState')} ({facts.get('SubState')})"]
    if facts.get("MainPID", "0") != "0":
        parts.append(f"pid {facts['MainPID']}")
    return "; ".join(parts)


def _quoted(word: str, *, dollars: bool = False) -> str:
    """A word as systemd reads it back: `%` and, in commands, `$` begin something else there."""
    for bad, good in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("\n", "\\n"), ("\t", "\\t")):
        word = word.replace(bad, good)
    return f'"{word.replace("$", "$$") if dollars else word}"'
