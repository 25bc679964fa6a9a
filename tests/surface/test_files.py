"""Which files may a command replace? Regular ones that are not the ledger, and only if forced."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sexton.cli.cli_files import private_file
from sexton.errors import InputInvalid
from tests.golden import golden
from tests.surface.program import Cli


def refusal(cli: Cli, path: str) -> str:
    """What both commands that write files say about a path, forced."""
    session = cli.talk("a", "hello")
    plan = cli("plan", "-o", path, "--force")
    export = cli("sessions", "export", session, "-o", path, "--force")
    assert (plan.code, export.code) == (62, 62)
    assert plan.err == export.err
    return plan.err


@pytest.mark.parametrize("place", ["/", ".", "..", "folder", "link"])
def test_a_directory_is_never_replaced(cli: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    told = refusal(cli, os.path.join(tmp_path, place))
    if place == "folder":
        golden("errors", "a directory is not replaced", told)
    assert (tmp_path / "link").is_symlink()


def test_a_pipe_and_a_link_to_a_device_are_never_replaced(cli: Cli, tmp_path: Path) -> None:
    # Only a link to a device: root could lose the device itself to a mistake in what is tested.
    pipe, to_pipe, to_device = (tmp_path / name for name in ("pipe", "to-pipe", "to-device"))
    os.mkfifo(pipe)
    to_pipe.symlink_to(pipe)
    to_device.symlink_to(os.devnull)
    for place in (pipe, to_pipe, to_device):
        golden("errors", "only a regular file is replaced", refusal(cli, str(place)))
    assert pipe.is_fifo()
    assert to_pipe.is_symlink()
    assert to_device.is_symlink()


def test_a_link_of_the_system_to_a_regular_file_is_never_replaced(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        link = Path(f"/dev/fd/{file.fileno()}")
        with (
            pytest.raises(InputInvalid),
            private_file(link, force=True, ledger=None),
        ):
            raise AssertionError("it was opened for writing")


@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("linked", [False, True])
def test_the_ledger_is_never_replaced(cli: Cli, tmp_path: Path, ending: str, linked: bool) -> None:
    if linked:
        (tmp_path / "real").mkdir()
        (tmp_path / "to").symlink_to(tmp_path / "real")
        cli.url = str(tmp_path / "to" / "ledger.db")
    told = refusal(cli, f"{tmp_path}/{'real/' * linked}ledger.db{ending}")
    golden("errors", "the ledger is not replaced", told)
    assert len(cli("sessions", "list", "--json").items()) == 1


def test_a_plan_to_a_dash_goes_to_standard_output(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert json.loads(cli.ok("plan", "-o", "-"))["format"] == "sexton-plan"
    assert not (tmp_path / "-").exists()
