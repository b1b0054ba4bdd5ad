"""The benchmark of rebuilds runs: what it calls may change, and nobody would know until the next ``make bench``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from large_logs import template

from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log

BENCH = Path(__file__).resolve().parents[1] / "bench"


def test_the_bench_of_catching_up_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    bench_rebuild: Any = importlib.import_module("bench_rebuild")
    monkeypatch.setattr(bench_rebuild, "SINGLE", 20)
    url = f"sqlite:///{tmp_path / 'book.db'}"
    bench_rebuild.grown(url, template(), 400)
    bench_rebuild.Projections(Log(Database(url)), bench_rebuild.BUILT_IN).catch_up()
    table = bench_rebuild.catching_up(url, 400, "SQLite")
    assert [row[0].split()[0] for row in table.rows] == ["raw,", "one", "raw,", "as"]
    assert all(row[1] > 0 for row in table.rows)
