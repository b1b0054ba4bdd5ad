"""Rows of the context tables as single events give them."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from ...domain import catalogue as events
from ...domain.events import LoggedEvent
from .epochs import to_json

Attempt: TypeAlias = events.CompactionCommitted | events.CompactionRejected | events.CompactionFailedEvent


def message(event: LoggedEvent, session: str, body: events.MessageRecorded) -> dict[str, Any]:
    return {
        "position": event.position,
        "workspace": event.envelope.workspace,
        "session": session,
        "message": body.message,
        "role": body.role,
        "form": body.form,
        "run": event.envelope.run,
        "tokens": body.tokens,
        "trust": event.envelope.trust,
        "calls": json.dumps(body.calls) if body.calls else "[]",
        "results": json.dumps(body.results) if body.results else "[]",
    }


def run_started(event: LoggedEvent, session: str, body: events.RunStarted) -> dict[str, Any]:
    return {
        "position": event.position,
        "workspace": event.workspace,
        "session": session,
        "run": event.run or "",
        "status": "open",
        "reason": None,
        "imported": int(body.imported),
        "owner": None if body.owner is None else to_json(body.owner.model_dump()),
        "lease_seconds": body.lease_seconds,
        "started": time(event),
        "ended": None,
        "ended_position": None,
        "input_tokens": 0,
        "output_tokens": 0,
    }


def attempt(event: LoggedEvent, body: Attempt, outcome: str) -> dict[str, Any]:
    """The columns that every attempt has, with what a failed one leaves empty."""
    return {
        "compaction": body.compaction,
        "outcome": outcome,
        "reasons": "[]",
        "error": None,
        "policy": body.policy,
        "summarizer": body.summarizer,
        "range_digest": body.range_digest,
        "supersedes": None,
        "anchor": None,
        "upto": None,
        "covers": "[]",
        "covers_count": 0,
        "reduced": "[]",
        "summary_tokens": 0,
        "tokens_before": body.tokens_before,
        "tokens_after": None,
        "input_tokens": 0,
        "output_tokens": 0,
        "trust": "model",
        "time": time(event),
    }


def new_session(event: LoggedEvent, name: str) -> dict[str, Any]:
    return {
        "workspace": event.workspace,
        "session": name,
        "origin": "agent",
        "format": None,
        "parent": None,
        "parent_position": None,
        "forked": None,
        "closed": 0,
        "suspended": 0,
        "messages": 0,
        "tokens": 0,
        "inherited_messages": 0,
        "inherited_tokens": 0,
        "runs": 0,
        "compactions": 0,
        "first_position": event.position,
        "last_position": event.position,
        "last_time": time(event),
    }


def usage(used: events.Usage) -> dict[str, int]:
    return {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}


def time(event: LoggedEvent) -> str:
    return event.envelope.time.isoformat(timespec="microseconds")
