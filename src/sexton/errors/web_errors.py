"""What can be wrong with serving pages and answers?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


class AddressTaken(SextonError):
    """Another program listens there already."""

    exit_code = 71
    hint = "Stop the other program, or choose another port with --port."


class AddressRefused(SextonError):
    """An address at which nobody may listen like that: others could read along."""

    exit_code = 72
    hint = "Serve on 127.0.0.1, name a TLS certificate, or declare the proxy with --public-url."


class SiteEnded(SextonError):
    """The server of the dashboard ended without being asked to."""

    exit_code = 75
    hint = "The log says why. A service manager starts 'sexton serve' again; otherwise start it."


class TokenUnsafe(SextonError):
    """The token of the API can not be used as it is."""

    exit_code = 73
    hint = "Remove the file, and it is made anew; or give a token in SEXTON_TOKEN."
