"""Sexton goes into an environment and a home of Hermes, and out of them without a trace."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from tests.golden import golden
from tests.scenario.hermes_inside import bare_environment
from tests.scenario.hermes_lab import Lab

COMMENTED = """# my own words
model: {provider: custom, default: fake-model}   # local
plugins:
  enabled:
    - disk-cleanup  # kept tidy
security: {allow_lazy_installs: false, tirith_enabled: false}"""


def everything(place: Path) -> dict[str, str]:
    """Every file below a place that is not only a cache, and what is in it."""
    return {
        str(file.relative_to(place)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in place.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


STANDING_IN = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location({name!r}, {file!r}, submodule_search_locations=[{folder!r}])
sys.modules[{name!r}] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules[{name!r}])
"""  # noqa: E501  # runs in another interpreter


def make_wheel(directory: Path, name: str, version: str) -> None:
    """A package of one module, which stands for the package that is installed here."""
    file = Path(str(import_module(name).__file__))
    text = STANDING_IN.format(name=name, file=str(file), folder=str(file.parent))
    info = f"{name}-{version}.dist-info"
    meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {f"{info}/METADATA": meta, f"{info}/WHEEL": tag, f"{name}.py": text}
    record = "".join(f"{each},,\n" for each in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for each, content in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(each, content)


def sexton(*words: str, wheels: Path) -> str:
    """What a command says on standard output."""
    done = call(*words, wheels=wheels)
    assert done.returncode == 0, done.stderr
    return done.stdout


def both(*words: str, wheels: Path) -> str:
    """What a command says, on both of its streams."""
    done = call(*words, wheels=wheels)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def call(*words: str, wheels: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sexton", *words],
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


WRITTEN = {
    "a quoted name and a space": b'plugins:\n  "enabled" : [foo]\n',
    "anchors and tags": b"plugins: &all !!map\n  enabled: &some !!seq\n    - foo\ncopy: *some\n",
    "lines of another system": b"# mine\r\nplugins:\r\n  enabled:\r\n    - foo # theirs\r\n",
}


def test_hermes_loads_the_plugin_however_its_list_is_written_and_tells_the_ledger_of_the_home(
    hermes_python: Path, tmp_path: Path
) -> None:
    environment, home = tmp_path / "environment", tmp_path / "home"
    environment.mkdir()
    python = bare_environment(hermes_python, environment)
    lab = Lab(python, home, "http://127.0.0.1:9/v1")
    asked = (str(home), "--python", str(python))
    own = tmp_path / "their own.db"
    for name, written in WRITTEN.items():
        text = written
        (home / "config.yaml").write_bytes(text)
        if name == "anchors and tags":  # the same list is meant in two places
            refused = call("hermes", "install", *asked, wheels=tmp_path)
            assert (refused.returncode, "hermes plugins enable" in refused.stderr) == (57, True)
            assert (home / "config.yaml").read_bytes() == text
            text = text.replace(b"copy: *some\n", b"")
            (home / "config.yaml").write_bytes(text)
        told = json.loads(sexton("hermes", "install", *asked, "--json", wheels=tmp_path))
        assert told["is_ours"] is (not (home / ".env").exists()), name
        rows = lab.run("plugins", "list", "--plain").stdout.splitlines()
        [shown] = [row for row in rows if "sexton" in row]
        assert "enabled" in shown.replace("not enabled", ""), name
        sexton("hermes", "uninstall", *asked, wheels=tmp_path)
        assert (home / "config.yaml").read_bytes() == text, name
        (home / ".env").write_text(f"SEXTON_LEDGER='{own}'\n")
    assert told["ledger"] == str(own)
    assert not own.exists(), "a proof makes no ledger"


def test_a_plugin_that_hermes_does_not_load_is_no_success_and_leaves_nothing(
    hermes_python: Path, tmp_path: Path
) -> None:
    environment, home = tmp_path / "environment", tmp_path / "home"
    environment.mkdir()
    python = bare_environment(hermes_python, environment)
    Lab(python, home, "http://127.0.0.1:9/v1")
    (home / "config.yaml").write_text(COMMENTED)
    (home / ".env").write_text("HERMES_SAFE_MODE=1\n")  # then Hermes loads no plugin at all
    before = everything(environment)
    refused = call("hermes", "install", str(home), "--python", str(python), wheels=tmp_path)
    assert (refused.returncode, refused.stdout) == (57, "")
    assert (home / "config.yaml").read_text() == COMMENTED
    assert everything(environment) == before


def test_what_was_installed_goes_without_a_trace_and_every_comment_stays(
    hermes_python: Path, tmp_path: Path
) -> None:
    environment, home, wheels = tmp_path / "environment", tmp_path / "home", tmp_path / "wheels"
    environment.mkdir()
    wheels.mkdir()
    python = bare_environment(hermes_python, environment)
    (environment / "beside" / "apsw").unlink()  # what is missing is brought, and taken away again
    [known] = (environment / "beside").glob("apsw-*")
    known.unlink()
    make_wheel(wheels, "apsw", known.name.removeprefix("apsw-").removesuffix(".dist-info"))
    lab = Lab(python, home, "http://127.0.0.1:9/v1")
    (home / "config.yaml").write_text(COMMENTED)
    before = everything(environment), everything(home)
    asked = (str(home), "--python", str(python))
    told = both("hermes", "install", *asked, wheels=wheels)
    golden("hermes", "installed without prices", told.replace(version("sexton"), "<version>"))
    make_wheel(wheels, "genai_prices", "0.0.99")
    told = both("hermes", "install", *asked, wheels=wheels)  # again is not more, but for that
    golden("hermes", "installed", told.replace(version("sexton"), "<version>"))
    text = (home / "config.yaml").read_text()
    added = [line for line in text.splitlines() if line not in COMMENTED.splitlines()]
    assert [line.split()[:2] for line in added] == [["-", "sexton"]]
    assert set(COMMENTED.splitlines()) <= set(text.splitlines())
    rows = lab.run("plugins", "list", "--plain").stdout.splitlines()
    [shown] = [row for row in rows if "sexton" in row]
    assert "enabled" in shown.replace("not enabled", "")
    told = both("hermes", "uninstall", *asked, wheels=wheels)
    golden("hermes", "uninstalled", told)
    after = everything(environment), everything(home)
    assert after[0] == before[0]
    assert {name: after[1][name] for name in before[1]} == before[1]
