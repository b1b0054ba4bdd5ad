"""The drills that are too long for the suite run, in small; what they measure is measured elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import figures
import pytest
import scaling

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "scaling.md"


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("MINUTEBOOK_TEST_EVERY_STEP"), reason="44 processes: with MINUTEBOOK_TEST_EVERY_STEP=1"
)
def test_the_drill_of_scaling_drives_both_databases_and_writes_its_tables(tmp_path: Path, on_postgres: None) -> None:
    plan = scaling.Plan((1,), (1,), (300,), seconds=0.1, rounds=1, crowd=2, databases=(2,), vacuum=("on",))
    said: list[str] = []
    found = scaling.drive(plan, said.append)
    assert {done.kind for done in found.connections} == {"floor", "log", "early", "append", "agent"}
    assert all(done.took and not done.refused for done in (*found.connections, *found.sqlite))
    assert found.sizes[0][0] >= 300
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    for _ in range(2):
        figures.into(page, figures.tables(found))
    text = page.read_text(encoding="utf-8")
    assert text.count("### Size of the store") == 1
    assert text.startswith("# How far one database goes")
    assert text.rstrip().endswith("[crash and recovery](crash-and-recovery.md).")


def test_the_page_of_scaling_holds_the_figures_of_a_whole_run() -> None:
    """Given the columns that the drill writes, then the page has them: nobody ran it in small and kept that."""
    text = PAGE.read_text(encoding="utf-8").partition(figures.BEGIN)[2].partition(figures.END)[0]
    if "Not measured yet" in text:
        pytest.skip("the page of scaling has no figures yet: run make drill-scaling on a quiet machine")
    for heading in ("### Processes on one PostgreSQL", "### Size of the store", "### Processes on one SQLite file"):
        assert heading in text
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    for count in (*scaling.Plan().connections, *scaling.Plan().processes):
        assert str(count) in rows
