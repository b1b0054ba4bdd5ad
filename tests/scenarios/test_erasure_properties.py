"""Whatever happened before an erasure: no byte of it is left, a rebuild gives the same rows, the rest is as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from erasure_world import NUMBERS, World, hold
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import URL

ACTIONS = st.lists(
    st.one_of([st.tuples(st.just(name), st.integers(0, count - 1)) for name, count in NUMBERS.items()]),
    min_size=3,
    max_size=14,
)


def live(actions: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        try:
            for action, number in actions:
                world.act(action, number)
            hold(world)
        finally:
            world.book.close()


SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture)


@pytest.mark.sqlite_only("the same on a server has a database of its own for each example")
@settings(max_examples=15, deadline=None, suppress_health_check=SLOW)
@given(actions=ACTIONS)
def test_any_history_with_erasures_holds(actions: list[tuple[str, int]]) -> None:
    live(actions)


@settings(max_examples=4, deadline=None, suppress_health_check=SLOW)
@given(actions=ACTIONS)
def test_any_history_with_erasures_holds_on_a_server(
    new_postgres: Callable[..., AbstractContextManager[URL]], on_postgres: None, actions: list[tuple[str, int]]
) -> None:
    with new_postgres() as url, pytest.MonkeyPatch.context() as patched:
        patched.setenv("MINUTEBOOK_DATABASE", url.render_as_string(hide_password=False))
        live(actions)
