"""Why is this line in the context, why is that message not, and what changed between two positions (E4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...domain.catalogue import CompactionCommitted, ReductionDecided
from ...domain.context import Built, Line, build, digest
from ...domain.errors import InputError
from ...domain.events import LoggedEvent
from ...domain.message import Text, ToolCall, ToolResult
from ...projections.context import history, queries
from ...projections.revisions import queries as revisions
from . import conversation
from .freezer import Freezer, Frozen
from .requests import Requests
from .runtime import Runtime
from .tracing import trace
from .visible import Reader

TEXT_CHARS = 200
"""Of a line's text: enough to know it again."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """A session at a position: what is shown, every original with its state, and where the preamble comes from."""

    session: str
    position: int
    built: Built
    frozen: Frozen | None
    originals: dict[int, history.MessageRow]
    events: dict[int, LoggedEvent]
    preamble_at: int | None
    frozen_at: int | None
    revision_at: int | None


def look(runtime: Runtime, session: str, freezer: Freezer, at: int | None) -> Look:
    """Reads only, and asks for no fit: also what is too large for the window can be explained."""
    conversation.require_session(runtime, session)
    seen = Reader(runtime, session).see(at)
    requests = Requests(runtime, session, freezer)
    frozen, preamble = requests.last(seen.position)
    preamble_at, frozen_at = requests.origins(seen.position)
    with runtime.projections.reading("context") as (view, connection):
        rows = history.messages(view, connection, runtime.workspace, session, seen.position)
    with runtime.projections.reading("revisions") as (view, connection):
        revision = revisions.at_position(view, connection, runtime.workspace, frozen_at or seen.position)
    originals = {row.position: row for row in rows}
    wanted = {place for row in rows for place in (row.position, row.reduction, row.summary) if place is not None}
    return Look(
        session,
        seen.position,
        build(seen.visible, preamble),
        frozen,
        originals,
        runtime.log.at(wanted),
        preamble_at,
        frozen_at,
        None if revision is None else revision.position,
    )


def blame(runtime: Runtime, session: str, freezer: Freezer, message: int | str | None, at: int | None) -> Row:
    """Every line with ``why`` it is there and ``because`` of which events; ``hidden``: the messages that are not.

    With ``message`` (a position, an id of a message or compaction) only that one, and under ``chain`` the events
    that led to it. Raises InputError ``not_in_session``.
    """
    seen = look(runtime, session, freezer, at)
    lines = [_line(seen, line) for line in seen.built.lines]
    hidden = [_hidden(seen, row) for row in seen.originals.values() if row.state == "compacted"]
    answer: Row = {"session": session, "position": seen.position}
    if message is None:
        return {**answer, "preamble": _preamble(seen), "lines": lines, "hidden": hidden}
    lines = [line for line in lines if _means(line, message)]
    hidden = [row for row in hidden if _means(row, message)]
    if not lines and not hidden:
        hidden = [_later(runtime, seen, message)]
    chain = _chain(runtime, [place for row in (*lines, *hidden) for place in row["because"]])
    return {**answer, "preamble": [], "lines": lines, "hidden": hidden, "chain": chain}


def diff(runtime: Runtime, session: str, freezer: Freezer, a: int, b: int) -> Row:
    """What the context at position ``b`` has that it had not at ``a``, what it has no longer, and why."""
    old, new = look(runtime, session, freezer, a), look(runtime, session, freezer, b)
    before, after = _keyed(old.built.lines), _keyed(new.built.lines)
    return {
        "session": session,
        "from": _side(old),
        "to": _side(new),
        "preamble": [
            part
            for part, then, now in (
                ("system", old.built.preamble.system, new.built.preamble.system),
                ("memory", old.built.preamble.memory, new.built.preamble.memory),
                ("tools", old.built.preamble.tools, new.built.preamble.tools),
            )
            if then != now
        ],
        "added": [_line(new, line) for key, line in after.items() if key not in before],
        "removed": [_gone(runtime, old, new, line) for key, line in before.items() if key not in after],
        "changed": [
            {**_line(new, line), "was": before[key].state, "text_was": _text(before[key])}
            for key, line in after.items()
            if key in before and (before[key].state, before[key].parts) != (line.state, line.parts)
        ],
    }


def _side(seen: Look) -> Row:
    return {
        "position": seen.position,
        "messages": len(seen.built.lines),
        "tokens": seen.built.tokens,
        "memory_revision": None if seen.frozen is None else seen.frozen.revision,
        "digest": digest(seen.built),
    }


def _keyed(lines: Iterable[Line]) -> dict[tuple[str, str, int], Line]:
    """Lines by what they are: a message whose late result was brought back stands in two lines."""
    count: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, str, int], Line] = {}
    for line in lines:
        count[line.id, line.role] += 1
        found[line.id, line.role, count[line.id, line.role]] = line
    return found


# --- why


def _line(seen: Look, line: Line) -> Row:
    row = {"position": line.position, "id": line.id, "role": line.role, "state": line.state, "text": _text(line)}
    match line.state:
        case "summary":
            return {**row, **_of_summary(seen, line)}
        case "synthetic":
            why = "no result is recorded for this call, and no provider takes a call without one; never stored"
            return {**row, "why": why, "because": [line.position]}
        case "reduced":
            why, because = _of_reduction(seen, seen.originals[line.position])
        case _:
            why, because = "recorded" + _by(seen, line.position), [line.position]
            if seen.events[line.position].erased:
                why += "; its text was erased"
    repairs = [note.partition(": ")[2] for note in seen.built.notes if note.startswith(f"{line.id}: ")]
    return {**row, "why": "; ".join([why, *repairs]), "because": because}


