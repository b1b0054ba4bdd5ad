"""Likeness of meaning beside words: any embedder, made again for another, never in the way (D17)."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from minutebook import Minutebook, MinutebookError, Settings, aio

SYNONYMS = (("car", "automobile", "vehicle"), ("doctor", "physician"), ("big", "large", "huge"), ("port",), ("the",))


def embed(texts: list[str]) -> list[list[float]]:
    """One dimension for each group of synonyms: as good as a model for these tests, and anyone can check it."""
    return [[float(sum(text.lower().split().count(word) for word in group)) for group in SYNONYMS] for text in texts]


def other(texts: list[str]) -> list[list[float]]:
    return [[*vector, 1.0] for vector in embed(texts)]


def talk(book: Minutebook, session: str = "s") -> list[int]:
    said = ["I bought an automobile today", "my physician says hello", "the port is 8080"]
    positions = book.session(session).append([{"role": "user", "content": text} for text in said])
    assert isinstance(positions, list)
    return positions


def test_what_is_meant_is_found_in_other_words(place: Path) -> None:
    with Minutebook.open(place, embed=embed, automatic=False) as book:
        positions = talk(book)
        assert book.search("car", meaning=False) == []
        [hit] = book.search("car")
        assert (hit.position, hit.text) == (positions[0], "I bought an automobile today")
        assert hit.factors["meaning_rank"] == 1
        assert hit.factors["words_rank"] == 0
        assert 0 < hit.factors["likeness"] <= 1
        best = book.search("physician car", limit=2)
        assert [found.position for found in best] == [positions[1], positions[0]], "by words and by meaning comes first"
        with book.session("s").run() as run:
            run.memory({"operation": "add", "text": "The user sees a physician in Ulm."})
            assert run.recall({"query": "car"}).messages[0]["position"] == positions[0]
        book.curate()
        assert [found.kind for found in book.search("doctor", kind="entries")] == ["entries"]
        with book.session("s").run() as run:
            run.memory({"operation": "remove", "target": "physician"})
        book.curate()
        assert book.search("doctor", kind="entries") == []
        assert book.search("doctor", kind="entries", at=book.head) == []
        assert book.verify().ok


def test_filters_phrases_and_scopes_hold_for_meaning_too(place: Path) -> None:
    with Minutebook.open(place, embed=embed, automatic=False) as book:
        positions = talk(book)
        book.session("s_").append({"role": "assistant", "content": "a vehicle of the other"})
        assert {hit.session for hit in book.search("car")} == {"s", "s_"}
        assert [hit.position for hit in book.search("car", session="s")] == positions[:1]
        assert {hit.role for hit in book.search("car", role="assistant")} == {"assistant"}
        assert book.search("car", at=positions[0] - 1) == []
        assert [hit.session for hit in book.search('car "of the other"')] == ["s_"]
        child = book.session("s").fork(at=positions[0], id="child")
        assert [hit.position for hit in book.search("doctor car", session=child.id)] == positions[:1]


def test_two_workspaces_of_one_database_never_meet(tmp_path: Path, where: str) -> None:
    url = None if where == "postgres" else f"sqlite:///{tmp_path / 'one.db'}"

    def opened(name: str) -> Minutebook:
        own = Settings(workspace_id=name)
        return Minutebook.open(tmp_path / name, database=url, settings=own, embed=embed, automatic=False)

    with opened("a") as book, opened("a_") as other_book:
        talk(book)
        other_book.session("s").append({"role": "user", "content": "a huge vehicle"})
        assert [hit.text for hit in book.search("car")] == ["I bought an automobile today"]
        assert [hit.text for hit in other_book.search("car")] == ["a huge vehicle"]


def test_another_embedder_makes_the_vectors_again(place: Path) -> None:
    with Minutebook.open(place, embed=embed, automatic=False) as book:
        talk(book)
        book.search("car")
        before = book._runtime.generation("search_vectors")
    with Minutebook.open(place, embed=other, automatic=False) as book:
        assert book._runtime.generation("search_vectors") == before + 1
        assert book.search("car")
        view: Any = book._runtime.projections._known("search_vectors").projection
        with book._runtime.log.database.reading() as connection:
            made_by = connection.execute(select(view.made_by)).one()
        assert made_by.name.endswith(".other")
        assert made_by.dimensions == len(SYNONYMS) + 1
        assert book.verify().ok
    with Minutebook.open(place, automatic=False) as book:
        assert book.search("car") == []
        with pytest.raises(MinutebookError, check=lambda error: error.code == "no_embedder"):
            book.search("car", meaning=True)


def test_new_messages_are_seen_and_a_rebuild_changes_no_answer(place: Path) -> None:
    with Minutebook.open(place, embed=embed, automatic=False) as book:
        talk(book)
        assert len(book.search("car")) == 1
        book.session("s").append([{"role": "user", "content": f"vehicle number {n}"} for n in range(30)])
        found = [(hit.position, hit.score) for hit in book.search("car", limit=50)]
        assert len(found) == 31
        book.projections.rebuild("search_vectors")
        assert [(hit.position, hit.score) for hit in book.search("car", limit=50)] == found


def broken(texts: list[str]) -> Any:
    raise ConnectionError("the server is away")


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (broken, "embedding_failed"),
        (lambda texts: [[1.0]] * (len(texts) + 1), "bad_embedding"),
        (lambda texts: [["a"] for _ in texts], "bad_embedding"),
        (lambda texts: [[1.0] * (number + 1) for number, _ in enumerate([*texts, ""])], "bad_embedding"),
        (lambda texts: None, "bad_embedding"),
    ],
)
def test_an_embedder_that_fails_stops_no_append_and_no_search_by_words(
    place: Path, bad: Callable[[list[str]], Any], code: str
) -> None:
    with Minutebook.open(place, embed=bad, automatic=False) as book:
        positions = talk(book)
        assert [hit.position for hit in book.search("automobile")] == positions[:1]
        halted = next(row for row in book.projections.list() if row["name"] == "search_vectors")
        assert halted["status"] == "halted"
        with pytest.raises(MinutebookError, check=lambda error: error.code in (code, "projection_halted")):
            book.search("automobile", meaning=True)
    embedder: Any = embed
    bad.name = embedder.name = "mended"  # type: ignore[attr-defined]
    try:
        with Minutebook.open(place, embed=bad, automatic=False) as book:
            book.search("automobile")
        with Minutebook.open(place, embed=embed, automatic=False) as book:
            assert book.projections.retry("search_vectors").status == "live"
            assert [hit.position for hit in book.search("car")] == positions[:1]
    finally:
        del embedder.name


def test_texts_without_a_vector_and_numbers_that_are_none_are_no_trouble(place: Path) -> None:
    def odd(texts: list[str]) -> list[list[float]]:
        return [[float("nan"), float("inf"), 0.0] if "nan" in text else [0.0, 0.0, 0.0] for text in texts]

    with Minutebook.open(place, embed=odd, automatic=False) as book:
        book.session("s").append([{"role": "user", "content": text} for text in ("nan here", "zero", "", "🙂", " ")])
        assert [hit.text for hit in book.search("zero")] == ["zero"]
        assert book.search("") == []


@pytest.mark.sqlite_only("the model is the matter")
def test_wordllama_works_without_a_network(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise AssertionError("it dials")

    monkeypatch.setattr(socket.socket, "connect", refused)
    with Minutebook.open(place, settings=Settings(embedder="wordllama"), automatic=False) as book:
        positions = talk(book)
        assert book.search("car")[0].position == positions[0]
        assert book.search("medical doctor")[0].position == positions[1]


@pytest.mark.sqlite_only("nothing is stored")
def test_without_the_extra_the_refusal_names_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "minutebook.infrastructure.work.meaning", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    for options in ({"embed": embed}, {"settings": Settings(embedder="wordllama")}):
        with pytest.raises(MinutebookError, match=r"minutebook\[vectors\]") as error:
            Minutebook.open(place, **options)
        assert error.value.code == "extra_missing"


@pytest.mark.sqlite_only("the loop is the matter")
def test_a_coroutine_embeds_for_asyncio_and_is_refused_elsewhere(place: Path) -> None:
    async def later(texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(0)
        return embed(texts)

    with pytest.raises(MinutebookError, check=lambda error: error.code == "async_embedder"):
        Minutebook.open(place, embed=later)

    async def searched() -> list[Any]:
        async with aio.Minutebook.open(place, embed=later, automatic=False) as book:
            session = await book.session("s")
            await session.append({"role": "user", "content": "an automobile"})
            return await book.search("car")

    assert [hit.text for hit in asyncio.run(searched())] == ["an automobile"]
