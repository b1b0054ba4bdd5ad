"""A workspace with a log and a publisher, for the tests of what reaches MEMORY.md."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from minutebook.domain.catalogue import EntryFact, RevisionKind
from minutebook.domain.revision import Draft
from minutebook.infrastructure.settings import Settings
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.work.ledger import Advance
from minutebook.infrastructure.work.publisher import Publisher
from minutebook.infrastructure.work.workspace import Workspace
from minutebook.infrastructure.work.writer import Published

TIME = datetime(2026, 3, 1, 12, tzinfo=UTC)
FILE = Path(".tinyagent/memory/MEMORY.md")


class Place:
    """A workspace and its memory file, without a log."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        self.path = root / FILE
        self.settings = Settings.model_validate(settings)
        self.workspace = Workspace.of(root, self.settings)
        self.workspace.prepare()

    def edit(self, data: bytes | str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def names(self) -> list[str]:
        return sorted(path.name for path in self.path.parent.iterdir())

    def bytes(self) -> bytes:
        return self.path.read_bytes()


class Desk(Place):
    """A workspace with a log and a publisher, and short words for what the tests do with them."""

    def __init__(self, root: Path, **settings: Any) -> None:
        super().__init__(root, **settings)
        self.database = Database(root / ".tinyagent" / "minutebook.db")
        self.log = Log(self.database)
        self.advanced = 0
        self.time = TIME
        self.publisher = self.another()

    def another(self, *, advance: Advance | None = None) -> Publisher:
        return Publisher(self.log, self.workspace, self.settings, lambda: TIME, advance=advance or self._advance)

    def _advance(self, connection: Connection) -> None:
        assert connection.exec_driver_sql("SELECT last_id FROM log_head").scalar() is not None
        self.advanced += 1

    def publish(self, *texts: str, kind: RevisionKind = "curated") -> Published:
        document = self.publisher.document()
        facts = tuple(
            EntryFact(entry=f"c{document.next}-{n}", since=document.next, actor="agent", trust="model")
            for n in range(len(texts))
        )
        return self.publisher.publish(
            Draft(kind, texts, facts, inputs=(f"candidate-{document.next}",), actor="curator", trust="model"),
            version=document.version,
        )

    def topics(self) -> list[str]:
        return [event.topic for event in self.log.read()]
