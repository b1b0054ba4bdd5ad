"""How a session grew: tokens, runs, compactions and memory revisions over its positions."""

from __future__ import annotations

from typing import Any

from ...domain.whole_numbers import whole_number
from ...projections.context import history
from ...projections.revisions import queries as revisions
from .looking import session_row
from .runtime import Runtime


def timeline(runtime: Runtime, session: str, buckets: int) -> list[dict[str, Any]]:
    """Tokens, compactions, runs and memory revision over the positions of a session."""
    whole_number(buckets, "buckets", least=1, most=10_000)
    row = session_row(runtime, session)
    first, last = row["first_position"], row["last_position"]
    with runtime.projections.reading("context") as (view, connection):
        made = history.messages(view, connection, runtime.workspace, session)
        runs = history.runs(view, connection, runtime.workspace, session)
        compacted = history.compactions(view, connection, runtime.workspace, session)
    with runtime.projections.reading("revisions") as (view, connection):
        committed = revisions.log(view, connection, runtime.workspace)
    steps = []
    for bucket in range(1, buckets + 1):
        upto = first + (last - first) * bucket // buckets
        steps.append(
            {
                "position": upto,
                "messages": sum(1 for message in made if message.position <= upto),
                "tokens": max((message.total for message in made if message.position <= upto), default=0),
                "runs": sum(1 for run in runs if run.position <= upto),
                "compactions": sum(
                    1
                    for done in compacted
                    if done.position <= upto and done.status in ("committed", "superseded", "undone")
                ),
                "memory_revision": max(
                    (
                        revision.revision
                        for revision in committed
                        if revision.status == "committed" and revision.position <= upto
                    ),
                    default=0,
                ),
            }
        )
    return steps
