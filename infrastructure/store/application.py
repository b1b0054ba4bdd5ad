"""Our events through the library's own application object: save, get, follow (S1)."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.persistence import Mapper

from .mapper import MinutebookMapper, OrjsonTranscoder


class Minutes(Application[UUID]):
    """The log as an ``eventsourcing`` application, for programs that work with aggregates and repositories.

    ``Minutes(env={"MINUTEBOOK_DATABASE": url})``; ``save(*events, expects=[...])`` appends in one transaction,
    ``repository.get(stream, projector_func=fold)`` folds a stream. The book itself appends to the log directly:
    per event that costs a third (measured), and the chain and guards are the same.
    """

    env: ClassVar[dict[str, str]] = {"PERSISTENCE_MODULE": "minutebook.infrastructure.store.recorders"}

    def construct_mapper(self) -> Mapper[UUID]:
        return MinutebookMapper(OrjsonTranscoder())
