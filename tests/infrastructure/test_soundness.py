"""The kit for authors of projections: it passes the sound, and names what is wrong with each other kind (E5)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest
from plugins import TokenCost
from sqlalchemy import Column, Connection, MetaData, Table, Text, insert

from minutebook import Minutebook, MinutebookError
from minutebook.domain.events import LoggedEvent
from minutebook.infrastructure.book.catalogue import BUILT_IN
from minutebook.projections.projection import BIG, Projection, parts, upsert
from minutebook.testing import check_projection


class Lines(Projection):
    """One row a message: the sound one that the others spoil."""

    name = "lines"
    event_types: ClassVar[Any] = frozenset({"MessageRecorded"})

    def tables(self, metadata: MetaData) -> None:
        self.rows = Table(
            "lines",
            metadata,
            Column("position", BIG, primary_key=True, autoincrement=False),
            Column("said", Text, nullable=False),
        )

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        for event in events:
            connection.execute(insert(self.rows), {"position": event.position, "said": self.said(event, events)})

    def said(self, event: LoggedEvent, events: Sequence[LoggedEvent]) -> str:
        return "".join(part.text for part in parts(event) if hasattr(part, "text"))


class Counting(Lines):
    """Decides by a counter of the process."""

    counter = itertools.count()

    def said(self, event: LoggedEvent, events: Sequence[LoggedEvent]) -> str:
        return str(next(self.counter))


class Batchwise(Lines):
    """Decides by how many came with it."""

    def said(self, event: LoggedEvent, events: Sequence[LoggedEvent]) -> str:
        return str(len(events))


class Remembering(Lines):
    """Keeps the last message on its instance."""

    last = ""

    def said(self, event: LoggedEvent, events: Sequence[LoggedEvent]) -> str:
        before, self.last = self.last, str(event.position)
        return before


class Hoarding(Lines):
    """Keeps what was taken back: each row of a message that it believes to have written is written once."""

    def __init__(self) -> None:
        self.written: set[int] = set()

    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        super().apply([event for event in events if event.position not in self.written], connection)
        self.written.update(event.position for event in events)


class Trusting(Lines):
    """Cannot do without the text of a message."""

    def said(self, event: LoggedEvent, events: Sequence[LoggedEvent]) -> str:
        return str(event.body.content["source"]["role"])


class Misspelt(Lines):
    event_types = frozenset({"MessageRecoded"})


class Reaching(Lines):
    def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
        connection.exec_driver_sql("DELETE FROM events")


class Refusing(Lines):
    def said(self, event: LoggedEvent, events: Sequence[LoggedEvent]) -> str:
        raise ValueError("not this one")


UNSOUND: dict[type[Projection], tuple[str, str]] = {
    Counting: ("projection_unsound", "other rows for the same events at the second run"),
    Batchwise: ("projection_unsound", "one by one"),
    Remembering: ("projection_unsound", "given to a new instance"),
    Hoarding: ("projection_unsound", "taken back once"),
    Trusting: ("projection_unsound", "fails where payloads were erased"),
    Misspelt: ("projection_unsound", "no event has that type"),
    Reaching: ("projection_unsound", "writes to 'events'"),
    Refusing: ("projection_unsound", "ValueError: not this one"),
    type("Foreign", (Lines,), {"name": "other"}): ("bad_projection", "must be named 'other'"),
}


@pytest.mark.parametrize("projection", [Lines, TokenCost, *BUILT_IN], ids=lambda each: each.__name__)
def test_a_sound_projection_passes(projection: type[Projection]) -> None:
    report = check_projection(projection)
    assert report.events > 0
    assert report.rows > 0


@pytest.mark.parametrize("projection", UNSOUND, ids=lambda each: each.__name__)
def test_what_is_unsound_is_named(projection: type[Projection]) -> None:
    code, said = UNSOUND[projection]
    with pytest.raises(MinutebookError) as caught:
        check_projection(projection)
    assert (caught.value.code, said in caught.value.message) == (code, True), caught.value.message


def test_it_takes_messages_a_folder_or_a_book(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"Line {number}."} for number in range(5)]
    assert check_projection(Lines, messages).events == 5
    with Minutebook.open(tmp_path / "mine", automatic=False) as book:
        book.session("s").append(messages)
        head = book.head
        assert check_projection(Lines, book).events == 5
        assert book.head == head
    assert check_projection(Lines, tmp_path / "mine").rows == 5


def test_it_runs_on_postgres_where_one_is_named(postgres_url: str) -> None:
    assert check_projection(Lines, database=postgres_url).rows > 0


def test_an_upsert_of_a_row_that_is_all_key_leaves_what_is_there() -> None:
    class Seen(Lines):
        def tables(self, metadata: MetaData) -> None:
            self.rows = Table("lines", metadata, Column("said", Text, primary_key=True))

        def apply(self, events: Sequence[LoggedEvent], connection: Connection) -> None:
            for event in events:
                connection.execute(upsert(self.rows, connection), {"said": event.session or ""})

    assert check_projection(Seen).rows == 2
