"""What can be wrong with a home?"""

from __future__ import annotations

from sexton.errors.mendable import SextonError


class HomeError(SextonError):
    """Something is wrong with a home."""

    exit_code = 58
    hint = "Look at the home with 'sexton doctor PATH'."


class HomeNotFound(HomeError):
    """There is no agent home at that path."""

    exit_code = 50
    hint = "Name the directory that holds the agent's database."


class NoSuchHome(HomeNotFound):
    """Nobody has told this ledger of a home of that name."""

    hint = "'sexton doctor' lists the homes that are known."


class HomeUnknown(HomeError):
    """The home's database has a shape Sexton does not know; it was not touched."""

    exit_code = 51
    hint = "Upgrade Sexton, or report the schema version named above."


class HomeUnreadable(HomeError):
    """The home's database can not be read."""

    exit_code = 52
    hint = "Check permissions and the disk; nothing was changed."


class HomeObserved(HomeError):
    """The home is only observed; its sessions are not changed from here."""

    exit_code = 53
    hint = "Say 'sexton apply --allow-observed', or set 'act: true' for the home in the settings."


class HomeRefused(HomeError):
    """The home can not be changed safely as it is now; nothing was changed."""

    exit_code = 57
    hint = "Try again when nobody uses the home, or change it with the agent itself."


class HomeBusy(HomeRefused):
    """Another process kept the home locked for as long as we wait; nothing was changed."""

    hint = "Try again when the process that keeps it locked has ended."


class HomeUnwritable(HomeRefused):
    """The home's database can not be written, so nothing of the home is changed."""

    hint = "Check permissions and the disk of the home; nothing in it was changed."


class HomeRewound(HomeError):
    """The ledger was set back, and knows the home under another number or not at all."""

    hint = "Ask again: the ledger then learns of the home anew."


class HomeOutgrown(HomeRefused):
    """The home has another schema than is known here, or than its sessions were taken from."""

    exit_code = 59
