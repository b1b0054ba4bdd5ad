"""Rows of the context tables as single events give them."""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from typing import Any, TypeAlias

from ...domain import catalogue as events
from ...domain.events import LoggedEvent
from .epochs import to_json

Attempt: TypeAlias = events.CompactionCommitted | events.CompactionRejected | events.CompactionFailedEvent


def message(event: LoggedEvent, session: str, facts: Mapping[str, Any]) -> tuple[Any, ...]:
    """A message in the order of the columns, from plain facts: nearly every row of a log is made here."""
    calls, results = facts.get("calls"), facts.get("results")
    return (
        event.position,
        event.workspace,
        session,
        facts["message"],
        facts["role"],
        facts["form"],
        event.run,
        facts["tokens"],
        event.trust,
        _names(calls) if calls else "[]",
        _names(results) if results else "[]",
    )


def _names(names: list[str]) -> str:
    # What json.dumps writes, at a quarter of its price (measured): most messages of an agent have a call or a result.
    return f"[{', '.join(map(encode_basestring_ascii, names))}]"


def run_started(event: LoggedEvent, session: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    owner = facts.get("owner")
    return {
        "position": event.position,
        "workspace": event.workspace,
        "session": session,
        "run": event.run or "",
        "status": "open",
        "reason": None,
        "imported": int(facts.get("imported", False)),
        "owner": None if owner is None else to_json(owner),
        "lease_seconds": facts.get("lease_seconds", 0.0),
        "started": event.time_text,
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
        "time": event.time_text,
    }


def new_session(workspace: str, name: str, position: int, time: str) -> dict[str, Any]:
    return {
        "workspace": workspace,
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
        "first_position": position,
        "last_position": position,
        "last_time": time,
    }


def usage(used: Mapping[str, Any]) -> dict[str, int]:
    return {"input_tokens": used.get("input_tokens", 0), "output_tokens": used.get("output_tokens", 0)}
