"""Write docs/defaults.md: every setting, its default, why, and the test that shows it acting.

`--check` changes nothing and fails if the page is not what the settings say.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from sexton.retention.policy import Protection
from sexton.settings.disk_fields import KeepingFields
from sexton.settings.environment import VARIABLES
from sexton.settings.kinds import Kind
from sexton.settings.settings_problems import Path as SettingPath
from sexton.settings.settings_schema import SECTIONS, PolicyFields, default_of, kind_of
from sexton.settings.settings_values import EVENTS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "defaults.md"
TESTS = "tests/unit/test_defaults_acting.py"
KEEPING_TESTS = "tests/unit/test_defaults_keeping.py"
KEEPING = ("retention", "disk", "archive", "trash", "gc")
"""The sections about what sessions leave behind."""
ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    KEEPING_TESTS: KEEPING,
    "tests/unit/test_defaults_working.py": ("finalizers", "notify", "keeper"),
    "tests/unit/test_defaults_serving.py": ("serve",),
}
"""Sections whose tests have a file of their own."""

SHOWN_BY: Mapping[str, str] = {
    "homes": "test_without_settings_no_home_is_looked_at",
    "homes[].path": "test_a_home_without_a_path_is_refused",
    "homes[].kind": "test_a_home_is_taken_for_a_hermes_home",
    "homes[].name": "test_a_home_is_named_after_its_directory_without_the_dot",
    "homes[].act": "test_a_new_home_is_only_observed",
    "homes[].send_to": "test_a_home_that_is_only_observed_tells_nobody",
    "homes[].max_messages": "test_a_conversation_of_a_home_is_reset_at_a_thousand_messages",
    "homes[].max_bytes": "test_a_conversation_of_a_home_is_reset_at_ten_megabytes",
    "reset.mode": "test_by_default_silence_never_ends_a_session",
    "reset.idle_minutes": "test_an_idle_session_is_reset_after_a_day",
    "reset.at_hour": "test_the_daily_reset_is_at_four",
    "reset.timezone": "test_the_hour_of_the_daily_reset_is_in_utc",
    "reset.max_age": "test_age_alone_never_ends_a_session",
    "reset.max_messages": "test_no_number_of_messages_ends_a_session",
    "reset.max_bytes": "test_no_size_ends_a_session",
    "reset.max_turns": "test_turns_alone_never_end_a_session",
    "reset.warn_at": "test_a_session_is_warned_at_four_fifths_of_a_limit",
    "reset.warn_messages": "test_the_thousandth_message_warns_once_and_ends_nothing",
    "reset.warn_bytes": "test_ten_megabytes_warn_once_and_end_nothing",
    "reset.rules": "test_without_rules_all_sessions_have_the_same_policy",
    "reset.rules[].sources": "test_a_rule_without_sources_is_for_every_source",
    "reset.rules[].chat_types": "test_a_rule_without_chat_types_is_for_every_chat_type",
    "reset.rules[].keys": "test_a_rule_without_keys_is_for_every_key",
    "reset.rules[].*": "test_a_rule_inherits_what_it_does_not_set",
    "liveness.dies_with_owner": ("test_unattended_sessions_end_with_their_process_and_others_wait"),
    "liveness.beat_every": "test_a_process_shows_every_fifteen_seconds_that_it_lives",
    "liveness.ttl": "test_a_process_elsewhere_is_suspected_after_half_of_ninety_silent_seconds",
    "liveness.lock_delay": "test_silence_counts_as_death_fifteen_seconds_after_the_ttl",
    "liveness.stall_after": "test_a_turn_without_progress_for_ten_minutes_is_shown_as_stalled",
    "liveness.inactivity_bound": "test_silence_alone_never_counts_as_death",
    "processes.on_idle_reset": "test_after_an_idle_reset_a_process_runs_on_and_people_are_told",
    "processes.on_daily_reset": "test_after_a_daily_reset_a_process_runs_on_and_people_are_told",
    "processes.on_end": "test_after_any_other_end_a_process_runs_on_and_people_are_told",
    "processes.on_reap": "test_after_a_reap_a_process_runs_on_and_people_are_told",
    "processes.window": "test_a_process_is_judged_by_its_last_minute",
    "processes.ttl": "test_a_working_process_holds_a_reset_for_the_idle_time_and_no_longer",
    "processes.grace": "test_a_process_has_ten_seconds_to_end",
    "processes.notice": "test_half_an_hour_before_a_daily_reset_stops_something_people_hear_of_it",
    "finalizers": "test_without_settings_no_work_is_owed",
    "finalizers[].name": "test_a_finalizer_without_a_name_is_refused",
    "finalizers[].kind": "test_a_finalizer_without_a_kind_is_refused",
    "finalizers[].sources": "test_sessions_of_every_source_owe_but_cron_owes_no_memories",
    "finalizers[].min_messages": "test_memories_need_four_messages_and_other_work_needs_one",
    "finalizers[].attempts": "test_failing_work_is_given_up_after_the_fourteenth_attempt",
    "finalizers[].concurrency": "test_four_works_at_once_but_one_of_python_code",
    "finalizers[].per_minute": "test_work_is_not_slowed_down_by_itself",
    "finalizers[].timeout": "test_a_model_has_five_minutes_and_all_else_one",
    "finalizers[].command": "test_kind_command_without_a_command_is_refused",
    "finalizers[].cwd": "test_a_program_runs_beside_the_settings_file",
    "finalizers[].url": "test_kind_webhook_without_a_url_is_refused",
    "finalizers[].secret_env": "test_posts_of_a_finalizer_are_not_signed_by_themselves",
    "finalizers[].base_url": "test_kind_memory_without_an_endpoint_is_refused",
    "finalizers[].model": "test_kind_memory_without_a_model_is_refused",
    "finalizers[].api_key_env": "test_no_key_goes_to_an_endpoint_by_itself",
    "finalizers[].file": "test_memories_are_kept_beside_the_settings_file",
    "finalizers[].context_tokens": "test_a_model_is_taken_to_read_32000_tokens",
    "finalizers[].daily_calls": "test_memories_cost_at_most_500_calls_a_day",
    "finalizers[].entry_point": "test_kind_python_without_an_entry_point_is_refused",
    "budgets": "test_without_settings_a_turn_and_a_tree_are_bounded",
    "budgets[].scope": "test_a_budget_without_a_scope_is_refused",
    "budgets[].tokens": "test_tokens_are_not_bounded_by_a_budget_of_something_else",
    "budgets[].input_tokens": "test_input_tokens_are_not_bounded_by_themselves",
    "budgets[].output_tokens": "test_output_tokens_are_not_bounded_by_themselves",
    "budgets[].cached_tokens": "test_cached_tokens_are_not_bounded_by_themselves",
    "budgets[].reasoning_tokens": "test_reasoning_tokens_are_not_bounded_by_themselves",
    "budgets[].usd": "test_money_is_not_bounded_by_itself",
    "budgets[].iterations": "test_the_iterations_of_a_session_are_not_bounded_by_themselves",
    "budgets[].tool_calls": "test_tool_calls_are_not_bounded_by_themselves",
    "budgets[].messages": "test_messages_are_not_bounded_by_a_budget_of_something_else",
    "budgets[].wall": "test_time_is_not_bounded_by_itself",
    "budgets[].action": "test_a_spent_budget_pauses",
    "budgets[].sources": "test_a_budget_is_for_every_source",
    "budgets[].per": "test_a_budget_is_for_ever",
    "budgets[].name": "test_a_budget_is_named_by_what_it_bounds",
    "prices.models": "test_no_model_has_a_price_of_ones_own",
    "prices.unknown": "test_a_model_without_a_price_is_refused_where_money_is_counted",
    "breaker.warn_at": "test_tools_that_fail_are_told_at_three_six_and_nine",
    "breaker.cool_down": "test_tools_are_stopped_for_a_minute",
    "runaway.messages": "test_no_number_of_messages_in_a_minute_stops_a_session",
    "runaway.tokens": "test_a_million_tokens_in_a_minute_are_a_loop",
    "runaway.tool_calls": "test_120_tool_calls_in_a_minute_are_a_loop",
    "runaway.warn_messages": "test_150_messages_in_a_minute_are_noted_once",
    "notify.urls_env": "test_by_default_nobody_is_told_by_apprise",
    "notify.webhook": "test_by_default_nothing_is_posted",
    "notify.secret_env": "test_posts_of_notifications_are_not_signed_by_themselves",
    "notify.events": "test_who_names_a_target_is_told_everything",
    "notify.held_after": "test_a_reset_held_back_for_a_day_is_told",
    "retention.on_reset": "test_files_outlive_the_end_of_their_session",
    "retention.max_age": "test_files_go_after_a_week",
    "retention.keep_last": "test_the_last_of_a_key_go_by_age_too",
    "retention.protect": "test_only_pinned_sessions_keep_everything",
    "retention.database_only": "test_files_of_other_agents_outlive_the_end_of_their_session",
    "retention.rows": "test_messages_are_never_removed_by_themselves",
    "retention.rows_max_age": "test_there_is_no_age_at_which_messages_go",
    "retention.allow_remove_all": "test_to_remove_every_message_in_the_end_is_refused",
    "retention.classes": "test_without_classes_all_sources_are_kept_the_same",
    "retention.classes[].sources": "test_a_class_without_sources_is_refused",
    "retention.classes[].after_delivery": "test_what_was_delivered_stays",
    "retention.classes[].*": "test_a_class_inherits_what_it_does_not_set",
    "disk.max_use": "test_there_is_no_bound_for_what_is_kept",
    "disk.keep_free": "test_nothing_goes_because_others_fill_the_disk",
    "disk.warn_at": "test_a_budget_is_told_of_at_four_fifths",
    "archive.format": "test_archives_are_written_with_zstd",
    "archive.max_age": "test_archives_are_kept_for_ever",
    "archive.directory": "test_the_vault_lies_beside_the_ledger",
    "trash.grace": "test_what_was_removed_can_be_had_back_for_a_week",
    "gc.empty_hours": "test_a_session_without_a_message_is_garbage_after_a_day",
    "gc.trivial_days": "test_a_trivial_session_is_garbage_after_a_week",
    "gc.trivial_max": "test_five_messages_are_few",
    "keeper.sweep_every": "test_a_keeper_sweeps_every_minute",
    "keeper.finalizers_at_once": "test_a_keeper_does_32_works_at_once",
    "keeper.keep_journal": "test_the_journal_goes_back_a_year",
    "serve.host": "test_only_this_machine_reaches_the_server",
    "serve.port": "test_the_server_listens_on_port_8780",
    "serve.public_url": "test_no_proxy_is_taken_for_granted",
    "serve.tls_certificate": "test_the_server_speaks_no_tls_by_itself",
    "serve.tls_key": "test_a_key_without_a_certificate_is_refused",
    "serve.messages": "test_messages_of_a_shared_ledger_are_not_shown",
}

LISTS = {
    *(("homes",), ("reset", "rules"), ("finalizers",), ("budgets",)),
    ("retention", "classes"),
}
INHERITED: Mapping[SettingPath, tuple[type[BaseModel], str, str]] = {
    ("reset", "rules"): (
        PolicyFields,
        "rules",
        "A rule says only what is different for its sessions.",
    ),
    ("retention", "classes"): (
        KeepingFields,
        "classes",
        "A class says only what is different for its sources.",
    ),
}
"""Lists whose items inherit from the section they are in."""

UNWRITTEN: Mapping[str, str] = {
    "homes": "none",
    "homes[].name": "the directory's name",
    "reset.rules": "none",
    "reset.rules[].sources": "any",
    "reset.rules[].chat_types": "any",
    "reset.rules[].keys": "any",
    "liveness.inactivity_bound": "none",
    "budgets": "`turn.iterations` and `tree.tokens/1h`",
    "budgets[].sources": "any",
    "budgets[].name": "its scope and what it bounds",
    "prices.models": "none",
    "finalizers": "none",
    "finalizers[].sources": "any, for memory any but cron",
    "finalizers[].min_messages": "`1`, for memory `4`",
    "finalizers[].concurrency": "`4`, for python `1`",
    "finalizers[].timeout": "`60s`, for memory `5m`",
    "finalizers[].cwd": "the directory of the settings file",
    "finalizers[].command": "required for command",
    "finalizers[].url": "required for webhook",
    "finalizers[].base_url": "required for memory",
    "finalizers[].model": "required for memory",
    "finalizers[].entry_point": "required for python",
    "retention.classes": "none",
    "archive.directory": "beside the ledger",
}
"""Defaults that are no value one could write."""

INTRODUCTION = """# Settings and their defaults

