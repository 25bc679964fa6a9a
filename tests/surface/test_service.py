"""`sexton service`: a real systemd runs the keeper, and lets go of it without a trace."""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sexton.keeper.services import service_here
from sexton.keeper.services.launch import FILES, MARK, Launch
from sexton.keeper.services.launchd import Launchd
from sexton.keeper.services.systemd import UNIT, Systemd
from tests.layers import provide, unavailable
from tests.surface.program import PATIENCE, Cli, call, environment, program

MANAGER = Path(__file__).with_name("systemd_manager.sh")
STRANGE = ("/bin/echo", "two words", 'a "quote"', "100%", "$HOME", "back\\slash", "")


@pytest.fixture(scope="session")
def systemd() -> None:
    """systemd's programs, which are installed if they are not there."""
    provide("install_systemd.sh")
    if os.geteuid() or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        unavailable("systemd: this user may not make a mount namespace")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody's home without anything in it."""
    home = tmp_path / "u"  # systemd looks into sockets below it, whose names have a short limit
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return home


def verified(user: Path, text: str) -> tuple[int, str]:
    """What systemd finds wrong with a unit."""
    file = user / UNIT
    file.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", file],
        env=environment(XDG_RUNTIME_DIR=str(user)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=240,
    )
    return done.returncode, done.stdout


def under_systemd(user: Path, script: str) -> subprocess.CompletedProcess[str]:
    """What a shell says under a user manager of its own."""
    return subprocess.run(
        ["unshare", "--mount", "sh", str(MANAGER), str(user), "sh", "-euc", script],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE,
        check=False,
    )


def test_systemd_finds_nothing_wrong_with_the_unit(user: Path, systemd: None, cli: Cli) -> None:
    text = cli("service", "install", "--dry-run", "--json").json()["text"]
    assert not (user / ".config").exists()  # a dry run writes nothing
    shown = cli.ok("service", "install", "--dry-run")
    assert shown == f"# {user}/.config/systemd/user/{UNIT}\n{text}"
    assert verified(user, text) == (0, "")
    _, said = verified(user, text.replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"))
    assert "NoNewPrivilege" in said  # it would have said so


@pytest.mark.usefixtures("systemd")
def test_a_real_systemd_runs_the_keeper_until_it_is_uninstalled(user: Path, tmp_path: Path) -> None:
    ledger = tmp_path / "kept.db"
    sexton = shlex.join([*program(), "--ledger", str(ledger)])
    script = f"""
        {sexton} service install --json > {tmp_path}/installed
        {sexton} service status --json > {tmp_path}/status
        {sexton} workers list --json > {tmp_path}/workers
        {sexton} service install    # again: it is replaced
        {sexton} service logs -n 1 > {tmp_path}/logs 2>&1 || true
        {sexton} service uninstall
        ! {sexton} service status
    """
    done = under_systemd(user, script)
    assert done.returncode == 0, (done.stdout, done.stderr)
    status = json.loads((tmp_path / "status").read_text())
    assert status["running"] is True
    kinds = [each["kind"] for each in json.loads((tmp_path / "workers").read_text())["items"]]
    assert kinds == ["keeper"]  # systemd heard that it was ready only after it had registered
    file = Path(json.loads((tmp_path / "installed").read_text())["file"])
    assert not file.exists()
    assert not list(user.rglob("*.service"))


@pytest.mark.usefixtures("systemd")
def test_without_a_manager_it_is_told_and_nothing_is_written(user: Path) -> None:
    answer = call(
        "service", "install", HOME=str(user), XDG_RUNTIME_DIR="", DBUS_SESSION_BUS_ADDRESS=""
    )
    assert answer.code == 65
    assert "sexton keep" in answer.err
    assert not list(user.rglob("*.service"))


def test_a_file_of_somebody_else_is_left_alone(user: Path, cli: Cli) -> None:
    file = user / ".config" / "systemd" / "user" / UNIT
    file.parent.mkdir(parents=True)
    file.write_text("[Service]\nExecStart=/bin/true\n")
    for task in ("uninstall", "status", "logs"):
        answer = cli("service", task)
        assert answer.code == 67, task
    assert file.read_text().startswith("[Service]")


@pytest.mark.parametrize("task", ["uninstall", "logs"])
def test_what_is_not_installed_is_told(user: Path, cli: Cli, task: str) -> None:
    answer = cli("service", task)
    assert answer.code == 66
    assert "service install" in answer.err


def test_settings_that_are_wrong_are_told_before_anything_is_installed(
    user: Path, cli: Cli, tmp_path: Path
) -> None:
    config = tmp_path / "wrong.yaml"
    config.write_text("reset:\n  mode: idel\n")
    answer = cli("service", "install", "--config", str(config))
    assert "idel" in answer.err
    assert not (user / ".config").exists()


def test_the_service_gets_the_ledger_the_settings_and_the_dashboard(
    user: Path, cli: Cli, short: str
) -> None:
    asked = ("service", "install", "--dry-run", "--serve", "--config", short, "--json")
    text = cli(*asked).json()["text"]
    assert f'ExecStart="{sys.executable}" "-m" "sexton" "serve"\n' in text
    assert f'Environment="SEXTON_LEDGER={cli.url}"\n' in text
    assert f'Environment="SEXTON_CONFIG={short}"\n' in text
    assert MARK in text


@pytest.mark.usefixtures("systemd")
def test_any_word_reaches_the_program_as_it_was(user: Path, tmp_path: Path) -> None:
    """systemd itself reads the words back; what it can not do here is asked of its checker."""
    unit = user / ".config" / "systemd" / "user" / UNIT
    unit.parent.mkdir(parents=True)
    said = tmp_path / "said"
    told = "repr((sys.argv[1:], os.environ['ODD']))"
    writer = f"import sys, os; open({str(said)!r}, 'w').write({told})"
    words = (sys.executable, "-c", writer, *STRANGE)
    launch = Launch(words=words, environment=(("ODD", 'a %d "b"'),))
    text = Systemd(user / ".config").text(launch)
    unit.write_text(text.replace("Type=notify", "Type=oneshot").replace("WatchdogSec=600\n", ""))
    done = under_systemd(user, f"systemctl --user start {UNIT}")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert said.read_text() == repr((list(STRANGE), 'a %d "b"'))


def test_an_agent_of_launchd_says_the_same(tmp_path: Path) -> None:
    launch = Launch(words=STRANGE, environment=(("SEXTON_LEDGER", "a&b<c"),))
    facts = plistlib.loads(Launchd(tmp_path).text(launch).encode())
    assert facts["ProgramArguments"] == list(STRANGE)
    assert facts["EnvironmentVariables"] == {"SEXTON_LEDGER": "a&b<c"}
    assert facts["KeepAlive"] == {"SuccessfulExit": False}
    assert MARK in facts["Comment"]


def test_the_service_may_have_descriptors_for_many_visitors(tmp_path: Path) -> None:
    launch = Launch(words=("sexton", "serve"))
    assert f"LimitNOFILE={FILES}" in Systemd(tmp_path).text(launch).splitlines()
    facts = plistlib.loads(Launchd(tmp_path).text(launch).encode())
    assert facts["SoftResourceLimits"] == {"NumberOfFiles": FILES}


def test_a_home_elsewhere_is_honoured(tmp_path: Path) -> None:
    found = service_here({"XDG_CONFIG_HOME": str(tmp_path)})
    assert sys.platform == "darwin" or found.file == tmp_path / "systemd" / "user" / UNIT
