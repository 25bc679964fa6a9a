"""`sexton notices`: what were people told, and did it reach them?"""

from __future__ import annotations

import pytest

from sexton.notifications.model import Event, Notice
from tests.golden import golden
from tests.surface.program import Cli


def tell(cli: Cli, *keys: str) -> None:
    """Post notices for people, and give up the first of them."""
    with cli.opened() as opened, opened.worker() as worker:
        now = opened.clock.now()
        notices = [
            Notice(key=key, event=Event.RESET, title=f"title-{key}", text="it was idle")
            for key in keys
        ]
        opened.ledger.outbox.post(notices, ["channel"], now)
        [first] = opened.ledger.outbox.claim(worker.id, "channel", 1, now)
        opened.ledger.outbox.put_back(first, "nobody \x1b[31mlistens", None, now)


def test_what_never_reached_anybody_is_found(any_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTON_SERVE__MESSAGES", "true")  # a shared ledger hides it else
    tell(any_cli, "a", "b")
    [given_up] = any_cli("notices", "list", "--state", "failed", "--json").items()
    assert (given_up["target"], given_up["event"], given_up["attempts"]) == ("channel", "reset", 1)
    assert given_up["title"] == "title-a"
    assert "listens" in given_up["last_error"]
    states = [each["state"] for each in any_cli("notices", "list", "--json").items()]
    assert states == ["pending", "failed"]


def test_a_person_reads_it_without_its_control_characters(cli: Cli) -> None:
    tell(cli, "a")
    said = cli.ok("notices", "list")
    assert "title-a" in said
    assert "\x1b[31m" not in said


def test_nothing_told_is_said_so(cli: Cli) -> None:
    cli.talk("a", "hello")
    golden("notices", "nobody was told anything", cli("notices", "list").err)
    golden("notices", "no notice is failed", cli("notices", "list", "--state", "failed").err)


def test_a_list_that_ends_before_the_notices_do_says_so(cli: Cli) -> None:
    tell(cli, "a", "b", "c")
    short = cli("notices", "list", "--limit", "2", "--json")
    assert len(short.items()) == 2
    assert short.json()["next"] is not None
    golden("notices", "there is more", cli("notices", "list", "--limit", "2").err)
    whole = cli("notices", "list", "--limit", "3", "--json")
    assert len(whole.items()) == 3
    assert whole.json()["next"] is None
    assert whole.err == short.err, "only of the keeper"
