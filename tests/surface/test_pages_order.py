"""Pages tell the same as the command line: in which order, of which homes, and who is late."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sexton.cli.keeper_notice import keeper_notice
from sexton.settings.settings_values import HomeSetting, Settings
from sexton.store.opening import open_ledger
from sexton.testing import ManualClock
from sexton.web.pages.vault import LIMIT
from sexton.wiring import Sexton
from tests.contract.ledger_contract_removal_samples import intended
from tests.surface.test_pages import following
from tests.surface.visitor import Page, Visitor, visiting

pytestmark = pytest.mark.slow


@pytest.fixture
def house(new_file: Path, manual_clock: ManualClock) -> Iterator[Sexton]:
    with Sexton(open_ledger(str(new_file)), Settings(), clock=manual_clock) as opened:
        yield opened


@pytest.fixture
def visitor(house: Sexton) -> Iterator[Visitor]:
    with visiting(house) as found:
        yield found


def receipts(page: Page) -> list[str]:
    """The receipts of a page's rows, from the first to the last."""
    return re.findall(r"/act/undo\?receipt=([a-z0-9]+)", page.html)


def test_the_vault_shows_the_newest_first_and_older_leads_to_older(
    house: Sexton, visitor: Visitor
) -> None:
    made = [f"receipt{number:03}" for number in range(LIMIT + 5)]
    for receipt in made:
        intended(house.ledger, receipt, receipt=receipt)
    newest = visitor.see("/vault?kind=trash")
    assert receipts(newest) == made[: -LIMIT - 1 : -1]
    oldest = visitor.see(following(newest) or "")
    assert receipts(oldest) == made[4::-1]
    assert following(oldest) is None


@pytest.mark.parametrize("path", ["/plan", "/plan?what=gc", "/plan?what=session&home=native&id=b"])
def test_a_plan_names_the_homes_that_were_not_read(
    new_file: Path, tmp_path: Path, path: str
) -> None:
    gone = HomeSetting(path=tmp_path / "gone", name="gone-home")
    house = Sexton(open_ledger(str(new_file)), Settings(homes=(gone,)))
    with house, visiting(house) as visitor:
        (trouble,) = visitor.fetch("/v1/plan")["troubles"]
        assert trouble.startswith("gone-home: ")
        assert trouble in visitor.see(path).text


@pytest.mark.parametrize(
    ("every", "silent"),
    [(10, 31), (10, 299), (10, 301), (120, 359), (120, 361), (3600, 10_799), (3600, 10_801)],
)
def test_the_overview_and_the_command_line_agree_on_a_late_keeper(
    house: Sexton, visitor: Visitor, manual_clock: ManualClock, every: int, silent: int
) -> None:
    with house.worker(kind="keeper") as keeper:
        house.ledger.workers.swept(keeper.id, manual_clock.now(), timedelta(seconds=every))
    manual_clock.advance(timedelta(seconds=silent))
    last, now = house.ledger.workers.last_sweep(), manual_clock.now()
    is_late = silent > max(300, 3 * every)
    assert (keeper_notice(last, now) is not None) == is_late
    assert ('data-notice="no_keeper"' in visitor.see("/").html) == is_late
