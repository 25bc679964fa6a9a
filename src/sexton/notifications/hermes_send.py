"""How does a notice reach the people of a Hermes home? By the home's own `hermes send`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from sexton.core.record import record
from sexton.finalizers.job import EffectFailed
from sexton.notifications.model import Letter

USAGE = 2
"""What the command ends with when it could not work, however often it is tried."""
# Hermes takes this word for an order to send a file along; in a notice it is only a word, and may
# come from whoever named a session.
_ATTACH = re.compile(r"(media)(\s*):", re.IGNORECASE)


@record
class SendPlan:
    """Which program sends, for which home, to whom as it names them."""

    program: str
    home: Path
    to: str
    timeout: timedelta = timedelta(seconds=60)


class HermesSend:
    """Hands a notice to `hermes send` on its standard input; no command line shows it."""

    def __init__(self, plan: SendPlan, environ: Mapping[str, str]) -> None:
        self._plan = plan
        # Sending a line installs nothing.
        own = {"HERMES_HOME": str(plan.home), "HERMES_DISABLE_LAZY_INSTALLS": "1"}
        self._environment = {**environ, **own}

    def deliver(self, letter: Letter) -> None:
        notice = letter.notice
        text = harmless(f"{notice.title}\n\n{notice.text}\n")
        code = self._run(text.encode("utf-8", "replace"))
        if code:
            # What it says may hold a token, so it is for the eyes of whoever runs it.
            raise EffectFailed(
                f"'hermes send --to {self._plan.to}' ended with {code}; run it to see why",
                hopeless=code == USAGE,
            )

    def _run(self, text: bytes) -> int:
        words = [self._plan.program, "send", "--to", self._plan.to, "--quiet", "--file", "-"]
        try:
            process = subprocess.Popen(
                words,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as problem:
            why = problem.strerror or "it can not be started"
            raise EffectFailed(f"{self._plan.program}: {why}", hopeless=True) from None
        seconds = self._plan.timeout.total_seconds()
        try:
            process.communicate(text, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise EffectFailed(f"'hermes send' did not end within {seconds:g} s") from None
        finally:
            _end(process)
        return process.returncode


def harmless(text: str) -> str:
    """The text without anything that Hermes takes for an order."""
    return _ATTACH.sub(r"\1\2 -", text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """No process of ours is left, nor any that it started in its group."""
    if process.poll() is None:
        # Not yet waited for, so the number is still its own.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
