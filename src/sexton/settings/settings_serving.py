"""What do the settings about serving mean on this machine?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sexton.settings.home_settings import resolved
from sexton.settings.serve_fields import ServeFields
from sexton.settings.settings_values import ServeSettings


def serve_of(fields: ServeFields, beside: Path, environ: Mapping[str, str]) -> ServeSettings:
    """The settings with absolute files."""

    def file(name: str | None) -> Path | None:
        return None if name is None else resolved(name, beside, environ)

    return ServeSettings(
        **dict(fields)
        | {"tls_certificate": file(fields.tls_certificate), "tls_key": file(fields.tls_key)}
    )
