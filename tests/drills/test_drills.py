"""Every drill of ``make soak`` once, in its short form, on each database."""

from __future__ import annotations

from pathlib import Path

import pytest
import soak


@pytest.mark.slow
@pytest.mark.parametrize("name", soak.drills())
def test_a_drill_holds(name: str, database_url: str, tmp_path: Path) -> None:
    assert soak.load(soak.drills()[name]).drill(1, soak.Place(tmp_path, database_url, short=True))


def test_poison_is_drilled_in_both_of_its_kinds(database_url: str, tmp_path: Path) -> None:
    assert soak.load(soak.drills()["poison"]).drill(2, soak.Place(tmp_path, database_url, short=True))
