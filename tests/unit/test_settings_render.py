"""Are the effective settings shown so that they can be loaded again?"""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.record import replace
from sexton.liveness.policy import LivenessPolicy
from sexton.processes.handling import Handling, ProcessPolicy
from sexton.resets.policy import Mode, ResetPolicy
from sexton.retention.disk_budget import DiskBudget
from sexton.retention.policy import Fate, Protection, Retention, RetentionClass
from sexton.rules.rulebook import ResetRule, Rulebook
from sexton.settings.finalizer_settings import owing, spared
from sexton.settings.loader import load
from sexton.settings.quantities import parse_duration, parse_size, show_duration, show_size
from sexton.settings.render import lines, show
from sexton.settings.settings_values import (
    EVENTS,
    ArchiveFormat,
    ArchiveSettings,
    FinalizerKind,
    FinalizerSetting,
    GcSettings,
    HomeSetting,
    KeeperSettings,
    NotifySetting,
    ServeSettings,
    Settings,
    TrashSettings,
)
from tests.contract.examples import examples
from tests.golden import golden

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
NAMES = st.one_of(st.sampled_from(["telegram", "no", "04", "~", "null", "a: b", "#"]), WORDS)
LONG_NAMES = st.sampled_from(["x" * 1024, "\x85" * 512, "a b" * 300])
TUPLES = st.lists(NAMES, max_size=3).map(tuple)
SPANS = st.integers(1, 36_500 * 86_400).map(lambda seconds: timedelta(seconds=seconds))
COUNTS = st.none() | st.integers(1, 10**9)

POLICIES = st.builds(
    ResetPolicy,
    mode=st.sampled_from(Mode),
    idle_minutes=st.integers(1, 52_560_000),
    at_hour=st.integers(0, 23),
    timezone=st.sampled_from(["UTC", "Europe/Berlin", "Etc/GMT+5"]),
    max_age=st.none() | SPANS,
    max_messages=COUNTS,
    max_bytes=st.none() | st.integers(1, 10**15),
    max_turns=COUNTS,
    warn_at=st.floats(0, 1, exclude_min=True, exclude_max=True),
    warn_messages=COUNTS,
    warn_bytes=st.none() | st.integers(1, 10**15),
)
RULES = st.builds(
    ResetRule, sources=TUPLES, chat_types=TUPLES, keys=TUPLES, policy=POLICIES
).filter(lambda rule: bool(rule.sources or rule.chat_types or rule.keys))
HOMES = st.lists(
    st.builds(
        HomeSetting,
        path=WORDS.map(lambda word: Path("/homes") / word.replace("/", "_")).filter(
            lambda path: path.name not in ("", ".", "..") and len(str(path).encode()) < 4096
        ),
        name=st.from_regex(r"[a-z0-9.#&*-]{1,9}", fullmatch=True),
        act=st.booleans(),
    ),
    max_size=3,
    unique_by=(lambda home: home.path, lambda home: home.name),
)
LIVENESS = st.builds(
    LivenessPolicy,
    dies_with_owner=TUPLES,
    beat_every=SPANS,
    ttl=SPANS,
    lock_delay=SPANS,
    stall_after=SPANS,
    inactivity_bound=st.dictionaries(NAMES | LONG_NAMES, SPANS, max_size=3).map(
        lambda bounds: tuple(sorted(bounds.items()))
    ),
).filter(lambda policy: policy.ttl >= 2 * policy.beat_every)
HANDLINGS = st.sampled_from(Handling)
PROCESSES = st.builds(
    ProcessPolicy,
    on_idle_reset=HANDLINGS,
    on_daily_reset=HANDLINGS,
    on_end=HANDLINGS,
    on_reap=HANDLINGS,
    window=SPANS,
    ttl=st.none() | SPANS,
    grace=SPANS,
    notice=SPANS,
)
VARIABLES = st.none() | st.from_regex(r"[A-Z][A-Z_]{0,9}", fullmatch=True)
ADDRESSES = st.sampled_from(["http://[::1]:80/?a#b", "https://example.org/#x:,y"])
ENDPOINTS = st.sampled_from(["http://[::1]:80/a:,b", "https://example.org/v1/"])
AT_ONCE = st.integers(1, 256)
PLAIN = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,9}", fullmatch=True)
ARGUMENTS = st.sampled_from(["", "a b", "5", "no", "'"]) | WORDS
COMMON = {
    "name": PLAIN,
    "sources": TUPLES,
    "min_messages": st.integers(1, 10**9),
    "attempts": st.integers(1, 10**9),
    "concurrency": AT_ONCE,
    "per_minute": COUNTS,
}
FINALIZERS = st.one_of(
    st.builds(
        FinalizerSetting,
        kind=st.just(FinalizerKind.MEMORY),
        base_url=ENDPOINTS,
        model=NAMES,
        api_key_env=VARIABLES,
        file=st.just(Path("/srv/a b.md")),
        context_tokens=st.integers(1000, 10**9),
        daily_calls=COUNTS,
        timeout=SPANS,
        **COMMON,
    ).map(lambda each: replace(each, spared=spared(each.kind, each.sources))),
    st.builds(
        FinalizerSetting,
        kind=st.just(FinalizerKind.COMMAND),
        command=st.tuples(NAMES) | st.tuples(NAMES, ARGUMENTS),
        cwd=st.just(Path("/srv/#")),
        timeout=SPANS,
        **COMMON,
    ),
    st.builds(
        FinalizerSetting,
        kind=st.just(FinalizerKind.WEBHOOK),
        url=ADDRESSES,
        secret_env=VARIABLES,
        timeout=SPANS,
        **COMMON,
    ),
    st.builds(FinalizerSetting, kind=st.just(FinalizerKind.PYTHON), entry_point=NAMES, **COMMON),
)
NOTIFY = st.builds(
    NotifySetting,
    urls_env=VARIABLES,
    webhook=st.none() | ADDRESSES,
    secret_env=VARIABLES,
    events=st.lists(st.sampled_from(EVENTS), max_size=3).map(tuple),
    held_after=SPANS,
)
LARGE = st.none() | st.integers(10**6, 10**15)
KEEPING = {
    "on_reset": st.sampled_from(Fate),
    "max_age": st.none() | SPANS,
    "keep_last": COUNTS,
    "protect": st.lists(st.sampled_from(Protection), max_size=3).map(tuple),
    "database_only": st.booleans(),
    "rows": st.sampled_from(Fate),
    "rows_max_age": SPANS,
}
RETENTION = st.builds(
    Retention,
    general=st.builds(RetentionClass, **KEEPING),
    classes=st.lists(
        st.builds(
            RetentionClass,
            sources=st.lists(NAMES.filter(lambda name: name != "*"), min_size=1, max_size=3).map(
                tuple
            ),
            **KEEPING,
        ),
        max_size=3,
    ).map(tuple),
    allow_remove_all=st.just(True),
)


def in_force(rules: Rulebook, **said: Any) -> Settings:
    """Settings in which the rulebook has the part of the finalizers that all keepers share."""
    owed = tuple(map(owing, said["finalizers"]))
    return Settings(rulebook=replace(rules, finalizers=owed), **said)


SETTINGS = st.builds(
    in_force,
    rules=st.builds(
        Rulebook,
        reset=POLICIES,
        reset_rules=st.lists(RULES, max_size=3).map(tuple),
        liveness=LIVENESS,
        processes=PROCESSES,
        retention=RETENTION,
    ),
    homes=HOMES.map(tuple),
    finalizers=st.lists(FINALIZERS, max_size=3, unique_by=lambda each: each.name).map(tuple),
    notify=NOTIFY,
    keeper=st.builds(
        KeeperSettings, sweep_every=SPANS, finalizers_at_once=AT_ONCE, keep_journal=SPANS
    ),
    serve=st.builds(ServeSettings, port=st.integers(1, 65535), messages=st.booleans()),
    disk=st.builds(
        DiskBudget,
        max_use=LARGE,
        keep_free=LARGE,
        warn_at=st.floats(0, 1, exclude_min=True, exclude_max=True),
    ),
    archive=st.builds(
        ArchiveSettings,
        format=st.sampled_from(ArchiveFormat),
        directory=st.none() | st.just(Path("/srv/: #")),
        max_age=st.none() | SPANS,
    ),
    trash=st.builds(TrashSettings, grace=SPANS),
    gc=st.builds(
        GcSettings,
        empty_hours=st.integers(1, 10**9),
        trivial_days=st.integers(1, 10**9),
        trivial_max=st.integers(1, 10**9),
    ),
    places=st.dictionaries(st.just("reset.mode"), WORDS),
)


@examples(25)
@given(SETTINGS)
def test_what_is_shown_loads_back_to_the_same_settings(settings: Settings) -> None:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "sexton.yaml"
        file.write_text(show(settings), encoding="utf-8", newline="")
        assert load(file, {}) == settings


def test_every_value_is_shown_with_where_it_comes_from(tmp_path: Path) -> None:
    file = tmp_path / "sexton.yaml"
    file.write_text(
        "homes: [{path: /srv/.hermes}]\n"
        "reset:\n  mode: idle\n"
        "  rules: [{keys: ['vip:*'], mode: none, idle_minutes: 1440}]\n"
        "liveness: {inactivity_bound: {telegram: 30d, signal: 1w}}\n"
        "finalizers: [{name: log, kind: command, command: [prog, '5'], sources: [cli]}]\n"
        "notify: {events: [held]}\n"
        "retention: {classes: [{sources: [cron], max_age: 1d, after_delivery: archive}]}\n"
        "disk: {max_use: 5GB}\n"
    )
    shown = show(load(file, {"SEXTON_KEEPER__SWEEP_EVERY": "90s"}))
    golden("settings", "what is shown", shown.replace(str(tmp_path), "DIRECTORY"))


@given(SPANS)
def test_a_duration_is_shown_as_it_is_read(span: timedelta) -> None:
    assert parse_duration(show_duration(span)) == span


@given(st.integers(1, 10**15))
def test_a_size_is_shown_as_it_is_read(size: int) -> None:
    shown = show_size(size)
    assert size == (parse_size(shown) if isinstance(shown, str) else shown)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1, "1s"), (60, "60s"), (90, "90s"), (900, "15m"), (86_400, "24h"), (604_800, "7d")],
)
def test_durations_are_shown_in_familiar_units(seconds: int, text: str) -> None:
    assert show_duration(timedelta(seconds=seconds)) == text


def test_a_value_that_looks_like_a_note_is_not_taken_for_one() -> None:
    odd = "a  # default"
    finalizer = FinalizerSetting(name=odd, kind=FinalizerKind.COMMAND, command=("true",))
    settings = Settings(
        archive=ArchiveSettings(directory=Path(odd)),
        places={"archive.directory": "file:1"},
        finalizers=(finalizer,),
    )
    found = [each for each in lines(settings) if odd in each.text]
    assert [each.place for each in found] == [None, "file:1"]
    assert all(each.text.rstrip("'\"").endswith(odd) for each in found)
