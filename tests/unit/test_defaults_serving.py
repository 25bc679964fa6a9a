"""Do the defaults about serving act? One test per setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexton.cli.serve_command import tls_of
from sexton.errors import AddressRefused, HomeObserved, InputInvalid
from sexton.operations.questions.message_questions import messages
from sexton.settings.settings_values import ServeSettings, Settings
from sexton.store.opening import open_ledger
from sexton.web.access.addresses import Address, address_of, is_loopback
from sexton.web.web_serving import desk_for
from sexton.wiring import Sexton
from tests.golden import golden
from tests.unit.showing_defaults import shows

DEFAULTS = ServeSettings()


def usual() -> Address:
    return address_of(DEFAULTS.host, DEFAULTS.port, tls=False, public_url=DEFAULTS.public_url)


@shows("serve.host")
def test_only_this_machine_reaches_the_server() -> None:
    assert is_loopback(usual().host)
    with pytest.raises(AddressRefused):
        address_of("0.0.0.0", 8780, tls=False, public_url=None)


@shows("serve.port")
def test_the_server_listens_on_port_8780() -> None:
    assert usual().base == "http://127.0.0.1:8780"


@shows("serve.public_url")
def test_no_proxy_is_taken_for_granted() -> None:
    assert usual().hosts == {"127.0.0.1:8780", "localhost:8780", "[::1]:8780"}
    declared = address_of("0.0.0.0", 8780, tls=False, public_url="https://sexton.example.org/")
    assert declared.hosts == {"sexton.example.org"}
    assert declared.is_secure


@shows("serve.tls_certificate")
def test_the_server_speaks_no_tls_by_itself() -> None:
    assert tls_of(DEFAULTS) is None


@shows("serve.tls_key")
def test_a_key_without_a_certificate_is_refused() -> None:
    with pytest.raises(InputInvalid) as refused:
        tls_of(ServeSettings(tls_key=Path("key.pem")))
    golden("errors", "serve: a key without a certificate", str(refused.value))


@shows("serve.messages")
def test_messages_of_a_shared_ledger_are_not_shown(postgres_url: str, tmp_path: Path) -> None:
    with Sexton(open_ledger(postgres_url), Settings()) as house:
        desk = desk_for(house, usual(), {"SEXTON_TOKEN": "x" * 32}, tmp_path / "token", False)
        with house.worker() as worker:
            session = worker.session("talk", source="telegram")
            session.append(role="user", content="a secret")
            with pytest.raises(HomeObserved) as refused:
                messages(desk.asker, session.id, 0, 10)
            golden("errors", "serve: messages of a shared ledger", str(refused.value))
    allowed = Settings(serve=ServeSettings(messages=True))
    with Sexton(open_ledger(postgres_url), allowed) as house:
        desk = desk_for(house, usual(), {"SEXTON_TOKEN": "x" * 32}, tmp_path / "token", False)
        (shown,) = messages(desk.asker, session.id, 0, 10)["items"]
        assert shown["text"] == "a secret"
