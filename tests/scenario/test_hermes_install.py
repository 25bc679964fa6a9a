"""Sexton goes into an environment and a home of Hermes, and out of them without a trace."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
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


def make_wheel(directory: Path, name: str, version: str) -> None:
    """A package of nothing but a name."""
    info = f"{name}-{version}.dist-info"
    meta = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    tag = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {f"{info}/METADATA": meta, f"{info}/WHEEL": tag, f"{name}.py": ""}
    record = "".join(f"{each},,\n" for each in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(directory / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for each, text in (files | {f"{info}/RECORD": record}).items():
            archive.writestr(each, text)


def sexton(*words: str, wheels: Path) -> str:
    """What a command says, on both of its streams."""
    done = subprocess.run(
        [sys.executable, "-m", "sexton", *words],
        env=os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


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
    told = sexton("hermes", "install", *asked, wheels=wheels)
    golden("hermes", "installed without prices", told.replace(version("sexton"), "<version>"))
    make_wheel(wheels, "genai_prices", "0.0.99")
    told = sexton("hermes", "install", *asked, wheels=wheels)  # again is not more, but for that
    golden("hermes", "installed", told.replace(version("sexton"), "<version>"))
    text = (home / "config.yaml").read_text()
    added = [line for line in text.splitlines() if line not in COMMENTED.splitlines()]
    assert [line.split()[:2] for line in added] == [["-", "sexton"]]
    assert set(COMMENTED.splitlines()) <= set(text.splitlines())
    rows = lab.run("plugins", "list", "--plain").stdout.splitlines()
    [shown] = [row for row in rows if "sexton" in row]
    assert "enabled" in shown.replace("not enabled", "")
    told = sexton("hermes", "uninstall", *asked, wheels=wheels)
    golden("hermes", "uninstalled", told)
    after = everything(environment), everything(home)
    assert after[0] == before[0]
    assert {name: after[1][name] for name in before[1]} == before[1]
