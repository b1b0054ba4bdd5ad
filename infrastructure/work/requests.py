"""What a session was shown: system prompts, tools and digests of its requests, recorded and found again (C11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import select

from ...domain.catalogue import ContextShown, PreambleRecorded
from ...domain.context import RENDERER, Built, Preamble, digest
from ...domain.events import Envelope, encode_payload
from ...domain.policy import Policy
from ...domain.streams import shown_stream
from ...projections.context import history, queries
from .freezer import Freezer, Frozen
from .runtime import Runtime, new_id


class Requests:
    """What one session was shown around its messages, request by request."""

    def __init__(self, runtime: Runtime, session: str, freezer: Freezer) -> None:
        self._runtime = runtime
        self._session = session
        self._freezer = freezer
        self._preamble: tuple[str, Preamble] | None = None
        self._shown: str | None = None

    # --- looking

    def last(self, position: int | None) -> tuple[Frozen | None, Preamble]:
        """The memory and the preamble of the last request that saw no more than ``position`` (None: of the newest).

        Where a request saw exactly that position its own freeze counts: another runtime may have frozen since.
        """
        shown = self._seen(position)
        exact = shown is not None and shown.seen == position and shown.freeze_position is not None
        frozen = self._freezer.at(shown.freeze_position if exact and shown is not None else position)
        block = "" if frozen is None else frozen.block
        if shown is None or shown.preamble is None:
            return frozen, Preamble(memory=block, counter=self._runtime.counter)
        with self._runtime.projections.reading("context") as (view, connection):
            row = queries.preamble(view, connection, self._runtime.workspace, self._session, id=shown.preamble)
        if row is None:
            return frozen, Preamble(memory=block, counter=self._runtime.counter)
        content = self._runtime.log.at([row.position])[row.position].body.content
        tools = tuple(content.get("tools", ()))
        return frozen, Preamble(str(content.get("system", "")), block, tools, self._runtime.counter)

    def origins(self, position: int) -> tuple[int | None, int | None]:
        """Positions of the events that the preamble and the memory block of ``last`` come from, where they have one."""
        shown = self._seen(position)
        exact = shown is not None and shown.seen == position and shown.freeze_position is not None
        upto = shown.freeze_position if exact and shown is not None else position
        where = (self._runtime.workspace, self._session)
        with self._runtime.projections.reading("context") as (view, connection):
            frozen = queries.freeze(view, connection, *where, upto)
            named = None if shown is None or shown.preamble is None else shown.preamble
            row = None if named is None else queries.preamble(view, connection, *where, id=named)
        return None if row is None else row.position, None if frozen is None else frozen.position

    def _seen(self, position: int | None) -> Any | None:
        # Ordered by what a request saw, not by where it is recorded: its preamble and its digest come after that.
        with self._runtime.projections.reading("context") as (view, connection):
            table = view.shown
            statement = select(table).where(
                table.c.workspace == self._runtime.workspace, table.c.session == self._session
            )
            if position is not None:
                statement = statement.where(table.c.seen <= position)
            return connection.execute(statement.order_by(table.c.position.desc()).limit(1)).one_or_none()

    def proves(self, built: Built) -> bool:
        """Whether a request of this very digest was recorded."""
        with self._runtime.projections.reading("context") as (view, connection):
            return history.was_shown(view, connection, self._runtime.workspace, self._session, digest(built))

    # --- recording

    def record(
        self, built: Built, seen: int, policy: Policy, frozen: Frozen | None, preamble: Preamble, run: str
    ) -> None:
        """Records the digest of a request when it differs from the session's last one, and its preamble when new."""
        found = digest(built)
        if self._shown is None:
            last = self._seen(None)
            self._shown = None if last is None else last.digest
        if found == self._shown:
            return
        runtime = self._runtime
        stream = shown_stream(runtime.workspace, self._session, runtime.id)
        version = runtime.log.version(stream)
        events: list[Any] = []

        def envelope() -> Envelope:
            return runtime.envelope(
                stream, version + len(events) + 1, actor="compressor", session=self._session, run=run
            )

        key = None
        if preamble.system or preamble.tools:
            bare = replace(preamble, memory="")
            if self._preamble is None or self._preamble[1] != bare:
                self._preamble = (new_id("p"), bare)
                events.append(
                    PreambleRecorded(
                        envelope=envelope(),
                        preamble=self._preamble[0],
                        tokens=bare.tokens,
                        payload=encode_payload({"system": preamble.system, "tools": list(preamble.tools)}),
                    )
                )
            key = self._preamble[0]
        events.append(
            ContextShown(
                envelope=envelope(),
                runtime=runtime.id,
                digest=found,
                renderer=RENDERER,
                policy=policy.name,
                seen=seen,
                preamble=key,
                memory_revision=None if frozen is None else frozen.revision,
                window=policy.window,
                tokens=built.tokens,
                messages=len(built.lines),
            )
        )
        runtime.log.append(events)
        self._shown = found
