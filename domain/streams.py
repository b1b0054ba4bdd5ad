"""The identity of every stream: a name in, the same UUID out, on every machine.

A stream is what one aggregate's events form. Its UUID is derived from the workspace and what the caller
named, so that a repeated append meets its own earlier event (M3) and no registry of ids is needed.
"""

from __future__ import annotations

from uuid import UUID, uuid5

NAMESPACE = UUID("6f1d0c1e-6b7a-5d0e-9a55-6d696e757465")


def _stream(*names: str) -> UUID:
    # Each name is prefixed by its length: ("a", "bc") and ("ab", "c") must not meet.
    return uuid5(NAMESPACE, "".join(f"{len(name)}:{name}" for name in names))


def session_stream(workspace: str, session: str) -> UUID:
    return _stream("session", workspace, session)


def runs_stream(workspace: str, session: str) -> UUID:
    """All runs of one session, in turn: it is open when its last event is a start."""
    return _stream("runs", workspace, session)


def message_stream(workspace: str, session: str, message: str) -> UUID:
    return _stream("message", workspace, session, message)


def compactions_stream(workspace: str, session: str) -> UUID:
    """What decides the context of one session: reductions, compactions, undo, redo. Its version is the fence (C6)."""
    return _stream("compactions", workspace, session)


def attempt_stream(workspace: str, attempt: str) -> UUID:
    """A compaction that came to nothing; apart, so that it disturbs no fence."""
    return _stream("attempt", workspace, attempt)


def shown_stream(workspace: str, session: str, runtime: str) -> UUID:
    """What one runtime showed to a model in one session: freezes, preambles, digests."""
    return _stream("shown", workspace, session, runtime)


def candidate_stream(workspace: str, candidate: str) -> UUID:
    return _stream("candidate", workspace, candidate)


def job_stream(workspace: str, job: str) -> UUID:
    return _stream("job", workspace, job)


def document_stream(workspace: str) -> UUID:
    """The memory document of a workspace: its version is the fence of every commit."""
    return _stream("document", workspace)


def erasure_stream(workspace: str, erasure: str) -> UUID:
    """One erasure, from its request to its receipt; its version fences who goes on with it (E8)."""
    return _stream("erasure", workspace, erasure)


def relearning_stream(workspace: str, erasure: str) -> UUID:
    """The block that an erasure left, until a person lifts it (D16)."""
    return _stream("relearning", workspace, erasure)


def projection_stream(projection: str) -> UUID:
    """What people decided about one projection (E6); a projection belongs to the store, not to a workspace."""
    return _stream("projection", projection)


def evidence_stream(workspace: str, session: str, run: str) -> UUID:
    """The evidence of one run: a packet for each extractor that read it."""
    return _stream("evidence", workspace, session, run)


def survey_stream(workspace: str) -> UUID:
    """How far the runs of a workspace were looked through for evidence."""
    return _stream("survey", workspace)


def claim_stream(workspace: str, claim: str) -> UUID:
    """What became of one claim: its version is the fence of its promotion."""
    return _stream("claim", workspace, claim)


def learning_stream(workspace: str) -> UUID:
    """What a workspace must not learn again, and what it may once more (D16)."""
    return _stream("learning", workspace)
