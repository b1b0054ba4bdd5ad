"""The judge of the kill matrix reports each kind of harm: a judge that says yes to everything proves nothing."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from judge import DATABASE, FILE, Store, canonical, changed, owner_of, read, violations

from minutebook import Minutebook, Settings

QUIET = Settings(curation_automatic=False)
SAID = {"role": "user", "content": "The build needs make 4.3 or newer."}
Acks = list[dict[str, Any]]


def lived(root: Path) -> Acks:
    """A store in which something happened, and what was acknowledged meanwhile."""
    root.mkdir(exist_ok=True)
    with Minutebook.open(root, settings=QUIET, automatic=False) as book:
        with book.session("s").run() as run:
            position = run.append(SAID, id="m")
            candidate = run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})["candidate"]
        done = book.curate()
        head, chain = book.head, book.verify()["chain"]
    return [
        {"what": "message", "position": position, "session": "s", "id": "m", "digest": canonical(SAID)},
        {"what": "event", "topic": "CandidateProposed", "fact": "candidate", "value": candidate},
        {"what": "event", "topic": "RunSucceeded", "fact": "run", "value": run.id},
        {"what": "event", "topic": "RevisionCommitted", "fact": "revision", "value": done["revision"]},
        {"what": "anchor", "head": head, "chain": chain},
        {"what": "gone", "words": ["nobody said this"]},
    ]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Acks]:
    root = tmp_path_factory.mktemp("lived") / "w"
    return root, lived(root)


@pytest.fixture
def root(template: tuple[Path, Acks], tmp_path: Path) -> Path:
    shutil.copytree(template[0], tmp_path / "w")
    return tmp_path / "w"


@pytest.fixture
def acks(template: tuple[Path, Acks]) -> Acks:
    return template[1]


@contextmanager
def unguarded(root: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(root / DATABASE)) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        yield connection


def named(found: list[str]) -> set[str]:
    return {line.partition(":")[0] for line in found}


def test_a_sound_store_has_no_violation_on_either_database(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in (None, postgres_url):
        if url is not None:
            monkeypatch.setenv("MINUTEBOOK_DATABASE", url)
        place = tmp_path / f"w{url is None}"
        told = lived(place)
        store = read(place, url)
        facts = owner_of(place / FILE)
        assert violations(store, told, before=store, flag="clean", file_facts=facts, root=place) == []
        assert changed(store, read(place, url)) == []


CHANGE = "UPDATE events SET topic = '{}', facts = '{}' WHERE topic = 'RunSucceeded'"
DAMAGE: dict[str, tuple[str, str]] = {
    "an event lost": ("I1", "DELETE FROM events WHERE position = 3"),
    "the last event lost": ("I1", "DELETE FROM events WHERE position = (SELECT max(position) FROM events)"),
    "a fact changed": ("I1", "UPDATE events SET facts = facts || ' ' WHERE position = 3"),
    "an actor changed": ("I1", "UPDATE events SET actor = 'nobody' WHERE position = 3"),
    "a payload changed": ("I1", "UPDATE events SET payload = payload || ' ' WHERE topic = 'MessageRecorded'"),
    "a payload lost": ("I1", "UPDATE events SET payload = NULL WHERE topic = 'MessageRecorded'"),
    "a version skipped": ("I1", "UPDATE events SET version = 9 WHERE topic = 'RunSucceeded'"),
    "the head moved": ("I1", "UPDATE log_head SET last_id = last_id - 1"),
    "a revision left prepared": ("I2", "UPDATE events SET topic = 'Other' WHERE topic = 'RevisionCommitted'"),
    "a revision committed twice": ("I2", CHANGE.format("RevisionCommitted", '{"revision": 1}')),
    "a number used again": ("I5", CHANGE.format("RevisionPrepared", '{"revision": 1, "kind": "curated"}')),
    "a cursor beyond the head": ("I4", "UPDATE cursors SET position = position + 9 WHERE name = 'context'"),
    "a projection halted": ("I4", "UPDATE cursors SET status = 'halted' WHERE name = 'candidates'"),
    "a row of a projection lost": ("I4", "DELETE FROM context_messages"),
    "a row of a projection that no event made": ("I4", "UPDATE context_messages SET position = position + 100"),
}  # fmt: skip


@pytest.mark.parametrize("harm", DAMAGE)
def test_harm_to_the_database_is_reported_as_what_it_is(root: Path, acks: Acks, harm: str) -> None:
    invariant, statement = DAMAGE[harm]
    with unguarded(root) as connection:
        assert connection.execute(statement).rowcount > 0

    found = violations(read(root), acks, flag="clean", file_facts=owner_of(root / FILE), root=root)

    assert invariant in named(found), found


def test_what_was_acknowledged_and_is_not_there_is_reported(root: Path, acks: Acks) -> None:
    store = read(root)
    for ack in acks:
        match ack["what"]:
            case "message":
                wrong = [{**ack, "id": "other"}, {**ack, "position": 1}, {**ack, "digest": canonical("else")}]
            case "event":
                wrong = [{**ack, "value": "other"}, {**ack, "revision": 99}]
            case "anchor":
                wrong = [{**ack, "chain": "00" * 32}, {**ack, "head": ack["head"] + 1}]
            case _:
                wrong = [{**ack, "words": ["make 4.3"]}]
        for each in wrong:
            assert named(violations(store, [each], flag="clean", root=root)) == {"I1"}, each


def test_what_was_committed_before_the_kill_and_is_gone_or_another_is_reported(root: Path) -> None:
    store = read(root)
    shorter = Store(
        **{**vars(store), "events": store.events[:-1], "head": (len(store.events) - 1, store.events[-2]["chain"])}
    )
    assert "I1" in named(violations(shorter, before=store, flag="clean"))
    other = [{**store.events[0], "time": "2020-01-01"}, *store.events[1:]]
    assert any(
        "before the kill" in line for line in violations(Store(**{**vars(store), "events": other}), before=store)
    )


def rewrite(path: Path) -> None:
    path.write_bytes(b"Written by nobody.\n")


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("harm", [rewrite, remove])
def test_a_file_that_is_not_the_last_revision_must_be_flagged(
    root: Path, acks: Acks, harm: Callable[[Path], None]
) -> None:
    harm(root / FILE)
    assert named(violations(read(root), acks, flag="clean")) == {"I3"}
    assert named(violations(read(root), acks)) == {"I3"}
    assert violations(read(root), acks, flag="drift") == []


@pytest.mark.parametrize(
    "name",
    [".tinyagent/memory/.MEMORY.md.3.tmp", ".tinyagent/memory/.MEMORY.md.3.displaced", ".tinyagent/.gitignore.00.tmp",
     ".minutebook-00.tmp", ".minutebook-00.tmp-journal"],
)  # fmt: skip
def test_a_name_of_ours_that_is_left_over_is_reported(root: Path, name: str) -> None:
    (root / name).write_bytes(b"")
    assert named(violations(read(root), flag="clean")) == {"I6"}


def test_another_mode_is_reported(root: Path) -> None:
    facts = owner_of(root / FILE)
    (root / FILE).chmod(0o604)
    assert named(violations(read(root), flag="clean", file_facts=facts)) == {"I7"}
    other = (facts[0], facts[1] + 1, facts[2])
    (root / FILE).chmod(facts[0])
    assert named(violations(read(root), flag="clean", file_facts=other)) == {"I7"}


def test_what_a_second_recovery_changes_is_reported(root: Path) -> None:
    first = read(root)
    data = (root / FILE).read_bytes()
    (root / FILE).unlink()
    (root / FILE).write_bytes(data)
    assert changed(first, read(root)) == ["I8: the memory file was touched"]
    with unguarded(root) as connection:
        connection.execute("UPDATE cursors SET position = position - 1 WHERE name = 'context'")
        connection.execute("UPDATE log_head SET last_id = last_id + 1")
        connection.execute("DELETE FROM leases")
    (root / "more").write_bytes(b"")
    assert len(changed(first, read(root))) == 4


@pytest.mark.parametrize("where", ["sqlite", "postgres"])
def test_a_backup_that_is_not_what_was_said_is_reported(
    where: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = request.getfixturevalue("postgres_url") if where == "postgres" else None
    if url is not None:
        monkeypatch.setenv("MINUTEBOOK_DATABASE", url)
    root = tmp_path / "w"
    lived(root)
    with Minutebook.open(root, settings=QUIET, automatic=False) as book:
        done = book.backup(tmp_path / "saved")
    told = {"what": "backup", "file": done["file"], "head": done["head"], "chain": done["chain"]}
    store = read(root, url)
    assert violations(store, [told], flag="clean") == []
    for wrong in ({"file": str(tmp_path / "none")}, {"head": 1}, {"chain": "00" * 32}):
        assert named(violations(store, [{**told, **wrong}], flag="clean")) == {"I1"}
