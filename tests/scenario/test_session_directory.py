"""A session has a place for its files, and they share its fate."""

from __future__ import annotations

from pathlib import Path

import pytest

import sexton
from sexton.errors import SessionRemoved
from tests.scenario.collecting_scene import House


def test_a_session_has_a_directory_of_its_own(tmp_path: Path) -> None:
    with sexton.open(str(tmp_path / "ledger.db")) as opened, opened.worker() as worker:
        one, other = worker.session("one"), worker.session("other")
        assert one.directory.stat().st_mode & 0o777 == 0o700
        assert one.directory == one.directory != other.directory
        assert one.directory.parent == tmp_path / "ledger.db.files"


def test_its_files_go_and_come_back_with_it(engine_url: str, tmp_path: Path) -> None:
    house = House(engine_url, tmp_path)
    with house.opened(1) as session:
        (session.directory / "chart.png").write_bytes(b"\x89PNG")
        kept = session.directory
        session.end()
        house.later()
        receipt, _ = house.collect()
        assert not kept.exists()
        with pytest.raises(SessionRemoved):
            _ = session.directory
        assert not kept.exists()
        house.sexton.undo(receipt)
        assert (session.directory / "chart.png").read_bytes() == b"\x89PNG"
    house.sexton.close()
