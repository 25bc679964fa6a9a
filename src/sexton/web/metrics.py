"""How does it do, for Prometheus? No names of sessions, and nothing that was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sexton.spending.budget_standing import NOWHERE, standings
from sexton.spending.model import Scope, Who
from sexton.version import __version__
from sexton.web.desk import Desk

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SWEEP_BUCKETS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
REAP_BUCKETS = (1, 5, 10, 30, 60, 120, 300, 600, 1800)
STANDINGS = ("live", "waiting", "suspect", "leaked", "unproven")


class Metrics:
    """All that is counted, read when it is asked for."""

    def __init__(self, desk: Desk) -> None:
        self._registry = CollectorRegistry()
        sweeps = Histogram(
            "sexton_sweep_seconds",
            "How long the sweeps of the keeper in this process took.",
            buckets=SWEEP_BUCKETS,
            registry=self._registry,
        )
        reaps = Histogram(
            "sexton_reap_latency_seconds",
            "From the last sign of life of a session's holders to its end by this keeper.",
            buckets=REAP_BUCKETS,
            registry=self._registry,
        )
        desk.sweeps.took.append(sweeps.observe)
        desk.sweeps.reaped.append(reaps.observe)
        self._registry.register(_Ledger(desk))

    def text(self) -> bytes:
        """The metrics as they are sent."""
        return generate_latest(self._registry)


class _Ledger(Collector):
    """What the ledger knows, of all homes and hosts, and what the keeper here has done."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterator[Metric]:
        counts = self._desk.counts.current(self._desk)
        yield _gauge("sexton_build_info", "The version.", ("version",), [((__version__,), 1)])
        yield from _of_sessions(counts["homes"])
        yield from _of_figures(counts)
        yield from self._of_reaps()
        yield from self._of_work()
        yield from self._of_sweeps()
        yield _gauge(
            "sexton_budget_used_ratio",
            "How much of each budget of the day is used.",
            ("budget",),
            self._budgets(),
        )

    def _of_reaps(self) -> Iterator[Metric]:
        shadows = self._desk.house.ledger.samples.shadows()
        yield _gauge(
            "sexton_reaps_recorded",
            "Reaps of observed homes that were recorded, not carried out.",
            ("home",),
            [((each.home,), each.recorded) for each in shadows],
        )
        yield _gauge(
            "sexton_reaps_contradicted",
            "Those of them that later activity proved wrong.",
            ("home",),
            [((each.home,), each.contradicted) for each in shadows],
        )

    def _of_work(self) -> Iterator[Metric]:
        ledger, now = self._desk.house.ledger, self._desk.house.clock.now()
        yield _gauge(
            "sexton_finalizations",
            "End-of-session work that is not done.",
            ("finalizer", "state"),
            [((name, state.value), n) for (name, state), n in ledger.finalizing.tally().items()],
        )
        yield _gauge(
            "sexton_finalizer_lag_seconds",
            "For how long the oldest work of a finalizer is owed.",
            ("finalizer",),
            [((name,), _age(at, now)) for name, at in ledger.gauges.oldest_work().items()],
        )

    def _of_sweeps(self) -> Iterator[Metric]:
        sweeps, house = self._desk.sweeps, self._desk.house
        last = house.ledger.workers.last_sweep()
        if last is not None:
            yield _gauge(
                "sexton_last_sweep_age_seconds",
                "How long ago any keeper of the ledger finished a sweep.",
                (),
                [((), _age(last.at, house.clock.now()))],
            )
        yield _counter(
            "sexton_actions",
            "What the keeper in this process did, and what came of it.",
            ("action", "result"),
            [(names, count) for names, count in sorted(sweeps.actions.items())],
        )
        yield _counter(
            "sexton_reclaimed_bytes",
            "What the keeper in this process put away, in bytes.",
            (),
            [((), sweeps.reclaimed_bytes)],
        )
        yield _counter(
            "sexton_sweep_troubles",
            "Homes that a sweep could not look at.",
            (),
            [((), sweeps.troubles)],
        )

    def _budgets(self) -> list[tuple[tuple[str, ...], float]]:
        found = standings(self._desk.lookout.estate(), Who(NOWHERE, NOWHERE, ""))
        return [
            ((budget.name,), max(0, each.used) / budget.limit)
            for each in found
            if each.bound.meter.scope is Scope.DAY
            for budget in each.bound.budgets
        ]


def _of_sessions(homes: Sequence[Mapping[str, Any]]) -> Iterator[Metric]:
    yield _gauge(
        "sexton_sessions",
        "Sessions by home and state.",
        ("home", "state"),
        [((home["name"], state), n) for home in homes for state, n in home["states"].items()],
    )
    yield _gauge(
        "sexton_open_sessions",
        "Open sessions by home and what is known of who holds them.",
        ("home", "verdict"),
        [((home["name"], name), home[name]) for home in homes for name in STANDINGS],
    )
    yield _gauge(
        "sexton_leak_ratio",
        "The part of the open sessions whose holders are all dead.",
        ("home",),
        [((home["name"],), home["leaked"] / max(1, home["open"])) for home in homes],
    )


def _of_figures(counts: Mapping[str, Any]) -> Iterator[Metric]:
    for name, figure, words, scale in (
        ("sexton_suspect_sessions", "suspect", "Open sessions that look dead.", 1),
        ("sexton_held_resets", "held", "Resets that are held back.", 1),
        ("sexton_dead_letters", "dead_letters", "Work that was given up.", 1),
        ("sexton_spend_dollars", "spend_micros", "Cost of sessions active today.", 1_000_000),
        ("sexton_tokens", "tokens", "Tokens of sessions active today.", 1),
        ("sexton_ledger_bytes", "ledger_bytes", "The size of the ledger.", 1),
        ("sexton_disk_free_bytes", "disk_free_bytes", "What is free beside the vault.", 1),
    ):
        if counts.get(figure) is not None:
            yield _gauge(name, words, (), [((), counts[figure] / scale)])


def _age(at: datetime, now: datetime) -> float:
    """Never below 0: clocks of two machines may differ."""
    return max(0.0, (now - at).total_seconds())


_Values = Iterable[tuple[tuple[str, ...], float]]


def _gauge(name: str, words: str, labels: tuple[str, ...], values: _Values) -> Metric:
    family = GaugeMetricFamily(name, words, labels=labels)
    for given, value in values:
        family.add_metric(given, value)
    return family


def _counter(name: str, words: str, labels: tuple[str, ...], values: _Values) -> Metric:
    family = CounterMetricFamily(name, words, labels=labels)
    for given, value in values:
        family.add_metric(given, value)
    return family
