"""`sexton serve` as a program: it tells its link, keeps, serves, and stops when it is told to."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import sexton.web
from sexton.cli import run
from sexton.core.plan import Outcome, ReapSession, Reason, Result, Seen
from sexton.liveness.evidence import Evidence, Verdict
from sexton.liveness.reaper import LastAlive
from sexton.store.opening import open_ledger
from sexton.testing import START
from sexton.web.web_serving import listening
from tests.scenario.process_programs import eventually
from tests.surface.program import PATIENCE, Cli, environment, program

pytestmark = pytest.mark.slow

TOKEN = "t" * 32


@contextmanager
def served(ledger: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """The program, once it has told where it serves."""
    line = program("serve", "--port", "0", "--json", "--ledger", ledger, *options)
    with subprocess.Popen(
        line, env=environment(SEXTON_TOKEN=TOKEN), stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        try:
            yield running, json.loads(running.stdout.readline())
        finally:
            running.kill()


def ask(url: str) -> Any:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return json.load(reply)


@pytest.mark.parametrize(("options", "kinds"), [((), ["keeper"]), (("--no-keep",), [])])
def test_a_site_with_or_without_a_keeper_ends_at_sigterm(
    tmp_path: Path, options: tuple[str, ...], kinds: list[str]
) -> None:
    with served(str(tmp_path / "ledger.db"), *options) as (running, told):
        assert told["link"].startswith(f"{told['url']}/login?code=")

        def workers() -> list[str]:
            return [each["kind"] for each in ask(f"{told['url']}/v1/workers")["items"]]

        assert eventually(lambda: workers() == kinds)  # the site answers before the keeper enrols
        running.send_signal(signal.SIGTERM)
        assert running.wait(PATIENCE) == 0


BROKEN = """
import sys, uvicorn
from sexton.cli import run
serve = uvicorn.Server.serve
async def broken(self, sockets=None):
    {breaks}
    await serve(self, sockets)
uvicorn.Server.serve = broken
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("options", [(), ("--no-keep",)], ids=["keeps", "only serves"])
@pytest.mark.parametrize(
    ("breaks", "kind"),
    [("sockets[0].close()", "OSError"), ("sys.exit(3)", "SystemExit")],
    ids=["its socket is taken away", "it exits"],
)
def test_a_server_that_fails_ends_the_program_with_an_error(
    tmp_path: Path, options: tuple[str, ...], breaks: str, kind: str
) -> None:
    place = ("--port", "0", "--json", "--ledger", str(tmp_path / "ledger.db"))
    done = subprocess.run(
        [sys.executable, "-c", BROKEN.format(breaks=breaks), "serve", *place, *options],
        env=environment(SEXTON_TOKEN=TOKEN), capture_output=True, text=True, check=False,
        timeout=PATIENCE,
    )  # fmt: skip
    *logged, error = done.stderr.splitlines()
    assert (done.returncode, json.loads(error)["error"]) == (75, "SiteEnded")
    assert len([line for line in logged if f"({kind})" in line]) == 1


def test_a_taken_port_is_told_before_anything_is_done(cli: Cli, tmp_path: Path) -> None:
    with closing(listening("127.0.0.1", 0)) as taken:
        answer = cli("serve", "--port", str(taken.getsockname()[1]), "--json")
    assert (answer.code, answer.error()["error"]) == (71, "AddressTaken")
    assert not (tmp_path / "ledger.db").exists()


def test_a_bind_that_others_can_reach_is_refused_without_tls_or_proxy(cli: Cli) -> None:
    answer = cli("serve", "--host", "0.0.0.0", "--json")
    assert (answer.code, answer.error()["error"]) == (72, "AddressRefused")
    wrong = cli("serve", "--public-url", "http://sexton.example.org", "--json")
    assert wrong.error()["error"] == "InputInvalid"
    missing = cli("serve", "--port", "0", "--tls-certificate", "a", "--tls-key", "b", "--json")
    assert missing.error()["error"] == "InputInvalid"


def test_without_the_extra_it_is_said_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "sexton.web.web_serving")
    monkeypatch.delattr(sexton.web, "web_serving")
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert run(["serve"]) == 60
    told = capsys.readouterr().err
    assert "uvicorn" in told
    assert "pip install 'sexton[web]'" in told


def test_a_reap_is_as_late_as_its_last_holder_was_seen_alive() -> None:
    alive, dead = Evidence(verdict=Verdict.LIVE), Evidence(verdict=Verdict.DEAD)
    looks = LastAlive()
    looks.saw({"a": alive, "b": alive}, 10.0)
    looks.saw({"a": dead, "b": alive}, 15.0)
    looks.saw({"a": dead, "b": dead}, 20.0)
    seen = Seen(
        ref=1, home="native", id="s", epoch=1, active_at=START, message_count=0, turn_count=0,
        pinned=False,
    )  # fmt: skip
    reason = Reason("reaped:process_gone", "gone")

    def reaped(*workers: str, result: Result = Result.DONE) -> Outcome:
        action = ReapSession(seen=seen, reason=reason, dead=tuple((id, 0) for id in workers))
        return Outcome(action=action, result=result, detail="")

    outcomes = [reaped("a"), reaped("a", "b"), reaped("c"), reaped("b", result=Result.SKIPPED)]
    assert looks.latencies(outcomes, 21.0) == (11.0, 6.0)


ONE_LIMIT = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_a_flood_of_visitors_leaves_files_for_the_keeper(tmp_path: Path) -> None:
    """More come than there are descriptors: one line is logged, and the keeper sweeps on."""
    ledger, settings = tmp_path / "ledger.db", tmp_path / "sexton.yaml"
    settings.write_text("keeper: {sweep_every: 1s}\n")
    line = program(
        "serve", "--port", "0", "--json", "--ledger", str(ledger), "--config", str(settings)
    )
    log = tmp_path / "log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", ONE_LIMIT, *line],
            env=environment(SEXTON_TOKEN=TOKEN), stdout=subprocess.PIPE, stderr=errors, text=True,
        ) as running,
    ):  # fmt: skip
        try:
            assert running.stdout is not None
            told = json.loads(running.stdout.readline())
            with ExitStack() as crowd:
                port = int(told["url"].rpartition(":")[2])
                visitors = [
                    crowd.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
                    for _ in range(300)
                ]
                # The last one to come is turned away: all before it were seen to.
                assert visitors[-1].recv(1) == b""
                with closing(open_ledger(str(ledger))) as opened:
                    before = opened.workers.last_sweep()
                    swept = wait_for(lambda: newer(opened.workers.last_sweep(), before))
                assert swept
            assert wait_for(lambda: answers(f"{told['url']}/v1/workers"))
        finally:
            running.kill()
    assert log.stat().st_size < 20_000, log.read_text()[:2000]


def newer(now: Any, before: Any) -> bool:
    return now is not None and (before is None or now.at > before.at)


def answers(url: str) -> bool:
    try:
        return bool(ask(url)["items"])
    except OSError:
        return False


def wait_for(happened: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if happened():
            return True
        time.sleep(0.05)
    return False
