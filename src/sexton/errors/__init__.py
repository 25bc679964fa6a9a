"""Every error a user can meet: a message, a hint and an exit code.

Exit codes are stable: 0x and 1x the ledger, 2x sessions, 3x settings, 4x plans, 5x homes, 6x this
machine, 7x serving, 8x the vault, 9x spending.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sexton.errors.ledger_errors import (
    EngineTooOld,
    LedgerBusy,
    LedgerClosed,
    LedgerCorrupt,
    LedgerError,
    LedgerFull,
    LedgerGone,
    LedgerIsDirectory,
    LedgerMissing,
    LedgerNotADatabase,
    LedgerOutdated,
    LedgerReadOnly,
    LedgerTooNew,
    LedgerUnreachable,
)
from sexton.errors.machine_errors import (
    ExtraMissing,
    InputInvalid,
    PlatformUnsupported,
    ProcessKept,
    ProcessNotFound,
    ProcessNotStopped,
    ServiceFailed,
    ServiceForeign,
    ServiceMissing,
)
from sexton.errors.mendable import SextonError
from sexton.errors.session_errors import (
    InvalidMessage,
    InvalidName,
    ProcessesRunning,
    SessionAmbiguous,
    SessionBusy,
    SessionEnded,
    SessionError,
    SessionFenced,
    SessionNotFound,
    SessionRemoved,
    SessionRewound,
    SummaryFailed,
    SummaryPostponed,
    WorkerLeft,
)
from sexton.errors.settings_errors import (
    SettingsInvalid,
    SettingsNotFound,
)

if TYPE_CHECKING:
    from sexton.errors.home_errors import (
        HomeBusy,
        HomeError,
        HomeNotFound,
        HomeObserved,
        HomeOutgrown,
        HomeRefused,
        HomeRewound,
        HomeUnknown,
        HomeUnreadable,
        HomeUnwritable,
        NoSuchHome,
    )
    from sexton.errors.plan_errors import (
        NothingToUndo,
        PlanEdited,
        PlanForeign,
        PlanInvalid,
    )
    from sexton.errors.spending_errors import (
        BreakerOpen,
        BudgetExceeded,
        PriceUnknown,
        UsageInvalid,
    )
    from sexton.errors.vault_errors import (
        PlaceUnsafe,
        VaultBusy,
        VaultDamaged,
        VaultElsewhere,
        VaultError,
        VaultFull,
        VaultMissing,
        VaultOutdated,
    )
    from sexton.errors.web_errors import AddressRefused, AddressTaken, SiteEnded, TokenUnsafe

__all__ = [
    "AddressRefused",
    "AddressTaken",
    "BreakerOpen",
    "BudgetExceeded",
    "EngineTooOld",
    "ExtraMissing",
    "HomeBusy",
    "HomeError",
    "HomeNotFound",
    "HomeObserved",
    "HomeOutgrown",
    "HomeRefused",
    "HomeRewound",
    "HomeUnknown",
    "HomeUnreadable",
    "HomeUnwritable",
    "InputInvalid",
    "InvalidMessage",
    "InvalidName",
    "LedgerBusy",
    "LedgerClosed",
    "LedgerCorrupt",
    "LedgerError",
    "LedgerFull",
    "LedgerGone",
    "LedgerIsDirectory",
    "LedgerMissing",
    "LedgerNotADatabase",
    "LedgerOutdated",
    "LedgerReadOnly",
    "LedgerTooNew",
    "LedgerUnreachable",
    "NoSuchHome",
    "NothingToUndo",
    "PlaceUnsafe",
    "PlanEdited",
    "PlanForeign",
    "PlanInvalid",
    "PlatformUnsupported",
    "PriceUnknown",
    "ProcessKept",
    "ProcessNotFound",
    "ProcessNotStopped",
    "ProcessesRunning",
    "ServiceFailed",
    "ServiceForeign",
    "ServiceMissing",
    "SessionAmbiguous",
    "SessionBusy",
    "SessionEnded",
    "SessionError",
    "SessionFenced",
    "SessionNotFound",
    "SessionRemoved",
    "SessionRewound",
    "SettingsInvalid",
    "SettingsNotFound",
    "SextonError",
    "SiteEnded",
    "SummaryFailed",
    "SummaryPostponed",
    "TokenUnsafe",
    "UsageInvalid",
    "VaultBusy",
    "VaultDamaged",
    "VaultElsewhere",
    "VaultError",
    "VaultFull",
    "VaultMissing",
    "VaultOutdated",
    "WorkerLeft",
]

_LATE = ("home_errors", "plan_errors", "spending_errors", "vault_errors", "web_errors")
"""What an agent hardly ever meets is loaded when it is first named."""


def __getattr__(name: str) -> Any:
    for group in _LATE if name in __all__ else ():
        module = __import__(f"sexton.errors.{group}", fromlist=[name])
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
