"""What must hold for every ledger, whatever engine it is on.

A test module gives the suite a fixture `ledger`, a fresh one for every test, and inherits it:

    class TestMyLedger(LedgerContract):
        @pytest.fixture
        def ledger(self, tmp_path: Path) -> Iterator[Ledger]: ...

The suite needs hypothesis.
"""

from __future__ import annotations

from sexton.store.ledger_ports import Ledger
from sexton.testing.ledger_contract_aging import AgingContract
from sexton.testing.ledger_contract_board import BoardContract, GaugesContract
from sexton.testing.ledger_contract_census import CensusContract
from sexton.testing.ledger_contract_compression import CompressionContract
from sexton.testing.ledger_contract_compression_owing import CompressionOwingContract
from sexton.testing.ledger_contract_dues import DuesContract
from sexton.testing.ledger_contract_finalizing import OwingContract
from sexton.testing.ledger_contract_finalizing_claims import ClaimsContract
from sexton.testing.ledger_contract_finalizing_foreign import ForeignOwingContract
from sexton.testing.ledger_contract_finalizing_races import FinalizingRacesContract
from sexton.testing.ledger_contract_finalizing_work import LookingContract, OutcomesContract
from sexton.testing.ledger_contract_holders import HoldersContract
from sexton.testing.ledger_contract_identity import IdentityContract
from sexton.testing.ledger_contract_index import IndexContract
from sexton.testing.ledger_contract_liveness import LivenessContract
from sexton.testing.ledger_contract_liveness_races import LivenessRacesContract
from sexton.testing.ledger_contract_messages import MessagesContract
from sexton.testing.ledger_contract_model import check_any_history
from sexton.testing.ledger_contract_open import OpenContract
from sexton.testing.ledger_contract_outbox import OutboxContract, OutboxRacesContract
from sexton.testing.ledger_contract_process_news import ProcessNewsContract
from sexton.testing.ledger_contract_processes import ProcessesContract
from sexton.testing.ledger_contract_races import RacesContract
from sexton.testing.ledger_contract_releasing import ReleasingContract
from sexton.testing.ledger_contract_removable import RemovableContract, VaultBookContract
from sexton.testing.ledger_contract_removal import DepartureContract
from sexton.testing.ledger_contract_removal_races import RemovalRacesContract
from sexton.testing.ledger_contract_removed import RemovedContract
from sexton.testing.ledger_contract_removed_foreign import ForeignRemovedContract
from sexton.testing.ledger_contract_restoring import PurgingContract, RestoringContract
from sexton.testing.ledger_contract_retention import RetainedContract
from sexton.testing.ledger_contract_sessions import SessionsContract
from sexton.testing.ledger_contract_spending import SpendingContract
from sexton.testing.ledger_contract_spending_lost import SpendingLostContract
from sexton.testing.ledger_contract_spending_people import SpendingPeopleContract
from sexton.testing.ledger_contract_spending_races import SpendingRacesContract
from sexton.testing.ledger_contract_spending_trees import SpendingTreesContract
from sexton.testing.ledger_contract_upkeep import HomesContract, UpkeepContract


class LedgerContract(
    SessionsContract,
    IdentityContract,
    HoldersContract,
    MessagesContract,
    IndexContract,
    OpenContract,
    UpkeepContract,
    HomesContract,
    RacesContract,
    LivenessContract,
    LivenessRacesContract,
    CensusContract,
    BoardContract,
    GaugesContract,
    OwingContract,
    DuesContract,
    ForeignOwingContract,
    ClaimsContract,
    OutcomesContract,
    LookingContract,
    FinalizingRacesContract,
    CompressionContract,
    CompressionOwingContract,
    OutboxContract,
    OutboxRacesContract,
    ProcessesContract,
    ProcessNewsContract,
    SpendingContract,
    SpendingPeopleContract,
    SpendingLostContract,
    SpendingRacesContract,
    SpendingTreesContract,
    RetainedContract,
    RemovableContract,
    VaultBookContract,
    DepartureContract,
    RemovedContract,
    ForeignRemovedContract,
    RestoringContract,
    PurgingContract,
    AgingContract,
    ReleasingContract,
    RemovalRacesContract,
):
    """Every ledger passes these; each part can also be inherited alone."""

    def test_any_history_leaves_what_a_plain_model_says(self, ledger: Ledger) -> None:
        check_any_history(ledger)
