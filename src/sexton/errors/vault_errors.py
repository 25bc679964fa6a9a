"""What can be wrong with archives and the trash?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


class VaultError(SextonError):
    """The directory of archives and trash can not be used; nothing was removed."""

    exit_code = 80
    hint = "Check archive.directory, its permissions and its disk."


class VaultMissing(VaultError):
    """A vault file that the ledger knows is not there."""

    exit_code = 81
    hint = "Mount or restore the vault's directory; 'sexton archive verify' lists what is missing."


class VaultDamaged(VaultError):
    """A vault file is not what was written; nothing of it was restored."""

    exit_code = 82
    hint = "Restore the file from a backup; docs/reference/vault.md says how to read what is left."


class VaultFull(VaultError):
    """There is no room for the copy, so nothing was removed."""

    exit_code = 83
    hint = "Free some disk space, or set archive.directory to another disk."


class PlaceUnsafe(VaultError):
    """A directory of Sexton's is a link, belongs to somebody else or is open to others."""

    exit_code = 84
    hint = "Make it a directory of this user with mode 0700."


class VaultElsewhere(VaultError):
    """The vault file is on another machine, and can only be used there."""

    exit_code = 85
    hint = "Run the command on that machine."


class VaultBusy(VaultError):
    """Somebody else restores or removes what is in the vault file just now."""

    exit_code = 86
    hint = "Try again in a while; 'sexton trash list' and 'sexton archive list' say who is at it."


class VaultOutdated(VaultError):
    """A newer Sexton wrote the vault file, or its home has another schema now; it is kept."""

    exit_code = 87
    hint = "A newer Sexton may restore it; the file named above has what is in it, to be read."
