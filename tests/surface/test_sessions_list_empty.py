"""`sexton sessions list` where there is nothing to list says why, and what to do about it."""

from __future__ import annotations

from tests.golden import golden
from tests.surface.program import Cli


def test_a_ledger_without_sessions_says_how_to_get_some(any_cli: Cli) -> None:
    with any_cli.opened():
        pass
    answer = any_cli("sessions", "list")
    assert (answer.code, answer.out) == (0, "")
    golden("sessions-list", "no sessions yet", answer.err)
    assert any_cli("sessions", "list", "--json").items() == []


def test_a_filter_that_nothing_passes_is_told_as_that(cli: Cli) -> None:
    cli.talk("a", "hello")
    answer = cli("sessions", "list", "--source", "nowhere")
    assert (answer.code, answer.out) == (0, "")
    golden("sessions-list", "no such sessions", answer.err)
