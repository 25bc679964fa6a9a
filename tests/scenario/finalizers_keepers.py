"""Keepers in processes of their own, that are killed, stopped, or left without a ledger."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import closing
from dataclasses import replace as replaced
from datetime import timedelta
from pathlib import Path
from types import FrameType

from sexton.core.record import replace
from sexton.liveness.policy import LivenessPolicy
from sexton.settings.settings_values import Settings
from tests.crash.holding import HOST, FarProcesses
from tests.kit.nursery import Report
from tests.scenario.finalizers_scene import open_house

MODULE = "tests.scenario.finalizers_keepers"
KEEP = f"{MODULE}:keep"
STEP = "SEXTON_TEST_STEP"
"""The moment at which a keeper kills itself: an event of the interpreter and a function's name."""
HASTY = LivenessPolicy(
    beat_every=timedelta(seconds=0.1),
    ttl=timedelta(seconds=2),
    lock_delay=timedelta(seconds=0.1),
)
SWEEP_EVERY = 0.2


def keep(report: Report, url: str, config: str) -> None:
    """Keep until killed; tells of every sweep and every line of the log."""
    _tell_log(report)
    if os.environ.get(STEP):
        _fall_at(os.environ[STEP])
    host = os.environ.get(HOST)
    table = FarProcesses(host) if host else None
    with (
        open_house(url, Path(config), processes=table, change=_hasty) as house,
        house.worker(kind="keeper") as worker,
        closing(house.keeper(worker)) as keeper,
    ):
        keeper.interval = SWEEP_EVERY
        report.tell("worker", worker.id)
        keeper.run(lambda _: report.tell("swept"))


def _hasty(settings: Settings) -> Settings:
    if not os.environ.get(HOST):
        return settings
    return replace(settings, rulebook=replaced(settings.rulebook, liveness=HASTY))


def _tell_log(report: Report) -> None:
    class Telling(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            report.tell("log", record.levelname, record.getMessage())

    log = logging.getLogger("sexton")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(Telling())


def _fall_at(step: str) -> None:
    def look(frame: FrameType, event: str, about: object) -> None:
        name = getattr(about, "__name__", "") if event[0] == "c" and "_" in event else ""
        if f"{event} {name or frame.f_code.co_qualname}" == step:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(look)
    sys.setprofile(look)
