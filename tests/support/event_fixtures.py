"""Every event as it is stored, one file a version, frozen: what the log of today must still mean tomorrow (E7).

``python tests/support/event_fixtures.py`` writes ``tests/data/events/TOPIC/vN.json`` for every type and version of
today that has none, and notes its digest in ``tests/data/events/digests``. It only adds: what is there is never written
again. See tests/data/events/README.md.
"""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin
from uuid import NAMESPACE_URL, uuid5

from pydantic import BaseModel

from minutebook.domain import catalogue as catalogue  # it registers every type
from minutebook.domain.events import TOPICS, Envelope, Event, encode_payload
from minutebook.infrastructure.store.mapper import facts_of

EVENTS = Path(__file__).resolve().parents[1] / "data" / "events"
DIGESTS = EVENTS / "digests"
WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)

PAYLOADS: Mapping[str, Any] = {
    "RunFailed": {"message": "it broke"},
    "MessageRecorded": {"source": {"role": "user", "content": "Why does the build fail?"}},
    "ReductionDecided": {"reductions": {"message": {"parts": [{"type": "text", "text": "shorter"}]}}},
    "CompactionCommitted": {"summary": "## Goal\nBuild it.", "reductions": {}},
    "CompactionRejected": {"summary": "too long"},
    "CompactionFailed": {"message": "the summariser is out"},
    "MemoryFrozen": {"block": "The build needs make 4.3."},
    "PreambleRecorded": {"system": "You mend builds.", "tools": []},
    "CandidateProposed": {"operation": {"operation": "add", "text": "The build needs make 4.3."}},
    "CurationRejected": {"answer": "[]"},
    "CurationFailed": {"message": "the curator is out"},
    "RevisionPrepared": {"entries": ["The build needs make 4.3."]},
    "EvidenceCollected": {
        "hash": "00ff",
        "content": {
            "messages": [["m-1", "user", "0a"]],
            "files": [],
            "summaries": [],
            "claims": [{"text": "The build needs make 4.3.", "files": []}],
        },
        "disk": [],
    },
    "LearningBlocked": {"text": "The build needs make 4.3."},
    "ErasureRequested": {"reason": "asked by letter"},
    "PayloadsErased": {"entries": [["e-1", 1, "The build needs make 4.3."]]},
    "RelearningBlocked": {"salt": "00ff", "whole": ["0a"], "less": ["0b"]},
    "ProjectionPaused": {"reason": "it is slow"},
    "ProjectionRetired": {"reason": "nobody asks for it"},
    "ProjectionResumed": {"reason": "mended"},
    "ProjectionDropped": {"reason": "nobody asks for it"},
}
"""The text of those that have one, in the form that their docstrings give."""


def types_of_today() -> dict[str, type[Event]]:
    """The events of the catalogue; those that tests register for a while apart."""
    return {topic: cls for topic, cls in TOPICS.items() if cls.__module__.startswith("minutebook.")}


def path_of(topic: str, version: int) -> Path:
    return EVENTS / topic / f"v{version}.json"


# --- values of every type that a fact can have


def value(annotation: Any, name: str, *, least: bool) -> Any:
    """A value that is not the default of any field: the name of the field for text, its length for a number."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return arguments[-1]
    if origin in (Union, types.UnionType):
        return value(next(each for each in arguments if each is not type(None)), name, least=least)
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return (value(arguments[0], name, least=least),)
        return tuple(value(each, name, least=least) for each in arguments)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation(**_fields(annotation, least=least))
    made: dict[Any, Any] = {str: name, int: len(name), float: len(name) + 0.5, bool: True}
    return made[annotation]


def _fields(cls: type[BaseModel], *, least: bool) -> dict[str, Any]:
    return {
        name: value(info.annotation, name, least=least)
        for name, info in cls.model_fields.items()
        if name not in ("envelope", "payload") and (info.is_required() or not least)
    }


def sample(cls: type[Event]) -> Event:
    """An event with every field set."""
    return cls(**_fields(cls, least=False))


def least_facts(cls: type[Event]) -> str:
    """Facts as code wrote them before the optional fields came: only what must be there, at every depth."""
    made = cls(**_fields(cls, least=True))
    return json.dumps(made.model_dump(mode="json", exclude_unset=True), separators=(",", ":"))


def envelope(topic: str, version: int = 1) -> Envelope:
    stream = uuid5(NAMESPACE_URL, f"minutebook:fixture:{topic}")
    return Envelope(stream, version, "local", WHEN, "agent", "s-1", "r-1", "model", 1)


def fixture(cls: type[Event]) -> dict[str, Any]:
    """What the file of a type's version of today holds."""
    where = envelope(cls.TOPIC, cls.class_version)
    return {
        "topic": cls.TOPIC,
        "schema": cls.class_version,
        "envelope": {
            "stream": str(where.stream), "version": where.version, "workspace": where.workspace,
            "session": where.session, "run": where.run, "actor": where.actor, "trust": where.trust,
            "causation": where.causation, "time": where.time.isoformat(),
        },
        "facts": {"full": facts_of(sample(cls)).decode(), "least": least_facts(cls)},
        "payload": encode_payload(PAYLOADS[cls.TOPIC]).decode() if cls.TOPIC in PAYLOADS else None,
    }  # fmt: skip


def digests() -> dict[str, str]:
    """The noted digest of every file, by its path below ``tests/data/events``."""
    if not DIGESTS.exists():
        return {}
    lines = DIGESTS.read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, name in (line.split("  ") for line in lines)}


def add() -> list[str]:
    """Writes what is missing; returns the names of what was written."""
    written = []
    for topic, cls in types_of_today().items():
        path = path_of(topic, cls.class_version)
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        data = (json.dumps(fixture(cls), indent=1, ensure_ascii=False) + "\n").encode()
        path.write_bytes(data)
        name = path.relative_to(EVENTS).as_posix()
        with DIGESTS.open("a", encoding="utf-8") as noted:
            noted.write(f"{sha256(data).hexdigest()}  {name}\n")
        written.append(name)
    return written


if __name__ == "__main__":
    print("\n".join(add()) or "every event has its fixture", file=sys.stdout)
