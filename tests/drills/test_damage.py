"""Some seeds of the long drill of damage (``make soak-damage``), on each database."""

from __future__ import annotations

from pathlib import Path

import pytest
from drill_damage import Place, drill


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 2))
def test_no_damage_passes_unseen(seed: int, database_url: str, tmp_path: Path) -> None:
    assert drill(seed, Place(tmp_path, database_url))
