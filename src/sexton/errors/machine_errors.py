"""What can this machine not do, and what can nobody mean?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


class ExtraMissing(SextonError):
    """An optional part is not installed."""

    exit_code = 60


class PlatformUnsupported(SextonError):
    """This operating system is not supported."""

    exit_code = 61
    hint = "Sexton runs on Linux and macOS."


class ProcessNotFound(SextonError):
    """No registered process has that pid, or no process at all."""

    exit_code = 63
    hint = "List them with 'sexton processes list --all'."


class ProcessNotStopped(SextonError):
    """A process that should have been stopped is still there, or may not be signalled."""

    exit_code = 64
    hint = "The reasons are above; what is not ours to signal is for its owner to end."


class ProcessKept(SextonError):
    """A person keeps the process from being stopped, and who asks is an agent."""

    exit_code = 68
    hint = "A person can let go of it with 'sexton processes release PID', or stop it."


class InputInvalid(SextonError):
    """A value that can only be a mistake."""

    exit_code = 62


class ServiceFailed(SextonError):
    """What starts services on this machine did not do as it was told."""

    exit_code = 65
    hint = "A service needs a login of this user; 'sexton keep' works without one."


class ServiceMissing(SextonError):
    """No service of ours is installed."""

    exit_code = 66
    hint = "Install it with 'sexton service install'."


class ServiceForeign(SextonError):
    """A file of somebody else stands where ours would."""

    exit_code = 67
    hint = "Move it away, then try again."
