"""A store of older code is refused unchanged, upgraded after a backup, and killed at any step it is old or new (E7)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import past
import pytest
from stores import at_once, killed_at, outside

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.infrastructure.store.database import Access
from minutebook.infrastructure.store.version import SCHEMA_VERSION
from minutebook.verify import main as verify_export

# Newer Pythons warn of fork in a process with threads; here the children touch nothing of the parent's threads.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

Command = Callable[..., Any]

ACCESS: tuple[Access, ...] = ("write", "look", "read_only")
OLD = [name for name in past.names("postgres") if name in past.names("sqlite")]
WHOLE = [name for name in OLD if (past.STORES / f"{name}.md").exists()]
"""Those in which a whole book was told, and not only a log."""


def files(root: Path) -> dict[str, str]:
    """Every file below a folder by its digest, those that SQLite shares memory by apart."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


@pytest.fixture
def old(request: pytest.FixtureRequest, place: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with the store of older code."""
    workspace = past.put_back(request.param, place)
    if workspace is not None:
        monkeypatch.setenv("MINUTEBOOK_WORKSPACE_ID", workspace)
    return place


COMMANDS: list[tuple[str, ...]] = [
    ("status",), ("session", "list"), ("session", "show", "build-42"), ("context", "build-42"), ("log",),
    ("trace", "1"), ("verify",), ("projections", "list"), ("projections", "rebuild", "--all"), ("memory", "show"),
    ("memory", "log"), ("memory", "propose", "add", "text"), ("memory", "curate"), ("memory", "sync"),
    ("compact", "build-42"), ("session", "close", "build-42"), ("export", "--log"),
]  # fmt: skip


@pytest.mark.parametrize("old", WHOLE[:1], indirect=True)
@pytest.mark.parametrize(("number", "code"), [(None, "schema_older"), (SCHEMA_VERSION + 1, "schema_newer")])
def test_a_store_of_another_schema_is_refused_unchanged_by_every_command(
    old: Path, command: Command, where: str, number: int | None, code: str
) -> None:
    if number is not None:
        with outside(old) as connection:
            statement = (
                f"PRAGMA user_version={number}" if where == "sqlite" else f"UPDATE store_schema SET version={number}"
            )
            connection.exec_driver_sql(statement)
    before, rows, shape = files(old), past.content(old), past.shape(old)
    for words in COMMANDS:
        done = command(*words, "--json")
        assert (done.code, done.refusal["error"]) == (1, code), words
        assert "upgrade" in done.refusal["message"]
    for access in ACCESS:
        with pytest.raises(MinutebookError) as refused:
            Minutebook.open(old, access=access)
        assert refused.value.code == code
    after = {name: digest for name, digest in files(old).items() if name in before}
    assert after == before
    assert (past.content(old), past.shape(old)) == (rows, shape)


@pytest.mark.sqlite_only("about the write-ahead log of a SQLite file")
@pytest.mark.parametrize("version", [1, SCHEMA_VERSION + 1])
def test_a_write_ahead_log_of_another_schema_stays_where_it_is(place: Path, version: int) -> None:
    with Minutebook.open(place, automatic=False) as book:
        book.session("s").append({"role": "user", "content": "hello"})
    database = place / ".tinyagent" / "minutebook.db"
    script = (  # a process that dies with its last transaction in the log only
        "import os, sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        f"c.execute('PRAGMA wal_autocheckpoint=0'); c.execute('PRAGMA user_version={version}')\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", script, str(database)], check=True)
    before = files(place)
    assert any(name.endswith("-wal") for name in before)
    for access in ACCESS:
        with pytest.raises(MinutebookError) as refused:
            Minutebook.open(place, access=access)
        assert refused.value.code in ("schema_newer", "schema_older")
        assert files(place) == before, access


@pytest.mark.parametrize("old", OLD, indirect=True)
def test_every_kept_store_is_upgraded_and_is_then_as_a_fresh_one(
    old: Path, command: Command, where: str, tmp_path: Path
) -> None:
    events = past.content(old)

    done = command("upgrade", "--json")

    assert done.code == 0, done.err
    assert done.answer["changed"]
    assert (done.answer["from"], done.answer["to"]) == (1, SCHEMA_VERSION)
    assert past.content(old) == events
    assert past.version(old) == SCHEMA_VERSION
    again = command("upgrade", "--json")
    assert (again.answer["changed"], again.answer["backup"]) == (False, None)
    with Minutebook.open(old, automatic=False) as book:
        assert {row["status"] for row in book.projections.list()} == {"live"}
        report = book.verify()
        assert report["ok"], report["checks"]
    kept = Path(done.answer["backup"])
    assert kept.parent == old / ".tinyagent" / "kept"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (done.answer["head"], done.answer["chain"]) == _head_of_backup(kept, where)
    _assert_shape_of_a_fresh_store(old, where, tmp_path)


def _head_of_backup(kept: Path, where: str) -> tuple[int, str]:
    if where == "postgres":
        assert verify_export([str(kept)]) == 0
        first = json.loads(kept.read_text(encoding="utf-8").splitlines()[0])
        return first["head"], first["chain"]
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        head, chain = connection.execute("SELECT last_id, chain_hash FROM log_head").fetchone()
    return head, chain.hex()


def _assert_shape_of_a_fresh_store(old: Path, where: str, tmp_path: Path) -> None:
    """When this fails after a change of schema.py: raise SCHEMA_VERSION, and say in migrations.py how to get there."""
    upgraded = past.shape(old)
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    if where == "postgres":
        with outside(old) as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE")
            connection.exec_driver_sql("CREATE SCHEMA public")
    Minutebook.open(fresh, automatic=False).close()
    assert upgraded == past.shape(fresh)


@pytest.mark.parametrize("old", WHOLE, indirect=True)
def test_what_older_code_recorded_is_read_as_it_was_meant(old: Path, command: Command) -> None:
    assert command("upgrade").code == 0
    with Minutebook.open(old, automatic=False) as book:
        session = book.find_session("build-42")
        texts = [str(message["content"]) for message in session.messages() if message["role"] == "user"]
        assert texts == ["Why does the build fail?", "And now?"]
        entries = [entry["text"] for entry in book.memory.entries()]
        assert entries == ["The build needs make 4.3 or newer.", "A person wrote this by hand."]
        assert book.memory.status()["state"] == "clean"
        assert session.context().messages
        assert [row["kind"] for row in book.memory.revisions()] == ["curated", "manual"]


@pytest.mark.sqlite_only("the store of a chain that no release had")
def test_a_log_that_does_not_verify_is_not_upgraded(place: Path, command: Command) -> None:
    past.put_back("v1-ecd203e", place)
    before = files(place)
    done = command("upgrade", "--json")
    assert (done.code, done.refusal["error"]) == (1, "backup_damaged")
    assert {name: digest for name, digest in files(place).items() if name in before} == before
    assert [path.name for path in (place / ".tinyagent" / "kept").iterdir()] == [".gitignore"]


@pytest.mark.parametrize("old", WHOLE[:1], indirect=True)
def test_the_backup_goes_where_it_is_told_and_never_over_a_file(old: Path, command: Command, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert command("upgrade", "--backup", taken, "--json").refusal["error"] == "file_exists"
    assert past.version(old) == 1
    assert command("upgrade", "--backup", taken, "--no-backup").code == 2
    done = command("upgrade", "--backup", tmp_path / "mine.backup", "--json").answer
    assert done["backup"] == str(tmp_path / "mine.backup")
    assert taken.read_text() == "mine"
    assert not (old / ".tinyagent" / "kept").exists()


@pytest.mark.parametrize("old", WHOLE[:1], indirect=True)
def test_a_folder_that_is_made_for_the_backup_is_private(
    old: Path, command: Command, tmp_path: Path, where: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    database = ["--database", f"sqlite:///{old}/.tinyagent/minutebook.db"] if where == "sqlite" else []
    done = command("upgrade", *database, "--json", workspace=elsewhere).answer
    assert Path(done["backup"]).parent == elsewhere / ".tinyagent" / "kept"
    for place in (elsewhere / ".tinyagent", elsewhere / ".tinyagent" / "kept"):
        assert place.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("old", WHOLE[:1], indirect=True)
def test_no_backup_is_made_where_one_says_so(old: Path, command: Command) -> None:
    done = command("upgrade", "--no-backup", "--json").answer
    assert (done["changed"], done["backup"]) == (True, None)
    assert command("verify").code == 0


def test_a_folder_without_a_book_has_nothing_to_upgrade(place: Path, command: Command) -> None:
    assert command("upgrade", "--json").refusal["error"] == "not_a_book"
    assert list(place.iterdir()) == []


STAY = """
import sys
{how}
print("here", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("old", WHOLE[:1], indirect=True)
def test_while_another_process_has_the_store_open_nothing_is_upgraded(
    old: Path, command: Command, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEBOOK_LOCK_TIMEOUT_SECONDS", "0.2")
    # What an older minutebook has: a connection that idles.
    if where == "sqlite":
        file = str(old / ".tinyagent" / "minutebook.db")
        how = f"import sqlite3; c = sqlite3.connect({file!r}); c.execute('SELECT * FROM log_head').fetchall()"
    else:
        url = os.environ["MINUTEBOOK_DATABASE"].replace("postgresql+psycopg", "postgresql")
        how = f"import psycopg; c = psycopg.connect({url!r}, application_name='minutebook')"
    with subprocess.Popen(
        [sys.executable, "-c", STAY.format(how=how)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "here\n"
        done = command("upgrade", "--json")
        assert (done.code, done.refusal["error"]) == (1, "store_in_use")
        assert past.version(old) == 1
        other.communicate("\n")
    assert command("upgrade", "--json").answer["changed"]


STEPS = ["upgrade.locked", "backup.appearing", "backup.appeared", "upgrade.backed_up", "upgrade.migrating",
         "upgrade.committing", "upgrade.committed"]  # fmt: skip


@pytest.mark.parametrize("old", WHOLE[:1], indirect=True)
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_store_is_the_old_or_the_new_one(old: Path, command: Command, step: str) -> None:
    events = past.content(old)
    assert killed_at(step, lambda: Minutebook.upgrade(old))

    assert past.content(old) == events
    assert past.version(old) == (SCHEMA_VERSION if step == "upgrade.committed" else 1)
    done = command("upgrade", "--json")
    assert done.code == 0, done.err
    assert command("verify").code == 0
    left = [path.name for path in (old / ".tinyagent").rglob(".minutebook-*")]
    assert len(left) <= 1, "a kill leaves at most its unfinished copy, which doctor names"


@pytest.mark.parametrize("old", WHOLE[:1], indirect=True)
def test_many_that_upgrade_at_once_do_it_once(old: Path, command: Command) -> None:
    patience = Settings.load(old, lock_timeout_seconds=60)
    answers = at_once(4, lambda: Minutebook.upgrade(old, settings=patience)["changed"])
    assert sorted(map(str, answers)) == ["False"] * 3 + ["True"]
    assert command("verify").code == 0
    kept = [path.name for path in (old / ".tinyagent" / "kept").iterdir() if not path.name.startswith(".")]
    assert len(kept) == 1


def test_the_way_from_each_version_to_the_next_is_there() -> None:
    from minutebook.infrastructure.store.migrations import STEPS as steps

    assert sorted(steps) == list(range(1, SCHEMA_VERSION))
    named = {int(re.match(r"v(\d+)-", name)[1]) for name in past.names()}  # type: ignore[index]
    assert named >= set(steps), "a store of every past version is kept: tests/support/old_stores.py COMMIT"