def _by(seen: Look, position: int) -> str:
    event = seen.events[position]
    run = "" if event.run is None else f" in run {event.run}"
    origin = "" if event.session == seen.session else f" in session {event.session}, from which this one was forked"
    return f" by {event.actor}{run}{origin}"


def _of_summary(seen: Look, line: Line) -> Row:
    place = next((row.summary for row in seen.originals.values() if row.compaction == line.id), None)
    committed = None if place is None else seen.events[place].body
    covered = f"it stands for {len(line.covers):,} messages, {line.covers[0]} to {line.covers[-1]}"
    if place is None or not isinstance(committed, CompactionCommitted):
        return {"why": covered, "because": []}
    return {"why": f"{covered}; written by {committed.summarizer} under {committed.policy}", "because": [place]}


def _of_reduction(seen: Look, row: history.MessageRow) -> tuple[str, list[int]]:
    assert row.reduction is not None
    decided = seen.events[row.reduction].body
    assert isinstance(decided, ReductionDecided | CompactionCommitted)
    fact = next((fact for fact in decided.reductions if fact.message == row.message), None)
    sizes = "" if fact is None else f", {fact.tokens_after:,} tokens for {fact.tokens_before:,}"
    why = f"its tool payload is shown shorter since event {row.reduction}{sizes}, under {decided.policy}"
    return why, [row.position, row.reduction]


def _hidden(seen: Look, row: history.MessageRow) -> Row:
    where = {"position": row.position, "id": row.message, "role": row.role, "state": row.state}
    if row.summary is None:
        return {**where, "compaction": None, "why": "no summary covers it; rebuild the projection", "because": []}
    why = f"the summary of compaction {row.compaction} stands for it since event {row.summary}"
    return {**where, "compaction": row.compaction, "why": why, "because": [row.position, row.summary]}


def _preamble(seen: Look) -> list[Row]:
    preamble, found = seen.built.preamble, []
    recorded = [] if seen.preamble_at is None else [seen.preamble_at]
    for part, there in (("system", preamble.system), ("tools", preamble.tools)):
        if there:
            found.append({"part": part, "why": "given by the caller with a request", "because": recorded})
    if preamble.memory and seen.frozen is not None:
        how = "frozen at this session's first request" if seen.frozen.frozen else "the latest; no request froze one yet"
        because = [place for place in (seen.revision_at, seen.frozen_at) if place is not None]
        found.append({"part": "memory", "why": f"revision {seen.frozen.revision}, {how}", "because": because})
    return found


def _gone(runtime: Runtime, old: Look, new: Look, line: Line) -> Row:
    """A line that stood there before, with why it does no longer."""
    row = {"position": line.position, "id": line.id, "role": line.role, "state": line.state, "text": _text(line)}
    original = new.originals.get(line.position)
    if line.state == "summary":
        with runtime.projections.reading("context") as (view, connection):
            done = history.compactions(view, connection, runtime.workspace, new.session, new.position)
        status = next((item.status for item in done if item.compaction == line.id), "not there yet")
        return {**row, "why": f"this compaction is {status}", "because": _of_summary(old, line)["because"]}
    if original is None:
        return {**row, "why": f"it was recorded after position {new.position}", "because": [line.position]}
    if original.state == "compacted":
        hidden = _hidden(new, original)
        return {**row, "why": hidden["why"], "because": hidden["because"]}
    return {**row, "why": "a result is recorded by now, or stands in another line", "because": [line.position]}


# --- one message


def _means(row: Row, message: int | str) -> bool:
    if isinstance(message, int):
        # A summary stands at the position of the first message that it covers: its own is that of its event.
        return message in row["because"] if row["state"] == "summary" else bool(row["position"] == message)
    return bool(row["id"] == message)


def _later(runtime: Runtime, seen: Look, message: int | str) -> Row:
    """A message that the session has only after the position. Raises InputError ``not_in_session``."""
    with runtime.projections.reading("context") as (view, connection):
        if isinstance(message, str):
            ids: dict[str, int] = queries.positions_of(view, connection, runtime.workspace, seen.session, [message])
            rows = [(name, place) for name, place in ids.items()]  # noqa: C416 - a list of pairs
        else:
            listed = history.messages(view, connection, runtime.workspace, seen.session)
            rows = [(row.message, row.position) for row in listed if row.position == message]
    if not rows or rows[0][1] <= seen.position:
        raise InputError(
            f"session {seen.session!r} has no message or compaction {message!r}; 'minutebook session messages' lists "
            "its messages, 'minutebook trace POSITION' explains any other event",
            code="not_in_session",
        )
    name, place = rows[0]
    why = f"it was recorded at {place}, after position {seen.position}"
    return {"position": place, "id": name, "role": None, "state": "later", "compaction": None, "why": why,
            "because": [place]}  # fmt: skip


def _chain(runtime: Runtime, places: Iterable[int]) -> list[Row]:
    """The events at these positions and what caused them, in log order."""
    found: dict[int, Row] = {}
    for place in dict.fromkeys(places):
        for row in trace(runtime, place):
            if row["relation"] == "self":
                found[row["position"]] = row
            elif row["relation"] == "cause":
                found.setdefault(row["position"], row)
    return [found[place] for place in sorted(found)]


def _text(line: Line) -> str:
    pieces = []
    for part in line.parts:
        match part:
            case Text(text):
                pieces.append(text)
            case ToolCall(_, name, arguments):
                pieces.append(f"→ {name} {arguments}")
            case ToolResult(_, text):
                pieces.append(f"← {text}")
            case _:
                pieces.append(f"[{type(part).__name__.lower()}]")
    return "\n".join(pieces)[:TEXT_CHARS]
