"""The hash chain that makes a changed, missing or added event visible (E1, E8).

``chain(n) = sha256(chain(n-1) + position as 8 bytes + envelope digest)``, where the envelope digest covers the
envelope, the facts and ``body_digest = sha256(salt + payload)``, but never the payload itself: erasing a payload
leaves the chain whole. The position stands outside the digest so that a database can add it in one statement.
"""

from __future__ import annotations

from hashlib import sha256

from .events import Envelope

GENESIS = bytes(32)


def body_digest(salt: bytes, payload: bytes) -> bytes:
    return sha256(salt + payload).digest()


def envelope_digest(envelope: Envelope, topic: str, schema: int, time: str, facts: bytes, body: bytes | None) -> bytes:
    """Digest of everything that is kept for ever (``columns_digest`` of the envelope's fields)."""
    return columns_digest(
        envelope.stream.bytes,
        envelope.version,
        topic,
        schema,
        envelope.workspace,
        envelope.session,
        envelope.run,
        envelope.actor,
        envelope.trust,
        envelope.causation,
        time,
        facts,
        body,
    )


def columns_digest(
    stream: bytes,
    version: int,
    topic: str,
    schema: int,
    workspace: str,
    session: str | None,
    run: str | None,
    actor: str,
    trust: str,
    causation: int | None,
    time: str,
    facts: bytes,
    body: bytes | None,
) -> bytes:
    """The same from the columns of a row, for ``verify``: 16 bytes of stream, 32 of ``body`` or None.

    Every text stands behind its length ("-" for None), so that no two events look alike. One string is encoded
    once: a join of encoded fields took twice as long (measured), and this is paid by every append and check.
    """
    text = (
        f"{version},{schema},{causation},{len(topic)}:{topic}{len(workspace)}:{workspace}"
        f"{'-' if session is None else len(session)}:{session}{'-' if run is None else len(run)}:{run}"
        f"{len(actor)}:{actor}{len(trust)}:{trust}{len(time)}:{time}{len(facts)}:"
    )
    return sha256(b"".join((stream, text.encode(), facts, b"-" if body is None else body))).digest()


def next_chain(previous: bytes, position: int, digest: bytes) -> bytes:
    return sha256(previous + position.to_bytes(8, "big") + digest).digest()
