"""Plug-ins that cannot be loaded: the book opens, everything else works, and whoever asks is told why (E5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minutebook import Minutebook, MinutebookError, Settings

Offer = Callable[..., None]

SOUND = """
from sqlalchemy import Column, Table, Text
from minutebook import Projection
from minutebook.projections.projection import upsert

class Tally(Projection):
    name = "tally"
    event_types = frozenset({"MessageRecorded"})

    def tables(self, metadata):
        self.rows = Table("tally", metadata, Column("message", Text, primary_key=True))

    def apply(self, events, connection):
        for event in events:
            connection.execute(upsert(self.rows, connection), {"message": event.body.message})
"""


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offer:
    """Puts a package on the path that offers a projection: its module has a name of its own, its metadata are real."""

    def make(
        source: str, *, name: str = "tally", target: str = "Tally", package: str = "tally-plug", release: str = "1.0"
    ) -> None:
        folder = tmp_path / package
        folder.mkdir(exist_ok=True)
        module = f"{package.replace('-', '_')}_{abs(hash(tmp_path)) % 10**9}"
        (folder / f"{module}.py").write_text(source)
        info = folder / f"{package.replace('-', '_')}-{release}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {release}\n")
        (info / "entry_points.txt").write_text(f"[minutebook.projections]\n{name} = {module}:{target}\n")
        monkeypatch.syspath_prepend(str(folder))

    return make


def broken(source: str) -> Callable[[Offer], None]:
    return lambda offer: offer(source)


def twice(offer: Offer) -> None:
    offer(SOUND)
    offer(SOUND, package="other-plug", release="2.0")


FAILING: dict[str, tuple[Callable[[Offer], None], str, str]] = {
    "is not installed": (lambda offer: None, "unknown_plug_in", "no installed package offers"),
    "fails to import": (broken("import no_such_module_at_all"), "plug_in_not_imported", "ModuleNotFoundError"),
    "is no Python": (broken("class Tally(:"), "plug_in_not_imported", "SyntaxError"),
    "leaves the process": (broken("import sys; sys.exit(7)"), "plug_in_not_imported", "SystemExit: 7"),
    "lacks the class": (broken("x = 1"), "plug_in_not_imported", "AttributeError"),
    "is no projection": (broken("class Tally: pass"), "bad_plug_in", "no Projection subclass"),
    "has another name": (broken(SOUND.replace('name = "tally"', 'name = "other"')), "bad_plug_in", "named 'other'"),
    "fails in tables": (
        broken(SOUND.replace("self.rows =", "raise RuntimeError('no tables') or")), "bad_projection", "no tables"
    ),
    "wants the log's table": (broken(SOUND.replace('Table("tally"', 'Table("events"')), "bad_projection", "'events'"),
    "is offered twice": (twice, "ambiguous_plug_in", "other-plug 2.0 and tally-plug 1.0"),
}  # fmt: skip


@pytest.mark.sqlite_only("about what is loaded, before any database is asked")
@pytest.mark.parametrize("case", FAILING)
def test_one_that_cannot_be_loaded_keeps_nobody_from_working(where: str, place: Path, offer: Offer, case: str) -> None:
    # given settings that name a plug-in which cannot be loaded
    make, code, said = FAILING[case]
    make(offer)

    # when the book is opened and worked with
    with Minutebook.open(place, settings=Settings(projections=("tally",)), automatic=False) as book:
        session = book.session("s")
        with session.run() as run:
            run.append({"role": "user", "content": "Hello."})
            assert run.context().messages[0]["content"] == "Hello."
        found = {row["name"]: row for row in book.status()["projections"]}

        # then it alone is halted, with the reason
        assert (found["tally"]["status"], said in found["tally"]["error"]) == ("halted", True), found["tally"]
        assert {row["status"] for name, row in found.items() if name != "tally"} == {"live"}
        offered = next(row for row in book.projections.available() if row["name"] == "tally")
        assert (offered["status"], offered["error"].partition(":")[0]) == ("failed", code)

        # and whoever asks for it is told so; verify does not call it sound
        for ask in (book.projections.rebuild, book.projections.show):
            with pytest.raises(MinutebookError) as caught:
                ask("tally")
            assert (caught.value.code, said in caught.value.message) == (code, True)
        checks = {check["name"]: check["ok"] for check in book.verify()["checks"]}
        assert {name for name, ok in checks.items() if not ok} == {"projection tally"}
        assert not list(book.log(type="ProjectionEnabled"))


def test_one_that_takes_the_name_of_a_built_in_one_is_left_out(where: str, place: Path, offer: Offer) -> None:
    offer(SOUND.replace('"tally"', '"context"'), name="context")
    with Minutebook.open(place, settings=Settings(projections=("context",)), automatic=False) as book:
        book.session("s").append({"role": "user", "content": "Hello."})
        assert book.session("s").context().messages
        row = next(row for row in book.projections.available() if row["name"] == "context")
        assert (row["status"], "two projections are named 'context'" in row["error"]) == ("failed", True)


def test_listing_imports_nothing(where: str, place: Path, offer: Offer, tmp_path: Path) -> None:
    offer(f"open({str(tmp_path / 'imported')!r}, 'w').close()\n" + SOUND)
    with Minutebook.open(place, automatic=False) as book:
        assert [row["name"] for row in book.projections.available()] == ["tally"]
    assert not (tmp_path / "imported").exists()


def test_what_runs_is_an_event_once_for_each_change(where: str, place: Path, offer: Offer) -> None:
    # given a plug-in that is named, opened twice, updated, taken out and named again
    offer(SOUND)
    named = Settings(projections=("tally",))
    for _ in range(2):
        Minutebook.open(place, settings=named, automatic=False).close()
    offer(SOUND, release="1.1", package="tally-plug")
    (place.parent / "tally-plug" / "tally_plug-1.0.dist-info" / "METADATA").unlink()
    (place.parent / "tally-plug" / "tally_plug-1.0.dist-info" / "entry_points.txt").unlink()
    (place.parent / "tally-plug" / "tally_plug-1.0.dist-info").rmdir()
    Minutebook.open(place, settings=named, automatic=False).close()
    Minutebook.open(place, automatic=False).close()
    with Minutebook.open(place, settings=named, automatic=False) as book:
        # then each change is told once, with whose code it was
        found = [(event["type"], event["body"].get("release")) for event in book.log()]
    assert found == [
        ("ProjectionEnabled", "1.0"),
        ("ProjectionEnabled", "1.1"),
        ("ProjectionDisabled", None),
        ("ProjectionEnabled", "1.1"),
    ]


def test_a_reader_runs_only_what_the_log_enables(where: str, place: Path, offer: Offer) -> None:
    # given a book from before the plug-in was named
    offer(SOUND)
    with Minutebook.open(place, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "Hello."})
    named = Settings(projections=("tally",))

    # when readers come, then they do not load it
    for access in ("look", "read_only"):
        with Minutebook.open(place, settings=named, access=access, automatic=False) as book:
            row = next(row for row in book.projections.list() if row["name"] == "tally")
            assert (row["status"], row["cursor"]) == ("building", 0)
            with pytest.raises(MinutebookError) as caught:
                book.projections.show("tally")
            assert caught.value.code == "plug_in_not_enabled"
            assert book.verify()["ok"]

    # and when a writer has enabled it, they do
    Minutebook.open(place, settings=named, automatic=False).close()
    with Minutebook.open(place, settings=named, access="look", automatic=False) as book:
        assert book.projections.show("tally")["tables"][0]["total"] == 1


def test_a_long_back_fill_holds_up_nobody_who_did_not_ask(
    where: str, place: Path, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a log that is long, and a plug-in that begins with its first event
    monkeypatch.setattr("minutebook.infrastructure.store.runner.CLOSE_LAG_MAX", 5)
    offer(SOUND)
    with Minutebook.open(place, automatic=False) as book:
        book.session("s").append([{"role": "user", "content": f"Line {number}."} for number in range(20)])

    def row(book: Minutebook) -> Any:
        return next(row for row in book.projections.list() if row["name"] == "tally")

    with Minutebook.open(place, settings=Settings(projections=("tally",)), automatic=False) as book:
        # when others open, look and close, then it stays behind, and says so
        assert (row(book)["cursor"], row(book)["status"]) == (0, "building")
        assert book.session("s").context().messages

        # and it is filled for who asks
        assert book.projections.show("tally", limit=1)["tables"][0]["total"] == 20
        assert (row(book)["lag"], row(book)["status"]) == (0, "live")
