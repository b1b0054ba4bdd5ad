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
    """Digest of everything that is kept for ever. Fields are length-prefixed, so that no two events look alike."""
    fields = (
        envelope.stream.bytes,
        b"%d" % envelope.version,
        topic.encode(),
        b"%d" % schema,
        envelope.workspace.encode(),
        _text(envelope.session),
        _text(envelope.run),
        envelope.actor.encode(),
        envelope.trust.encode(),
        b"-" if envelope.causation is None else b"%d" % envelope.causation,
        time.encode(),
        facts,
        b"-" if body is None else body,
    )
    return sha256(b"".join([b"%d:%b," % (len(field), field) for field in fields])).digest()


def next_chain(previous: bytes, position: int, digest: bytes) -> bytes:
    return sha256(previous + position.to_bytes(8, "big") + digest).digest()


def _text(value: str | None) -> bytes:
    # "-" marks None; a text that begins with "-" or "+" stays apart from it by the "+".
    return b"-" if value is None else b"+" + value.encode()
