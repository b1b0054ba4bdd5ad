"""The kill matrix holds every failpoint, and each is passed by its workload; one in a few is killed at here (D5).

``make drill-kill`` kills at all of them, as often as one likes; with ``MINUTEBOOK_TEST_EVERY_STEP=1`` so do these.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import kill_matrix
import pytest
from kill_matrix import MATRIX, NOT_ON, ONLY_ON, OTHERWISE, WAYS, WORKLOADS, Matrix, Server, Workload, points_on
from sqlalchemy import URL, NullPool, create_engine

from minutebook.infrastructure.store.failpoints import POINTS

EVERY_STEP = bool(os.environ.get("MINUTEBOOK_TEST_EVERY_STEP"))
APART = {"sqlite": 1, "postgres": 1} if EVERY_STEP else {"sqlite": 9, "postgres": 36}
"""One point in so many is killed at by the suite, which has minutes."""
WHOLE = 1 if EVERY_STEP else 8
"""After one kill in so many the workload is run once more to its end."""


def test_every_point_is_in_the_matrix_and_every_row_names_a_point() -> None:
    assert set(MATRIX) == set(POINTS)
    assert {*MATRIX.values(), *OTHERWISE.values(), "talk"} >= set(MATRIX.values())
    assert set(WORKLOADS) - {*MATRIX.values()} == {"sync, mended"}, "a workload that no row names"
    assert set(MATRIX.values()) <= set(WORKLOADS)
    assert set(ONLY_ON) | {point for point, _ in OTHERWISE} <= set(POINTS)
    assert set(NOT_ON) <= set(WORKLOADS)
    assert set(points_on("sqlite")) | set(points_on("postgres")) == set(POINTS)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="module")
def sqlite(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    return Matrix(place(tmp_path_factory), server, "sqlite")


@pytest.fixture(scope="module")
def postgres(server: Server, tmp_path_factory: pytest.TempPathFactory, postgres_server: URL) -> Iterator[Matrix]:
    admin = create_engine(postgres_server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    made = Matrix(place(tmp_path_factory), server, "postgres", admin)
    yield made
    made.close()


def place(factory: pytest.TempPathFactory) -> Path:
    return factory.mktemp("kill")


def held(made: Matrix, on: str, points: list[str]) -> None:
    known = points_on(on)[:: APART[on]]
    found = []
    for point in points:
        number = known.index(point)
        found += made.kill(point, WAYS[number % len(WAYS)], "suite", again=number % WHOLE == 0)
    assert found == []
    assert set(made.result.kills) >= set(points)


def rows(on: str) -> list[list[str]]:
    """The points of a database at which the suite kills, those of one workload together."""
    made: dict[str | None, list[str]] = {}
    for point in points_on(on)[:: APART[on]]:
        made.setdefault(kill_matrix.workload_of(point, on), []).append(point)
    return [points[start : start + 10] for points in made.values() for start in range(0, len(points), 10)]


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
def test_each_workload_passes_the_points_that_the_matrix_gives_it(sqlite: Matrix, name: str) -> None:
    due = {point for point in points_on("sqlite") if kill_matrix.workload_of(point, "sqlite") == name}
    assert due <= set(sqlite.passed(name))


@pytest.mark.slow
@pytest.mark.parametrize("points", rows("sqlite"), ids=lambda points: points[0])
def test_nothing_acknowledged_is_lost_by_a_kill(sqlite: Matrix, points: list[str]) -> None:
    held(sqlite, "sqlite", points)


@pytest.mark.slow
@pytest.mark.parametrize("points", rows("postgres"), ids=lambda points: points[0])
def test_nothing_acknowledged_is_lost_by_a_kill_on_a_server(
    postgres: Matrix, points: list[str], on_postgres: None
) -> None:
    held(postgres, "postgres", points)


# --- the matrix would say so


def test_a_point_that_its_workload_does_not_pass_is_a_failure(sqlite: Matrix) -> None:
    assert sqlite.kill("upgrade.locked", "recovered", "1", "talk") == [
        "upgrade.locked: the workload 'talk' does not pass it on sqlite"
    ]


def test_a_recovery_that_does_nothing_is_found_out(sqlite: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(WORKLOADS, "unmended", Workload("use", "talk", settle="nothing"))
    found = sqlite.kill("publish.prepared", "recovered", "1", "unmended")
    assert any("I2: revision 3 stays prepared" in line for line in found), found
    found = sqlite.kill("file.fsync_folder", "recovered", "1", "unmended")
    assert any("I3" in line for line in found), found
    assert any("I6" in line for line in found), found