<!-- Written by scripts/defaults_page.py from src/sexton/settings. -->

Without a settings file every value is the default. `sexton.yaml` changes what it names:

```yaml
homes:
  - path: ~/.hermes
reset:
  mode: idle
  idle_minutes: 720
  rules:
    - sources: [telegram]
      chat_types: [group]
      idle_minutes: 120
finalizers:
  - name: memories
    kind: memory
    base_url: http://127.0.0.1:8080/v1
    model: some-model
budgets:
  - scope: session
    tokens: 100000
    action: kill
    sources: [cron]
notify:
  urls_env: NOTIFY_URLS
retention:
  classes:
    - sources: [cron]
      keep_last: 10
      rows: archive
      rows_max_age: 30d
```

A setting that is in no list and no mapping can be overridden by a variable, like
`SEXTON_RESET__MODE=idle`: the section and the setting in capitals, two underscores between them.
Durations are written as `90s 15m 24h 7d 2w`; in sizes, KB MB GB TB are thousands and KiB MiB GiB
TiB are 1024s. The `liveness.ttl` must be at least twice `liveness.beat_every`; `rows: archive` and
`rows: remove` need a `rows_max_age`. `sexton config check` tells every mistake with its line,
`sexton config show` what file and variables come to; without a file a ledger keeps the policies
that it was given last.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One setting on the page."""

    setting: str
    default: str
    value: str
    why: str

    @property
    def test(self) -> str:
        """The id of the test that shows the default acting."""
        section = self.setting.partition(".")[0].removesuffix("[]")
        file = next((file for file, theirs in ELSEWHERE.items() if section in theirs), TESTS)
        return f"{file}::{SHOWN_BY[self.setting]}"


def rows() -> Iterator[Row]:
    """Every setting, in the order of the file; what rules inherit is one row."""
    for section, model in SECTIONS.items():
        listed = section in LISTS
        prefix = ".".join(map(str, section)) + ("[]." if listed else "." if section else "")
        inherited = INHERITED.get(section)
        for name, field in model.model_fields.items():
            if not field.description or (inherited and name in inherited[0].model_fields):
                continue
            yield _row(f"{prefix}{name}", field)
        if inherited:
            yield Row(
                setting=f"{prefix}*",
                default=f"as in `{section[0]}`",
                value=f"any setting of `{section[0]}` but `{inherited[1]}`",
                why=inherited[2],
            )


def page() -> str:
    """The whole page."""
    ordered = sorted(rows(), key=lambda row: list(SHOWN_BY).index(row.setting))
    lines = [
        "| setting | default | value | why | shown by |",
        "|---|---|---|---|---|",
        *(_line(row) for row in ordered),
    ]
    variables = ["", "## Variables", "", *(f"- `{name}`" for name in VARIABLES)]
    return "\n".join([INTRODUCTION, *lines, *variables, ""])


def _row(setting: str, field: FieldInfo) -> Row:
    default = "required" if field.is_required() else UNWRITTEN.get(setting)
    return Row(
        setting=setting,
        default=default or f"`{_written(default_of(field))}`",
        value=_value(setting, kind_of(field)),
        why=field.description or "",
    )


def _written(default: object) -> str:
    match default:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[default]
        case list():
            return f"[{', '.join(map(str, default))}]"
        case _:
            return str(default)


def _value(setting: str, kind: Kind | None) -> str:
    if kind:
        return kind.words
    if setting == "liveness.inactivity_bound":
        return "a mapping of sources to durations"
    if setting.startswith("prices."):
        return "a mapping of models to prices" if setting.endswith("models") else "a price, or null"
    items = {
        "homes": "homes",
        "budgets": "budgets",
        "reset.rules": "rules",
        "reset.rules[].keys": "patterns",
        "finalizers": "finalizers",
        "notify.events": f"events: {', '.join(EVENTS)}",
        "retention.protect": ", ".join(Protection),
        "retention.classes": "classes",
    }
    return f"a list of {items.get(setting, 'names')}"


def _line(row: Row) -> str:
    cells = (f"`{row.setting}`", row.default, row.value, row.why, f"`{row.test}`")
    return f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> int:
    """Write the page, or check it."""
    wanted = page()
    if "--check" not in arguments:
        PAGE.write_text(wanted, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == wanted:
        return 0
    sys.stderr.write(f"{PAGE.relative_to(ROOT)} is stale: run {Path(__file__).name}\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
