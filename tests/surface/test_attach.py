"""A newcomer types what the README says, and each command names the next one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.golden import golden
from tests.scenario.hermes_home import Hermes, HermesScene
from tests.scenario.hermes_house import DAY, ends, make_older
from tests.surface.program import PATIENCE, ROOT, Cli, environment

LEFT = 12


@pytest.fixture
def usual(hermes: Hermes, tmp_path: Path) -> HermesScene:
    """The usual home of this user, where many sessions were left open."""
    scene = HermesScene(hermes, tmp_path / "user" / ".hermes")
    for number in range(LEFT):
        scene.start(f"left {number}")
        scene.say(f"left {number}", "hello")
    make_older(scene, 40 * DAY)
    scene.close()
    return scene


def test_after_doctor_every_command_says_what_it_looked_at_and_how_the_home_is_attached(
    cli: Cli, usual: HermesScene
) -> None:
    path = str(usual.path)
    how = f"sexton attach {path}"
    [home] = cli("doctor", path, "--json").json()["homes"]
    assert (home["attached"], home["attach"], home["open_by"]["leaked"]) == (False, how, LEFT)
    assert how in cli("doctor", path).err
    for words in (["plan"], ["apply"], ["gc"], ["keep", "--once"]):
        assert how in cli(*words).err, words
    golden("homes", "a home is not attached", cli("plan").err)
    for words in (["apply", "--yes"], ["gc", "--yes"], ["keep", "--once"]):
        told = cli(*words, "--json").json()
        assert [(each["name"], each["act"]) for each in told["homes"]] == [("native", True)]
        assert [each["path"] for each in told["unattached"]] == [path]
    assert cli("plan", "--json").json()["homes"] == ["native"]
    assert set(ends(usual).values()) == {None}


def test_an_attached_home_is_planned_applied_and_brought_back(
    cli: Cli, usual: HermesScene, tmp_path: Path
) -> None:
    cli.ok("doctor", str(usual.path))
    first = cli("attach", str(usual.path), "--json").json()
    file = Path(first["file"])
    assert (first["name"], first["act"], first["changed"]) == ("hermes", False, True)
    assert file == tmp_path / "settings" / "sexton" / "sexton.yaml"
    assert "--home hermes" in cli("gc").err, "which looks at one home at a time"
    plan = cli("plan", "--json").json()
    assert (plan["homes"], plan["observed"], len(plan["actions"])) == (
        ["native", "hermes"], ["hermes"], LEFT,
    )  # fmt: skip
    said = cli("plan").err
    assert "sexton attach" not in said, "it is attached"
    golden("homes", "a home is only observed", said)
    [home] = cli("doctor", str(usual.path), "--json").json()["homes"]
    assert (home["attached"], home["attach"]) == (True, f"sexton attach {usual.path} --act")
    second = cli("attach", str(usual.path), "--act", "--json").json()
    assert (second["act"], second["changed"]) == (True, True)
    assert cli("attach", "--act", "--json").json()["changed"] is False
    assert yaml.safe_load(file.read_text()) == {"homes": [{"path": str(usual.path), "act": True}]}
    done = cli("apply", "--yes")
    [receipt] = [line.split()[1] for line in done.out.splitlines() if line.startswith("receipt")]
    assert done.err.splitlines()[-1].count(f"sexton undo {receipt}") == 1, done.err
    golden("apply", "what takes a big apply back", done.err)
    assert set(ends(usual).values()) == {"reaped"}
    cli.ok("undo", receipt)
    assert set(ends(usual).values()) == {None}
    again = cli("apply", "--yes", "--json").json()
    assert (again["done"], again["undo"]) == (0, None), "what was taken back stays so for now"
    assert [(each["name"], each["act"]) for each in again["homes"]] == [
        ("native", True), ("hermes", True),
    ]  # fmt: skip


def test_a_settings_file_with_comments_gets_one_entry_and_keeps_its_mode(
    cli: Cli, usual: HermesScene, tmp_path: Path
) -> None:
    real, file = tmp_path / "kept.yaml", tmp_path / "linked.yaml"
    text = "# mine\nhomes:  # those of the team\n  - path: /nowhere  # gone\nreset: {mode: idle}\n"
    real.write_text(text)
    real.chmod(0o640)
    file.symlink_to(real)
    golden("homes", "a home is attached", cli.ok("attach", "--config", str(file)))
    assert [line for line in real.read_text().splitlines() if line in text] == text.splitlines()
    assert (file.is_symlink(), real.stat().st_mode & 0o777) == (True, 0o640)


def test_a_detached_home_is_left_as_it_is_and_what_was_removed_can_come_back(
    cli: Cli, usual: HermesScene, tmp_path: Path
) -> None:
    path = str(usual.path)
    usual.start("garbage")
    usual.end("garbage")
    make_older(usual, 40 * DAY, "garbage")
    usual.close()
    file = Path(cli("attach", path, "--act", "--json").json()["file"])
    done = cli("gc", "--home", "hermes", "--yes", "--json").json()
    assert (done["done"], "garbage" in ends(usual)) == (1, False)
    golden("homes", "a home is detached", (told := cli("detach")).out + told.err)
    assert yaml.safe_load(file.read_text()) is None
    assert f"sexton attach {path}" in cli("plan").err
    assert "garbage" not in ends(usual)
    again = cli("detach", path, "--json").json()
    assert (again["changed"], again["restored"], again["kept_files"]) == (False, None, 1)
    golden("homes", "a home is detached already", cli.ok("detach", path))
    back = cli("detach", path, "--restore", "--json").json()
    assert (len(back["restored"]["files"]), back["kept_files"]) == (1, 0)
    assert ends(usual)["garbage"] == "cli_close"
    assert cli("detach", path, "--restore", "--json").json()["restored"]["files"] == []


def test_what_was_removed_comes_back_before_a_home_is_detached_or_it_stays_attached(
    cli: Cli, usual: HermesScene, tmp_path: Path
) -> None:
    usual.start("garbage")
    usual.end("garbage")
    make_older(usual, 40 * DAY, "garbage")
    usual.close()
    file = Path(cli("attach", "--act", "--json").json()["file"])
    receipt = cli("gc", "--home", "hermes", "--yes", "--json").json()["receipt"]
    aside = usual.path.rename(tmp_path / "aside")
    refused = cli("detach", "hermes", "--restore")
    assert refused.code != 0
    assert yaml.safe_load(file.read_text())["homes"], refused.err
    assert cli("detach", "hermes").code == 0, "it need not be there"
    aside.rename(usual.path)
    cli.ok("undo", receipt)
    assert ends(usual)["garbage"] == "cli_close", "the ledger knows the home all the same"


def test_what_is_not_attached_is_told_and_what_is_nothing_is_refused(
    cli: Cli, usual: HermesScene, tmp_path: Path
) -> None:
    assert cli("detach").code == 50
    assert cli("detach", str(tmp_path / "nowhere")).code == 50
    assert cli("detach", str(usual.path), "--json").json()["changed"] is False
    assert not (tmp_path / "settings").exists()


def test_what_can_not_be_read_is_not_said_to_be_looked_at(
    cli: Cli, usual: HermesScene, tmp_path: Path
) -> None:
    cli.ok("attach")
    usual.database.rename(tmp_path / "aside.db")
    for content in (b"", b"no database at all" * 100):
        usual.database.write_bytes(content)
        for command in ("plan", "apply"):
            told = cli(command)
            (line,) = [line for line in told.err.splitlines() if line.startswith("looked at:")]
            assert str(usual.path) not in line
            assert str(usual.path) in told.err


@pytest.mark.parametrize("text", ["homes: 3\n", "resets: {}\n", "homes: [\n"])
def test_a_settings_file_with_mistakes_stays_as_it_is(
    cli: Cli, usual: HermesScene, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(text)
    assert cli("attach", "--config", str(file)).code == 30
    assert file.read_text() == text


def test_what_is_no_home_is_not_attached(cli: Cli, tmp_path: Path) -> None:
    assert cli("attach", str(tmp_path)).code == 50
    assert cli("attach").code == 50
    for content, code in ((b"", 51), (b"no database at all" * 100, 52)):
        (tmp_path / "state.db").write_bytes(content)
        assert cli("attach", str(tmp_path)).code == code
    assert not (tmp_path / "settings").exists()


def test_without_a_ledger_doctor_names_the_home_that_is_here(cli: Cli, usual: HermesScene) -> None:
    assert f"sexton doctor {usual.path}" in cli("doctor", "--json").error()["hint"]


def test_make_run_counts_what_was_done_and_not_what_was_left_alone(
    usual: HermesScene, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "run.py"],
        env=environment(SEXTON_LEDGER=str(tmp_path / "run.db")),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    first = done.stdout.split("\n\n")[0]
    golden("homes", "make run changes nothing", first)
    assert f"{LEFT} actions" not in first.splitlines()[0]
    assert f"sexton attach {usual.path} --act" in first
    assert set(ends(usual).values()) == {None}
