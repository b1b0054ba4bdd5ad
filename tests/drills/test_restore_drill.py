"""The drill of backups, restores and upgrades once, in its short form, on each database."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_drill_holds(seed: int, database_url: str, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("drill_restore", Path(__file__).with_name("drill_restore.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    place = SimpleNamespace(folder=tmp_path, url=database_url, short=True, sqlite=database_url.startswith("sqlite"))
    assert module.drill(seed, place)
