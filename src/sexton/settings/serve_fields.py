"""Which settings are about serving pages and answers, what are their defaults, and why?"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from sexton.settings import vocabulary, work_vocabulary
from sexton.settings.fields import Strict
from sexton.settings.settings_values import ServeSettings

_SERVE: Final = ServeSettings()


class ServeFields(Strict):
    """Where and to whom `sexton serve` shows the ledger."""

    host: Annotated[str, vocabulary.NAME] = Field(
        default=_SERVE.host,
        description="Where the server listens. Only this machine reaches it there; any other "
        "address needs TLS or a declared proxy.",
    )
    port: Annotated[int, work_vocabulary.PORT] = Field(
        default=_SERVE.port,
        description="One that nothing else is known for.",
    )
    public_url: Annotated[str | None, vocabulary.NAME.or_null("none")] = Field(
        default=_SERVE.public_url,
        description="Where a reverse proxy shows the server, like https://sexton.example.org. "
        "Whoever calls the server by another name is refused, so nothing is taken for granted.",
    )
    tls_certificate: Annotated[str | None, work_vocabulary.FILE.or_null("none")] = Field(
        default=None,
        description="A certificate in PEM form, with which the server speaks TLS itself. On one "
        "machine alone none is needed.",
    )
    tls_key: Annotated[str | None, work_vocabulary.FILE.or_null("none")] = Field(
        default=None,
        description="The key of the certificate; both or neither.",
    )
    messages: Annotated[bool, vocabulary.FLAG] = Field(
        default=_SERVE.messages,
        description="Whether messages of a shared ledger are shown. Whoever operates a fleet "
        "seldom needs to read what others said; those of a ledger on this machine are shown.",
    )
