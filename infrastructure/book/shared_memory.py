"""``book.common``: the memory that the workspaces of one ``memory_root`` share (D18)."""

from __future__ import annotations

from ...domain.errors import InputError
from ..work.publisher import Publisher
from ..work.runtime import Runtime
from ..work.schedule import Curating
from .answers import Answer
from .memory import Memory


class Common(Memory):
    """As ``book.memory``, of the common scope; changed only where ``memory_common`` is ``write``."""

    def __init__(self, runtime: Runtime, publisher: Publisher, curating: Curating) -> None:
        super().__init__(runtime, publisher, curating)

    def curate(self) -> Answer:
        """Turns what was proposed in common into its next revision; as ``Minutebook.curate``."""
        self._runtime.require_writing("a curation")
        return Answer(self._curating.curate())


class Sharing:
    """The part of ``Minutebook`` that leads to the memory in common."""

    _common: Common | None

    @property
    def common(self) -> Common:
        """The memory that the workspaces of one ``memory_root`` share. Raises InputError ``no_common_memory`` (D18)."""
        if self._common is None:
            raise InputError(
                "this workspace sees no memory in common; set memory_root, and memory_common to 'read' or 'write'",
                code="no_common_memory",
            )
        return self._common
