"""What must hold for every ledger, whatever engine it is on.

A test module gives the suite a fixture `ledger`, a fresh one for every test, and inherits it:

    class TestMyLedger(LedgerContract):
        @pytest.fixture
        def ledger(self, tmp_path: Path) -> Iterator[Ledger]: ...

The suite needs hypothesis.
"""

from __future__ import annotations

from sexton.store.ledger import Ledger
from tests.contract.ledger_contract_aging import AgingContract
from tests.contract.ledger_contract_board import BoardContract, GaugesContract
from tests.contract.ledger_contract_census import CensusContract
from tests.contract.ledger_contract_compression import CompressionContract
from tests.contract.ledger_contract_compression_owing import CompressionOwingContract
from tests.contract.ledger_contract_dues import DuesContract
from tests.contract.ledger_contract_finalizing import OwingContract
from tests.contract.ledger_contract_finalizing_claims import ClaimsContract
from tests.contract.ledger_contract_finalizing_foreign import ForeignOwingContract
from tests.contract.ledger_contract_finalizing_races import FinalizingRacesContract
from tests.contract.ledger_contract_finalizing_work import LookingContract, OutcomesContract
from tests.contract.ledger_contract_holders import HoldersContract
from tests.contract.ledger_contract_identity import IdentityContract
from tests.contract.ledger_contract_index import IndexContract
from tests.contract.ledger_contract_liveness import LivenessContract
from tests.contract.ledger_contract_liveness_races import LivenessRacesContract
from tests.contract.ledger_contract_messages import MessagesContract
from tests.contract.ledger_contract_model import check_any_history
from tests.contract.ledger_contract_open import OpenContract
from tests.contract.ledger_contract_outbox import OutboxContract, OutboxRacesContract
from tests.contract.ledger_contract_process_news import ProcessNewsContract
from tests.contract.ledger_contract_processes import ProcessesContract
from tests.contract.ledger_contract_races import RacesContract
from tests.contract.ledger_contract_releasing import ReleasingContract
from tests.contract.ledger_contract_removable import RemovableContract, VaultBookContract
from tests.contract.ledger_contract_removal import DepartureContract
from tests.contract.ledger_contract_removal_races import RemovalRacesContract
from tests.contract.ledger_contract_removed import RemovedContract
from tests.contract.ledger_contract_removed_foreign import ForeignRemovedContract
from tests.contract.ledger_contract_restoring import PurgingContract, RestoringContract
from tests.contract.ledger_contract_retention import RetainedContract
from tests.contract.ledger_contract_sessions import SessionsContract
from tests.contract.ledger_contract_spending import SpendingContract
from tests.contract.ledger_contract_spending_lost import SpendingLostContract
from tests.contract.ledger_contract_spending_people import SpendingPeopleContract
from tests.contract.ledger_contract_spending_races import SpendingRacesContract
from tests.contract.ledger_contract_spending_trees import SpendingTreesContract
from tests.contract.ledger_contract_upkeep import HomesContract, UpkeepContract


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
