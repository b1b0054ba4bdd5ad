"""Whether a store holds what was acknowledged: by plain drivers and ``open``, without a line of minutebook.

``read`` takes a store apart, ``violations`` names what of I1 to I7 does not hold in it, ``changed`` what of I8. What
was acknowledged comes from outside of the store, one value each (``what`` says of which kind)::

    message    position, session, id, digest      event      topic, fact, value, and more facts that must be so
    revision   revision, digest                   gone       words that no byte of the store may hold
    backup     file, head, chain                  anchor     head, chain

The chain is computed here by the words of docs/reference/log-export-format.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import stat
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

FILE = Path(".tinyagent") / "memory" / "MEMORY.md"
DATABASE = Path(".tinyagent") / "minutebook.db"
_OURS = re.compile(r"\..*\.(tmp|displaced)(-journal|-wal|-shm|\.new|\.jsonl)?|\.minutebook-.*")
_PASSING = {"leases": (), "cursors": ("heartbeat",)}
"""Who is at work and when somebody looked last: no history, and a second start may write it."""
_REFLECTED = (
    ("context", "context_messages", "position", "MessageRecorded", None),
    ("candidates", "candidates", "candidate", "CandidateProposed", "candidate"),
    ("revisions", "revisions", "prepared", "RevisionPrepared", None),
)
"""What a projection makes one row of: the table and its column, the event and its fact (None: its position)."""


@dataclass(frozen=True)
class Store:
    """Everything that stands in one store, and the folder around it."""

    events: list[dict[str, Any]]
    head: tuple[int, bytes]
    tables: dict[str, list[dict[str, Any]]]
    file: bytes | None
    file_facts: tuple[int, int, int] | None
    """Mode, owner, group."""
    file_place: tuple[int, int] | None
    """Inode and time of the last change: for a recovery that must not have touched it."""
    names: list[str]

    def of(self, *topics: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["topic"] in topics]

    @property
    def erased(self) -> set[int]:
        return {row["position"] for row in self.tables["erased"]}


@dataclass
class Found:
    """What does not hold, each with the invariant that it breaks."""

    lines: list[str] = field(default_factory=list)

    def add(self, invariant: str, text: str) -> None:
        self.lines.append(f"{invariant}: {text}")


# --- reading


def read(root: Path, url: str | None = None) -> Store:
    """Takes a store apart. A SQLite file is copied first: to open it would recover it, which is not for us to do."""
    rows = _postgres(url) if url else _sqlite(root / DATABASE)
    events = rows.pop("events", [])
    heads = rows.get("log_head") or [{"last_id": 0, "chain_hash": bytes(32)}]
    path = root / FILE
    found = path.lstat() if path.exists() else None
    return Store(
        events=sorted(events, key=lambda event: int(event["position"])),
        head=(heads[0]["last_id"], heads[0]["chain_hash"]),
        tables={"erased": [], "cursors": [], "parked": [], **rows},
        file=path.read_bytes() if found else None,
        file_facts=(stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) if found else None,
        file_place=(found.st_ino, found.st_mtime_ns) if found else None,
        names=sorted(str(each.relative_to(root)) for each in root.rglob("*")),
    )


def _sqlite(path: Path) -> dict[str, list[dict[str, Any]]]:
    with tempfile.TemporaryDirectory(prefix="minutebook-judge-") as folder:
        copy = Path(folder) / "copy.db"
        for end in ("", "-wal", "-journal"):
            if Path(f"{path}{end}").exists():
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        with closing(sqlite3.connect(copy)) as connection:
            return _taken(
                connection, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )


def _postgres(url: str) -> dict[str, list[dict[str, Any]]]:
    import psycopg

    plain = url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return _taken(connection, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")


def _taken(connection: Any, listing: str) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for (table,) in connection.execute(listing).fetchall():
        cursor = connection.execute(f'SELECT * FROM "{table}"')
        columns = [column[0] for column in cursor.description]
        found[table] = [dict(zip(columns, map(_plain, row), strict=True)) for row in cursor]
    return found


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def facts_of(event: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event["facts"])
    return found


def payload_of(event: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(event["payload"] or "{}")
    return found


def canonical(value: Any) -> str:
    """The digest of a JSON value, whatever the order of its keys."""
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


# --- judging


def violations(
    store: Store,
    acknowledged: Iterable[Mapping[str, Any]] = (),
    *,
    before: Store | None = None,
    flag: str | None = None,
    file_facts: tuple[int, int, int] | None = None,
    root: Path | None = None,
) -> list[str]:
    """What does not hold, in words; nothing where all does.

    ``before`` is the store as the kill left it, whose history must still be there; ``flag`` the state of the file that
    the book tells a person; ``file_facts`` mode, owner and group that it had.
    """
    found = Found()
    _chain(store, found)
    _streams(store, found)
    for each in acknowledged:
        _kept(store, each, root, found)
    if before is not None:
        _history(store, before, found)
    _revisions(store, found)
    _file(store, flag, found)
    _cursors(store, found)
    for name in store.names:
        if _OURS.fullmatch(Path(name).name):
            found.add("I6", f"{name} is left over")
    if file_facts is not None and store.file_facts not in (file_facts, None):
        found.add("I7", f"mode, owner and group are {store.file_facts}, and were {file_facts}")
    return found.lines


def changed(first: Store, second: Store) -> list[str]:
    """I8: what a second recovery changed, in the rows of any table or the bytes of the file."""
    found = Found()
    if first.events != second.events or first.head != second.head:
        found.add("I8", f"the log went from {first.head[0]} to {second.head[0]}")
    for table in sorted({*first.tables, *second.tables} - {"log_head"}):
        rows = [_lasting(table, store.tables.get(table, [])) for store in (first, second)]
        if rows[0] != rows[1]:
            found.add("I8", f"rows of {table} are others")
    if (first.file, first.file_facts, first.file_place) != (second.file, second.file_facts, second.file_place):
        found.add("I8", "the memory file was touched")
    # SQLite's own companions come and go with whoever opens the file.
    names = {name for name in {*first.names} ^ {*second.names} if not name.endswith(("-wal", "-shm"))}
    if names:
        found.add("I8", f"other names: {sorted(names)}")
    return found.lines


def _lasting(table: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if table in _PASSING and not _PASSING[table]:
        return []
    left_out = _PASSING.get(table, ())
    return sorted(repr({name: value for name, value in row.items() if name not in left_out}) for row in rows)


# --- I1: what was acknowledged is there once, unchanged


def _chain(store: Store, found: Found) -> None:
    chain, erased = bytes(32), store.erased
    for wanted, event in enumerate(store.events, start=1):
        if event["position"] != wanted:
            found.add("I1", f"event {wanted} is missing")
            return
        chain = sha256(chain + wanted.to_bytes(8, "big") + _envelope(event)).digest()
        if chain != event["chain"]:
            found.add("I1", f"the chain breaks at event {wanted}")
            return
        if event["body_digest"] is not None and wanted not in erased:
            salt, payload = event["salt"], _bytes(event["payload"])
            if salt is None or payload is None or sha256(salt + payload).digest() != event["body_digest"]:
                found.add("I1", f"the payload of event {wanted} is not what was appended")
    if store.head != (len(store.events), chain):
        found.add("I1", f"the head says {store.head[0]}, and the log has {len(store.events)} events")


def _envelope(event: Mapping[str, Any]) -> bytes:
    def text(value: Any) -> str:
        return "-:None" if value is None else f"{len(str(value))}:{value}"

    stream = event["stream"] if isinstance(event["stream"], bytes) else event["stream"].bytes
    facts = _bytes(event["facts"]) or b""
    named = "".join(text(event[name]) for name in ("topic", "workspace", "session", "run", "actor", "trust", "time"))
    said = f"{event['version']},{event['schema']},{event['causation']},{named}{len(facts)}:"
    return sha256(stream + said.encode() + facts + (event["body_digest"] or b"-")).digest()


def _bytes(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _streams(store: Store, found: Found) -> None:
    versions: dict[Any, int] = defaultdict(int)
    for event in store.events:
        versions[event["stream"]] += 1
        if event["version"] != versions[event["stream"]]:
            found.add("I1", f"event {event['position']} has version {event['version']} of its stream")


def _kept(store: Store, each: Mapping[str, Any], root: Path | None, found: Found) -> None:
    match each["what"]:
        case "message":
            wanted = [event for event in store.of("MessageRecorded") if event["session"] == each["session"]]
            same = [event for event in wanted if facts_of(event)["message"] == each["id"]]
            if [event["position"] for event in same] != [each["position"]]:
                found.add("I1", f"message {each['id']} was acknowledged at {each['position']}, and is at {_at(same)}")
            elif (
                same[0]["position"] not in store.erased
                and canonical(payload_of(same[0]).get("source")) != each["digest"]
            ):
                found.add("I1", f"message {each['id']} is not what was acknowledged")
        case "event":
            same = [event for event in store.of(each["topic"]) if _value(event, each["fact"]) == each["value"]]
            more = {name: each[name] for name in each.keys() - {"what", "topic", "fact", "value"}}
            if len(same) != 1:
                found.add("I1", f"{each['topic']} of {each['value']} was acknowledged, and is at {_at(same)}")
            elif any(_value(same[0], name) != value for name, value in more.items()):
                found.add("I1", f"{each['topic']} of {each['value']} is not what was acknowledged")
        case "gone":
            for word in each["words"]:
                for place in _places(store, root, word.encode()):
                    found.add("I1", f"{word!r} was said to be erased, and stands in {place}")
        case "anchor":
            event = store.events[each["head"] - 1] if each["head"] <= len(store.events) else None
            if each["head"] and (event is None or event["chain"].hex() != each["chain"]):
                found.add("I1", f"the log does not pass through {each['head']}, where it was said to be")
        case "backup":
            wrong = _backup(Path(each["file"]), each["head"], each["chain"])
            if wrong:
                found.add("I1", f"the backup that was acknowledged {wrong}")
        case other:
            raise AssertionError(f"nobody knows what {other!r} acknowledges")


def _value(event: Mapping[str, Any], name: str) -> Any:
    return event[name] if name in ("run", "session") else facts_of(event).get(name)


def _at(events: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(str(event["position"]) for event in events) or "no position"


def _places(store: Store, root: Path | None, word: bytes) -> Iterator[str]:
    for table, rows in {"events": store.events, **store.tables}.items():
        if any(word in str(value).encode() for row in rows for value in row.values()):
            yield table
    for path in sorted(root.rglob("*")) if root is not None else ():
        if path.is_file() and word in path.read_bytes():
            yield path.name


def _backup(path: Path, head: int, chain: str) -> str | None:
    if not path.exists():
        return "is not there"
    with path.open("rb") as file:
        pages = file.read(6) == b"SQLite"
    if pages:
        rows = _sqlite(path)
        kept = Store(rows["events"], (rows["log_head"][0]["last_id"], rows["log_head"][0]["chain_hash"]),
                     {"erased": [], **rows}, None, None, None, [])  # fmt: skip
        wrong = Found()
        _chain(kept, wrong)
        if wrong.lines or kept.head != (head, bytes.fromhex(chain)):
            return f"holds something else: {wrong.lines or kept.head}"
        return None
    with path.open("rb") as file:
        first = json.loads(file.readline())
        last = None
        for line in file:
            last = json.loads(line)
    if (first["head"], first["chain"]) != (head, chain) or (last and last["chain"]) != chain:
        return "holds another log"
    return None


def _history(store: Store, before: Store, found: Found) -> None:
    """What was committed when the process died is there: the same rows, at the same places (I1, I5)."""
    erased = store.erased
    for old, new in zip(before.events, store.events, strict=False):
        if old["position"] in erased:
            old, new = ({**each, "payload": None, "salt": None} for each in (old, new))
        if old != new:
            found.add("I1", f"event {old['position']} was committed before the kill, and is another now")
            return
    if len(store.events) < len(before.events):
        found.add("I1", f"of {len(before.events)} events that were committed {len(store.events)} are left")


# --- I2 to I5


def _revisions(store: Store, found: Found) -> None:
    for workspace in {event["workspace"] for event in store.of("RevisionPrepared")}:
        mine = [event for event in store.events if event["workspace"] == workspace]
        numbers = [facts_of(event)["revision"] for event in mine if event["topic"] == "RevisionPrepared"]
        ended = Counter(
            facts_of(event)["revision"]
            for event in mine
            if event["topic"] in ("RevisionCommitted", "RevisionAbandoned")
        )
        for number in numbers:
            if not ended[number]:
                found.add("I2", f"revision {number} stays prepared")
            elif ended[number] > 1:
                found.add("I2", f"revision {number} was committed or abandoned {ended[number]} times")
        if numbers != sorted(set(numbers)):
            found.add("I5", f"revision numbers do not rise: {numbers}")


def _file(store: Store, flag: str | None, found: Found) -> None:
    kinds = {facts_of(event)["revision"]: facts_of(event)["kind"] for event in store.of("RevisionPrepared")}
    commits = [facts_of(event) for event in store.of("RevisionCommitted")]
    live = [facts.get("digest") for facts in commits if kinds.get(facts["revision"]) != "displaced"]
    digest = None if store.file is None else sha256(store.file).hexdigest()
    if digest != (live[-1] if live else None) and flag in (None, "clean", "empty"):
        found.add("I3", f"the file is not the last committed revision, and its state is {flag or 'not told'}")


def _cursors(store: Store, found: Found) -> None:
    parked = {(row["projection"], row["position"]) for row in store.tables["parked"]}
    for row in store.tables["cursors"]:
        if row["position"] > store.head[0]:
            found.add("I4", f"the cursor of {row['name']} is at {row['position']}, beyond the head {store.head[0]}")
        if row["status"] not in ("live", "building"):
            found.add("I4", f"the projection {row['name']} is {row['status']}: {row['error']}")
    cursors = {row["name"]: row["position"] for row in store.tables["cursors"]}
    for name, table, column, topic, fact in _REFLECTED:
        if name not in cursors or table not in store.tables:
            continue
        due = [event for event in store.of(topic) if event["position"] <= cursors[name]]
        wanted = Counter(
            event["position"] if fact is None else facts_of(event)[fact]
            for event in due
            if (name, event["position"]) not in parked
        )
        there = Counter(row[column] for row in store.tables[table])
        if wanted != there:
            missing, more = wanted - there, there - wanted
            found.add("I4", f"{table} lacks {sorted(missing)} and has {sorted(more)} besides, up to {cursors[name]}")


def owner_of(path: Path) -> tuple[int, int, int]:
    found = os.lstat(path)
    return stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid
