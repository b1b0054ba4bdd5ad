"""What a session was shown: system prompts, tools and digests of its requests, recorded and found again (C11)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import select

from ...domain.catalogue import ContextShown, PreambleRecorded
from ...domain.context import RENDERER, Built, Preamble, digest
from ...domain.events import Envelope, encode_payload
from ...domain.policy import POLICY, Policy
from ...domain.streams import shown_stream
from ...projections.context import history, queries
from ..settings import Settings
from ..store.failpoints import failpoint
from ..store.forking import ForkLock
from .appending import append_behind
from .freezer import Freezer, Frozen
from .policy import policy_of
from .runtime import Runtime, new_id
from .visible import Seen

AT_ONCE_MAX = 32
"""Threads that ask in one run are recorded in any order; among so many requests what they saw decides."""

WITH_PROMPT_SHARE = 0.8
"""The same of the system prompt and tools alone, which a request of the caller's own making may not have had."""

PREAMBLES_KEPT = 8
"""An agent and its helpers take turns with prompts of their own: each is recorded once, not at every turn."""

PLAUSIBLE_SHARE = 0.2
"""A provider that counts less than this share of our count has counted something else."""


class Requests:
    """What one session was shown around its messages, request by request."""

    def __init__(self, runtime: Runtime, session: str, freezer: Freezer) -> None:
        self._runtime = runtime
        self._session = session
        self._freezer = freezer
        self._lock = ForkLock()
        self._preambles: tuple[tuple[str, Preamble], ...] = ()  # the last ones recorded, the newest first
        self._shown: str | None = None
        self._asked: tuple[int, int] | None = None  # what the last request saw, and the tokens of its preamble
        self._before: tuple[int, int | None] | None = None  # where usage was reported, and the preamble of that request

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
            rows = connection.execute(statement.order_by(table.c.position.desc()).limit(AT_ONCE_MAX)).all()
        return max(rows, key=lambda row: (row.seen, row.position), default=None)

    def policy_at(self, seen: Seen, settings: Settings) -> Policy:
        """The policy that was in force at a past position: of the last request or decision there was (C11).

        Its reserve is that of today's settings under the window of then. Before the first request it is today's.
        """
        shown = self._seen(seen.position)
        found = policy_of(settings, None if shown is None else shown.window, counter=self._runtime.counter)
        name = POLICY if shown is None else str(shown.policy)
        if seen.epoch and (shown is None or seen.epoch > shown.position):
            decided = self._runtime.log.at([seen.epoch]).get(seen.epoch)
            # Plain: the typed event of a compaction of many messages would cost more than the rest of the look.
            name = str(name if decided is None or not decided.known else decided.plain.get("policy", name))
        return replace(found, name=name)

    def proves(self, built: Built) -> bool:
        """Whether a request of this very digest was recorded."""
        with self._runtime.projections.reading("context") as (view, connection):
            return history.was_shown(view, connection, self._runtime.workspace, self._session, digest(built))

    def reported(self, seen: Seen, built: Built) -> int | None:
        """The size of this request in the provider's count (M5): the last one reported, with what changed since.

        Messages that came later are counted in ``seen`` already; here another prompt, memory or set of tools than
        the reported request had. None where nothing was reported, or what cannot be of this request: a cached part
        left out, another call's usage. What does not fit must not pass for less (C1).
        """
        if seen.reported is None or seen.reported_at is None:
            return None
        if self._before is None or self._before[0] != seen.reported_at:
            self._before = (seen.reported_at, self._preamble_before(seen.reported_at))
        now, before = built.preamble.tokens, self._before[1]
        # A request that was not made here had the prompt of now, or it cannot be believed.
        tokens = seen.reported + (0 if before is None else now - before)
        least = max(built.tokens * PLAUSIBLE_SHARE, now * WITH_PROMPT_SHARE if before is None else 0)
        return tokens if tokens >= least else None

    def _preamble_before(self, position: int) -> int | None:
        """Tokens of the preamble of the last request that did not see ``position``; None when there was none."""
        # The usual case, an answer to the request before it, needs no projection to be caught up.
        asked = self._asked
        if asked is not None and asked[0] < position:
            return asked[1]
        return None if self._seen(position - 1) is None else self.last(position - 1)[1].tokens

    # --- recording

    def record(
        self, built: Built, seen: int, policy: Policy, frozen: Frozen | None, preamble: Preamble, run: str
    ) -> None:
        """Records the digest of a request when it differs from the session's last one, and its preamble when new."""
        found = digest(built)
        with self._lock:  # several threads of an agent may ask in one run
            self._asked = (seen, preamble.tokens)
            if self._shown is None:
                last = self._seen(None)
                self._shown = None if last is None else last.digest
            if found == self._shown:
                return
            runtime = self._runtime
            stream = shown_stream(runtime.workspace, self._session, runtime.id)
            bare = replace(preamble, memory="")
            known = next((item for item in self._preambles if item[1] == bare), None)
            named = known or ((new_id("p"), bare) if bare.system or bare.tools else None)

            def events(version: int) -> list[Any]:
                made: list[Any] = []

                def envelope() -> Envelope:
                    return runtime.envelope(
                        stream, version + len(made), actor="compressor", session=self._session, run=run
                    )

                if named is not None and named is not known:
                    made.append(
                        PreambleRecorded(
                            envelope=envelope(),
                            preamble=named[0],
                            tokens=bare.tokens,
                            payload=encode_payload({"system": bare.system, "tools": list(bare.tools)}),
                        )
                    )
                made.append(
                    ContextShown(
                        envelope=envelope(),
                        runtime=runtime.id,
                        digest=found,
                        renderer=RENDERER,
                        policy=policy.name,
                        seen=seen,
                        preamble=None if named is None else named[0],
                        memory_revision=None if frozen is None else frozen.revision,
                        window=policy.window,
                        tokens=built.tokens,
                        messages=len(built.lines),
                    )
                )
                return made

            failpoint("context.built")
            append_behind(runtime, stream, events)
            failpoint("context.shown")
            if named is not None:
                others = tuple(item for item in self._preambles if item is not named)
                self._preambles = (named, *others)[:PREAMBLES_KEPT]
            self._shown = found
