"""The findings of `doctor` on homes that the real Hermes made."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sexton.homes.hermes.config_files import read_configuration
from sexton.homes.hermes.findings.all import config_findings
from sexton.homes.hermes.findings.finding import Names
from sexton.homes.hermes.installed import Installed, find_installed
from tests.golden import golden

CONFIGS = Path(__file__).with_name("hermes_configs")
WRITE = """
import sys, yaml
from pathlib import Path
from hermes_cli import config
home = Path(sys.argv[1])
config.save_config(config.load_config())
(home / "whole.yaml").write_text(yaml.safe_dump(config.DEFAULT_CONFIG))
"""


@pytest.fixture(scope="module")
def installed(hermes_python: Path) -> Installed:
    """The real Hermes, found by its command."""
    commands = str(hermes_python.parent)
    found = find_installed(Path("nowhere"), {"PATH": commands})
    assert found is not None
    return found


@pytest.fixture(scope="module")
def written(hermes_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose configuration Hermes wrote itself."""
    home = tmp_path_factory.mktemp("written")
    environment = dict(os.environ, HERMES_HOME=str(home), HERMES_DISABLE_LAZY_INSTALLS="1")
    subprocess.run([hermes_python, "-c", WRITE, home], env=environment, check=True, timeout=240)
    return home


def test_the_settings_of_the_installed_hermes_are_known_without_running_it(
    installed: Installed,
) -> None:
    assert {"session_reset", "sessions", "fallback_providers", "mcp_servers"} <= set(
        installed.sections
    )
    assert "retention_days" in installed.sections["sessions"]
    assert installed.mentions("idle_minutes")
    assert not installed.mentions("idle_minuts")


@pytest.mark.parametrize("file", ["config.yaml", "whole.yaml"])
@pytest.mark.parametrize("known", [True, False])
def test_what_hermes_writes_itself_is_left_in_peace(
    written: Path, installed: Installed, tmp_path: Path, file: str, known: bool
) -> None:
    (tmp_path / "config.yaml").write_bytes((written / file).read_bytes())
    said = read_configuration(tmp_path)
    assert said.config.values
    names = Names(home="work", path=tmp_path)
    assert config_findings(said, 22, installed if known else None, names) == ()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.stem)
def test_files_as_people_write_them_are_left_in_peace(
    installed: Installed, tmp_path: Path, file: Path, known: bool
) -> None:
    """What is set twice is told, as the first of the two means nothing; and nothing else is."""
    (tmp_path / "config.yaml").write_bytes(file.read_bytes())
    said = read_configuration(tmp_path)
    assert said.config.values
    names = Names(home="work", path=tmp_path)
    told = config_findings(said, 22, installed if known else None, names)
    repeated = [f"{tmp_path / 'config.yaml'}:7"] if file.stem == "set_twice" else []
    assert [each.where for each in told] == repeated
    assert {each.code for each in told} <= {"config.repeated"}


def test_a_slip_of_the_root_is_told_with_the_real_names(
    written: Path, installed: Installed, tmp_path: Path
) -> None:
    text = (written / "whole.yaml").read_text()
    (tmp_path / "config.yaml").write_text(
        text.replace("\ntool_loop_guardrails:", "\ntool_loop_guardrail:")
    )
    told = config_findings(
        read_configuration(tmp_path), 22, installed, Names(home="work", path=tmp_path)
    )
    golden("findings", "a name that Hermes does not know", "\n".join(each.words for each in told))


@pytest.mark.parametrize(
    ("config", "dotenv"),
    [
        ("session_reset: {mode: idle, idle_minutes: 2h}\n", ""),
        ("session_reset: {mode: daily, at_hour: '4'}\n", ""),
        ("session_reset: {mode: idel}\n", ""),
        ("session_reset: both\n", ""),
        ("session_reset: {mode: idle, bg_process_max_age_hours: x}\n", ""),
        ("session_reset: {idle_minutes: 30}\n", ""),
        ("sessions: {auto_prune: 'false', retention_days: 0, min_interval_hours: x}\n", ""),
        ("", "A=1\nAPI_SERVER_KEY=changeme\nB=2"),
    ],
)
def test_the_command_that_a_finding_names_mends_it(
    hermes_python: Path, tmp_path: Path, config: str, dotenv: str
) -> None:
    (tmp_path / "config.yaml").write_text(config)
    (tmp_path / ".env").write_text(dotenv)
    names = Names(home="work", path=tmp_path)

    def told() -> list[str]:
        found = config_findings(read_configuration(tmp_path), 22, None, names)
        return [each.repair for each in found]

    repairs = told()
    assert repairs
    path = os.pathsep.join((str(hermes_python.parent), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path, "HERMES_DISABLE_LAZY_INSTALLS": "1"}
    for command in repairs:
        subprocess.run(["sh", "-c", command], env=environment, check=True, timeout=240)
    assert told() == []


@pytest.mark.parametrize(
    "script",
    ["#!{python}\nimport x\n", "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n"],
)
def test_an_installed_hermes_is_found_by_its_command_however_that_begins(
    tmp_path: Path, script: str
) -> None:
    packages = tmp_path / "my env" / "lib" / "python3.12" / "site-packages"
    (packages / "hermes_cli").mkdir(parents=True)
    (packages / "hermes_cli" / "config.py").write_text("DEFAULT_CONFIG: dict = {'a': {'b': 1}}\n")
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "hermes").write_text(script.format(python=tmp_path / "my env/bin/python3.12"))
    (commands / "hermes").chmod(0o700)
    found = find_installed(tmp_path, {"PATH": str(commands)})
    assert found is not None
    assert found.sections == {"a": frozenset({"b"})}


def test_an_installed_hermes_is_found_beside_the_profiles_it_serves(tmp_path: Path) -> None:
    (tmp_path / "hermes-agent" / "hermes_cli").mkdir(parents=True)
    (tmp_path / "hermes-agent" / "hermes_cli" / "config.py").write_text("not python at all (")
    found = find_installed(tmp_path / "profiles" / "work", {"PATH": ""})
    assert found is not None
    assert found.sections == {}
    assert find_installed(tmp_path / "elsewhere", {"PATH": ""}) is None
