"""The conformance suites that ``eventsourcing`` ships, on SQLite and on a real PostgreSQL (S1, engine.md).

The test methods are the library's own; here stand only the recorders they get.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from eventsourcing.persistence import AggregateRecorder, ApplicationRecorder, ProcessRecorder, TrackingRecorder
from eventsourcing.tests import persistence as suite
from eventsourcing.utils import Environment

from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.mapper import OrjsonTranscoder
from minutebook.infrastructure.store.recorders import (
    Factory,
    LogAggregateRecorder,
    LogApplicationRecorder,
    LogProcessRecorder,
    LogTrackingRecorder,
)


class OnSQLite:
    """Gives each test a log on a fresh SQLite file."""

    __test__ = True
    url: str
    log: Log

    @pytest.fixture(autouse=True)
    def _fresh(self, sqlite_url: str) -> Iterator[None]:
        self.url = sqlite_url
        yield from _opened(self)


class OnPostgres:
    """Gives each test a log in a fresh PostgreSQL database."""

    __test__ = True
    url: str
    log: Log

    @pytest.fixture(autouse=True)
    def _fresh(self, postgres_url: str) -> Iterator[None]:
        self.url = postgres_url
        yield from _opened(self)


def _opened(case: OnSQLite | OnPostgres) -> Iterator[None]:
    # The suites' ten writers take turns at one log; on a slow disk a turn comes late, so they may wait.
    database = Database(case.url, lock_timeout=30.0)
    case.log = Log(database)
    yield
    database.close()


class AggregateSuite(suite.AggregateRecorderTestCase):
    __test__ = False  # Abstract until a database is given.
    log: Log

    def create_recorder(self) -> AggregateRecorder:
        return LogAggregateRecorder(self.log)


class ApplicationSuite(suite.ApplicationRecorderTestCase[LogApplicationRecorder]):
    __test__ = False  # Abstract until a database is given.
    log: Log

    def create_recorder(self) -> LogApplicationRecorder:
        return LogApplicationRecorder(self.log)

    def test_insert_subscribe(self) -> None:
        self.optional_test_insert_subscribe()


class TrackingSuite(suite.TrackingRecorderTestCase):
    __test__ = False  # Abstract until a database is given.
    log: Log

    def create_recorder(self) -> TrackingRecorder:
        return LogTrackingRecorder(self.log)


class ProcessSuite(suite.ProcessRecorderTestCase):
    __test__ = False  # Abstract until a database is given.
    log: Log

    def create_recorder(self) -> ProcessRecorder:
        return LogProcessRecorder(self.log)


class NonInterleavingSuite(suite.NonInterleavingNotificationIDsBaseCase):
    __test__ = False  # Abstract until a database is given.
    log: Log

    def create_recorder(self) -> ApplicationRecorder:
        return LogApplicationRecorder(self.log)


class OtherTrackingRecorder(LogTrackingRecorder):
    """What the factory suite asks for by topic."""


class FactorySuite(suite.InfrastructureFactoryTestCase[Factory]):
    __test__ = False  # Abstract until a database is given.
    url: str

    def expected_factory_class(self) -> type[Factory]:
        return Factory

    def expected_aggregate_recorder_class(self) -> type[AggregateRecorder]:
        return LogAggregateRecorder

    def expected_application_recorder_class(self) -> type[ApplicationRecorder]:
        return LogApplicationRecorder

    def expected_tracking_recorder_class(self) -> type[TrackingRecorder]:
        return LogTrackingRecorder

    def tracking_recorder_subclass(self) -> type[TrackingRecorder]:
        return OtherTrackingRecorder

    def expected_process_recorder_class(self) -> type[ProcessRecorder]:
        return LogProcessRecorder

    def setUp(self) -> None:
        self.env = Environment("conformance")
        self.env["PERSISTENCE_MODULE"] = "minutebook.infrastructure.store.recorders"
        self.env["MINUTEBOOK_DATABASE"] = self.url
        super().setUp()


class TestAggregateRecorderOnSQLite(OnSQLite, AggregateSuite): ...


class TestAggregateRecorderOnPostgres(OnPostgres, AggregateSuite): ...


class TestApplicationRecorderOnSQLite(OnSQLite, ApplicationSuite): ...


class TestApplicationRecorderOnPostgres(OnPostgres, ApplicationSuite): ...


class TestTrackingRecorderOnSQLite(OnSQLite, TrackingSuite): ...


class TestTrackingRecorderOnPostgres(OnPostgres, TrackingSuite): ...


class TestProcessRecorderOnSQLite(OnSQLite, ProcessSuite): ...


class TestProcessRecorderOnPostgres(OnPostgres, ProcessSuite): ...


class TestNonInterleavingIdsOnSQLite(OnSQLite, NonInterleavingSuite): ...


class TestNonInterleavingIdsOnPostgres(OnPostgres, NonInterleavingSuite): ...


class TestFactoryOnSQLite(OnSQLite, FactorySuite): ...


class TestFactoryOnPostgres(OnPostgres, FactorySuite): ...


class TestTranscoder(suite.TranscoderTestCase):
    """Our transcoder writes pydantic facts, which are plain JSON: the suite's tests of tagged types do not apply."""

    def construct_transcoder(self) -> OrjsonTranscoder:
        return OrjsonTranscoder()


_TAGGED = ("dict_subclass", "list_subclass", "str_subclass", "int_subclass", "tuple", "mixed", "custom_type_in_dict")
for _name in (*_TAGGED, "nested_custom_type", "custom_type_error"):
    setattr(TestTranscoder, f"test_{_name}", None)
