"""Whatever is done with a book in whatever order, kills included, it is what a plain model says (issue 7).

The long form is ``make drill-sequences``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from sequences import Sequences
from sqlalchemy import URL

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large)
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.mark.slow
@pytest.mark.sqlite_only("the same on a server has a database of its own for each example")
def test_any_sequence_comes_to_what_the_model_says() -> None:
    run_state_machine_as_test(
        Sequences,
        settings=settings(
            max_examples=8, stateful_step_count=15, deadline=None, derandomize=True, suppress_health_check=SLOW
        ),
    )


@pytest.mark.slow
def test_any_sequence_comes_to_what_the_model_says_on_a_server(
    new_postgres: Callable[..., AbstractContextManager[URL]], on_postgres: None
) -> None:
    @contextmanager
    def database() -> Iterator[str]:
        with new_postgres() as url:
            yield url.render_as_string(hide_password=False)

    class OnServer(Sequences):
        pass

    OnServer.database = staticmethod(database)
    run_state_machine_as_test(
        OnServer,
        settings=settings(
            max_examples=2, stateful_step_count=12, deadline=None, derandomize=True, suppress_health_check=SLOW
        ),
    )
