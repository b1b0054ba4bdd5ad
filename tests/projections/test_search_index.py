"""The search index: the same rows however it is made, the same answers on every database, nothing across scopes."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from erasing import erase
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Table, select

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.runner import Projections
from minutebook.projections.search_index import SearchIndex

WORDS = "port build make python sqlite context memory getUserName src/app.py 4.3 喜欢 猫 окно the is of".split()  # noqa: SIM905


class SmallBlocks(SearchIndex):
    block = 16


@pytest.fixture
def clock() -> Any:
    ticks = iter(range(10**9))
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=next(ticks))


def fill(book: Minutebook, rounds: int, seed: int = 1) -> None:
    """Sessions that take turns, and a memory that changes."""
    chance = random.Random(seed)
    for number in range(rounds):
        name = f"s{number % 3}"
        with book.session(name).run() as run:
            said = [" ".join(chance.choices(WORDS, k=chance.randint(1, 9))) for _ in range(chance.randint(1, 30))]
            run.append([{"role": "user", "content": text} for text in said])
            run.memory({"operation": "add", "text": f"Fact {number}: {said[0]}."})
            if number > 2 and number % 2:
                run.memory({"operation": "remove", "target": f"Fact {number - 2}:"})
        book.curate()


def places(hits: list[Any]) -> list[tuple[str, str, int, float]]:
    return [(hit.kind, hit.text, hit.position, hit.score) for hit in hits]


QUERIES = ["port build", "getUserName", "username 4.3", "喜欢 окно", '"port build"', "the", "src app", "fact"]


def answers(book: Minutebook) -> list[Any]:
    found = [places(book.search(query, limit=7)) for query in QUERIES]
    found += [places(book.search(query, session="s1")) for query in QUERIES]
    return [*found, *(places(book.search(query, kind="entries", at=book.head // 2)) for query in QUERIES)]


def test_both_databases_give_the_same_answers_and_a_rebuild_the_same_rows(
    tmp_path: Path, postgres_url: str, clock: Any
) -> None:
    """Given the same log on SQLite and PostgreSQL, every hit, its order and its score are the same."""
    with Minutebook.open(tmp_path / "a", clock=clock, automatic=False) as book:
        fill(book, 40)
        assert book.head > 600, "several blocks"
        expected = answers(book)
        assert any(expected)
        book.export_log(tmp_path / "log.jsonl")
        once = book._runtime.projections.dump_hash("search_index")
        book.projections.rebuild("search_index")
        assert book._runtime.projections.dump_hash("search_index") == once
        assert answers(book) == expected
        assert book.verify().ok
    settings = Settings(workspace_id="local")
    with Minutebook.open(tmp_path / "b", database=postgres_url, settings=settings, automatic=False) as book:
        book.import_log(tmp_path / "log.jsonl")
        assert answers(book) == expected
        assert book._runtime.projections.dump_hash("search_index") == once


@pytest.mark.parametrize("size", [1, 3, 500])
def test_however_the_events_are_cut_the_rows_are_the_same(tmp_path: Path, clock: Any, size: int) -> None:
    with Minutebook.open(tmp_path / "a", clock=clock, automatic=False) as book:
        fill(book, 6)
    database = Database(tmp_path / "a" / ".tinyagent" / "minutebook.db")
    log = Log(database)
    projections = Projections(log, [SmallBlocks])
    bound = projections._known("search_index")
    projections.rebuild("search_index")
    whole = projections.dump_hash("search_index")
    with database.projecting() as connection:
        for table in bound.tables:
            connection.execute(table.delete())
        events = [event for batch in projections.feed("search_index").batches(connection, 0) for event in batch.events]
        for start in range(0, len(events), size):
            bound.projection.apply(events[start : start + size], connection)
    assert projections.dump_hash("search_index") == whole
    database.close()


# --- damage


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("large")
    with Minutebook.open(place, automatic=False) as book:
        fill(book, 40)
        book.search("port")
    return place


@pytest.mark.parametrize("name", ["scopes", "documents", "tail", "blocks", "postings"])
def test_damage_to_each_table_is_named_and_mended(large: Path, name: str) -> None:
    with Minutebook.open(large, automatic=False) as book:
        projections = book._runtime.projections
        sound = projections.dump_hash("search_index")
        table: Table = getattr(projections._known("search_index").projection, name)
        for damage in ("delete", "change"):
            with book._runtime.log.database.projecting() as connection:
                row = connection.execute(select(table).limit(1)).one()
                here = [column == row._mapping[column.name] for column in table.primary_key.columns]
                last = [column for column in table.columns if not column.primary_key][-1]
                other = b"12345678" if name == "postings" else 77
                statement = table.delete() if damage == "delete" else table.update().values({last.name: other})
                connection.execute(statement.where(*here))
            report = projections.verify("search_index")
            assert not report.ok
            assert report.table == table.name
            book.projections.rebuild("search_index")
            assert projections.dump_hash("search_index") == sound


# --- isolation

NAMES = ["a", "ab", "a_", "a%", "%", "_", "a-b", "a.b", "A", "а", "ａ", "a b", "aa", "a:b", "á", "á"]
"""Look-alikes: a wildcard, a Cyrillic and a full-width twin, and one letter in two normal forms."""


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_look_alikes_never_see_each_other(tmp_path: Path, request: pytest.FixtureRequest, where: str) -> None:
    """Property: whatever is said in which session of which workspace, a search gives what its own scope holds."""
    url = request.getfixturevalue("postgres_url") if where == "postgres" else f"sqlite:///{tmp_path / 'one.db'}"
    count = 0
    session_names, workspace_names = st.sampled_from(NAMES), st.sampled_from([*NAMES, "a/b", "a\\b", "a'b", "a:b:c"])

    @settings(max_examples=16 if where == "sqlite" else 4, deadline=None)
    @given(
        st.lists(st.tuples(workspace_names, session_names, st.sampled_from(WORDS)), min_size=2, max_size=9),
        st.sampled_from(WORDS),
    )
    def holds(said: list[tuple[str, str, str]], query: str) -> None:
        nonlocal count
        count += 1
        spoken: dict[tuple[str, str], list[str]] = {}
        for number, (workspace, session, word) in enumerate(said):
            spoken.setdefault((workspace, session), []).append(f"{word} says {workspace}/{session} number {number}")
        books: dict[str, Minutebook] = {}
        for (workspace, session), texts in spoken.items():
            own = Settings(workspace_id=f"{count}-{workspace}")
            book = books.get(workspace) or Minutebook.open(
                tmp_path / f"w{count}-{len(books)}", database=url, settings=own, automatic=False
            )
            books[workspace] = book
            book.session(session).append([{"role": "user", "content": text} for text in texts])
        for workspace, book in books.items():
            mine = {session: texts for (place, session), texts in spoken.items() if place == workspace}
            every = {text for texts in mine.values() for text in texts}
            assert {hit.text for hit in book.search("says", limit=1_000)} == every
            assert {hit.text for hit in book.search(query, limit=1_000)} <= every
            for session, texts in mine.items():
                hits = book.search("says", session=session, limit=1_000)
                assert {(hit.session, hit.text) for hit in hits} == {(session, text) for text in texts}
            absent = next(name for name in NAMES if name not in mine)
            with pytest.raises(MinutebookError, match="no session"):
                book.search("says", session=absent)
        for book in books.values():
            book.close()

    holds()


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_what_others_say_changes_not_even_a_score(tmp_path: Path, request: pytest.FixtureRequest, where: str) -> None:
    """Given a session and a workspace alone, then beside others that say the same words, their answers are equal."""
    url = request.getfixturevalue("postgres_url") if where == "postgres" else f"sqlite:///{tmp_path / 'one.db'}"

    def found(book: Minutebook, **where: Any) -> list[Any]:
        return [[(hit.text, hit.score) for hit in book.search(query, **where)] for query in QUERIES]

    with Minutebook.open(tmp_path / "a", database=url, settings=Settings(workspace_id="a"), automatic=False) as book:
        fill(book, 3)
        alone, session = found(book), found(book, session="s1")
        assert any(alone)
        with Minutebook.open(
            tmp_path / "b", database=url, settings=Settings(workspace_id="a_"), automatic=False
        ) as other:
            fill(other, 5, seed=2)
            assert found(other) != alone
        assert found(book) == alone
        book.session("s11").append([{"role": "user", "content": "port build make"}] * 30)
        assert found(book, session="s1") == session
        assert found(book) != alone


# --- erasure


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_what_was_erased_is_not_found_and_a_rebuild_keeps_no_word_of_it(
    tmp_path: Path, request: pytest.FixtureRequest, where: str
) -> None:
    """Given a message whose payload is erased from the log (E8), nobody finds it, and no row holds its words."""
    url = request.getfixturevalue("postgres_url") if where == "postgres" else None
    with Minutebook.open(tmp_path / "a", database=url, automatic=False) as book:
        session = book.session("s")
        position = session.append({"role": "user", "content": "The canary is zyzzyva-kwyjibo."}, id="gone")
        session.append([{"role": "user", "content": f"Filler {number} zyzzyvas."} for number in range(600)])
        assert book.search("zyzzyva-kwyjibo")[0].position == position
        erase(book._runtime.log, [position])
        assert position not in {hit.position for hit in book.search("zyzzyva-kwyjibo canary", limit=1_000)}
        book.projections.rebuild("search_index")
        assert book.search("canary") == []
        assert {hit.position for hit in book.search("filler", limit=1_000)} == set(range(position + 1, position + 601))
        view = book._runtime.projections._known("search_index")
        with book._runtime.log.database.reading() as connection:
            held = [str(row) for table in view.tables for row in connection.execute(select(table))]
        assert not [row for row in held if "canary" in row or "kwyjibo" in row]
        assert book._runtime.projections.verify("search_index").ok
