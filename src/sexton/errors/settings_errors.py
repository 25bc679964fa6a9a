"""What can be wrong with the settings?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


class SettingsInvalid(SextonError):
    """The settings have problems; the message lists all of them."""

    exit_code = 30
    hint = "Mend the lines above; 'sexton config schema' describes every setting."


class SettingsNotFound(SextonError):
    """The settings file named does not exist."""

    exit_code = 31
    hint = "Check --config or SEXTON_CONFIG."
