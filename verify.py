"""``python -m minutebook.verify FILE``: is an exported log whole and unchanged?

This file imports nothing of minutebook and nothing that must be installed. Copied to another machine it runs by
itself: ``python verify.py FILE``. The form that it checks is written down in docs/reference/log-export-format.md.

Exit status 0: every line fits; 1: the first line that does not, and why; 2: usage, or the file cannot be read.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any, NoReturn, Protocol

FORMAT, VERSION = "minutebook-log", 1
GENESIS = bytes(32)
LINE_BYTES_MAX = 1 << 30
"""More than the largest event can take: a line without an end is refused before it fills the memory."""
HEADER = ("format", "version", "head", "chain")
_TEXT, _COUNT, _NONE = (str,), (int,), (type(None),)
COLUMNS: dict[str, tuple[type, ...]] = {
    "position": _COUNT, "stream": _TEXT, "version": _COUNT, "topic": _TEXT, "schema": _COUNT, "workspace": _TEXT,
    "session": _TEXT + _NONE, "run": _TEXT + _NONE, "actor": _TEXT, "trust": _TEXT, "causation": _COUNT + _NONE,
    "time": _TEXT, "facts": _TEXT, "payload": _TEXT + _NONE, "salt": _TEXT + _NONE, "body_digest": _TEXT + _NONE,
    "chain": _TEXT, "erased_by": _COUNT + _NONE,
}  # fmt: skip
"""The keys of an event and what they may hold."""
FOREIGN = frozenset({"schema", "workspace", "session", "run", "actor", "trust", "causation", "time", "payload", "salt",
                     "body_digest", "erased_by"})  # fmt: skip
"""Null in an event that another application of the ``eventsourcing`` library wrote: it has no envelope."""
ERASED, ALLOWED = "PayloadsErased", "RelearningAllowed"
"""Events that erase: the one what the spans in its facts hold, the other the event that it was caused by."""


class Lines(Protocol):
    """A file, as far as it is needed."""

    def readline(self, size: int, /) -> bytes: ...


@dataclass(frozen=True)
class Report:
    """``line``, ``reason`` and ``detail`` say what does not fit first; ``events`` were read and are good up to there.

    ``chain`` (hex) is the chain at the last good event.
    """

    ok: bool
    events: int
    head: int
    chain: str
    line: int | None = None
    reason: str | None = None
    detail: str = ""
    erased: int = 0


class Misfit(Exception):
    """A line does not fit: a stable reason, and a sentence for people."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def verify(lines: Lines, anchor: tuple[int, bytes] | None = None) -> Report:
    """Checks a whole export, one line in memory at a time. Never raises over what stands in it.

    ``anchor`` is a position and the chain there, kept from an earlier look: the log must still pass through it.
    """
    walk = Walk(anchor)
    number = 1
    try:
        walk.begin(_line(lines))
        while line := _read(lines):
            number += 1
            walk.take(_parsed(line))
        number += 1
        walk.end()
    except Misfit as misfit:
        place = None if misfit.reason in ("head_differs", "anchor_differs") else number
        return Report(
            False, walk.position, walk.head, walk.chain.hex(), place, misfit.reason, misfit.detail, walk.erased
        )
    return Report(True, walk.position, walk.head, walk.chain.hex(), erased=walk.erased)


class Walk:
    """Where the check is, and the chain there."""

    def __init__(self, anchor: tuple[int, bytes] | None = None) -> None:
        self.position = self.head = self.erased = 0
        self.chain = GENESIS
        self._wanted = GENESIS
        self._anchor = anchor
        self._erased_by: dict[int, array[int]] = {}
        """What an event that is still to come is said to have erased: first, last, first, last."""

    def begin(self, header: dict[str, Any]) -> None:
        """Takes the first line."""
        if header.get("format") != FORMAT:
            raise Misfit("bad_header", "this is no exported log: the first line does not name its format")
        version = header.get("version")
        if version != VERSION or type(version) is not int:
            raise Misfit("unknown_version", f"the form has version {version!r}, and this program knows {VERSION}")
        head = header.get("head")
        if set(header) != set(HEADER) or type(head) is not int or not 0 <= head < 1 << 63:
            raise Misfit("bad_header", f"the first line must hold {', '.join(HEADER)}, and nothing else")
        self.head, self._wanted = head, _hex(header["chain"], 32, "the first line has no chain of 64 digits")

    def take(self, event: dict[str, Any]) -> None:
        """Takes the next event."""
        wanted = self.position + 1
        _check_shape(event)
        position = event["position"]
        if position > self.head:
            raise Misfit(
                "beyond_head", f"event {position} stands after the head, which the first line says is {self.head}"
            )
        if position > wanted:
            raise Misfit("missing_position", f"event {wanted} is missing: after {self.position} comes {position}")
        if position < wanted:
            raise Misfit("duplicate_position", f"event {position} comes again after event {self.position}")
        link = sha256(self.chain + position.to_bytes(8, "big") + envelope_digest(event)).digest()
        if link != _hex(event["chain"], 32, f"event {position} has no chain of 64 digits"):
            raise Misfit("broken_chain", f"event {position} is not what was appended: its link does not fit")
        self._check_payload(event)
        self._check_erasure(event)
        self.position, self.chain = position, link
        if self._anchor is not None and self._anchor[0] == position:
            self._check_anchor(self._anchor[1])

    def end(self) -> None:
        """After the last line."""
        if self.position < self.head:
            raise Misfit(
                "truncated", f"the file ends at event {self.position}: {self.position + 1} to {self.head} are missing"
            )
        if self.chain != self._wanted:
            raise Misfit("head_differs", f"the first line names another chain for its head, event {self.head}")
        if self._anchor is not None and (not self._anchor[0] or self._anchor[0] > self.head):
            self._check_anchor(self._anchor[1])

    def _check_anchor(self, wanted: bytes) -> None:
        assert self._anchor is not None
        position = self._anchor[0]
        if position > self.head:
            raise Misfit("anchor_differs", f"the log ends at {self.head}, and once it had an event {position}")
        if (self.chain if position else GENESIS) != wanted:
            raise Misfit("anchor_differs", f"event {position} had another chain when it was looked at before")

    def _check_payload(self, event: dict[str, Any]) -> None:
        position, payload, salt, by = event["position"], event["payload"], event["salt"], event["erased_by"]
        if event["body_digest"] is None:
            if not payload is salt is by is None:
                raise Misfit("altered_payload", f"event {position} was appended without a payload or an erasure")
            return
        body = _hex(event["body_digest"], 32, f"event {position} has no body_digest of 64 digits")
        if by is not None:
            if not 0 < by <= self.head:
                raise Misfit("bad_erasure", f"event {position} is erased by {by}, and the log has 1 to {self.head}")
            if not payload is salt is None:
                raise Misfit("bad_erasure", f"event {position} is named as erased, but its payload or salt is there")
            if by <= position:
                raise _not_erased(position, by)
            spans = self._erased_by.setdefault(by, array("q"))
            if spans and spans[-1] == position - 1:
                spans[-1] = position
            else:
                spans.extend((position, position))
            self.erased += 1
        elif payload is None or salt is None:
            raise Misfit("altered_payload", f"the payload of event {position} or its salt is gone, by no erasure")
        elif sha256(_hex(salt, None, f"event {position} has a salt that is not hex") + _utf8(payload)).digest() != body:
            raise Misfit("altered_payload", f"the payload of event {position} is not what was appended")

    def _check_erasure(self, event: dict[str, Any]) -> None:
        """Did this event erase what names it? Whatever is named stands before the head, so none is left at the end."""
        named = self._erased_by.pop(event["position"], None)
        if named is None:
            return
        spans, reach = _said_erased(event), 0
        for first, last in zip(named[::2], named[1::2], strict=True):
            for position in range(first, last + 1):
                while spans and spans[-1][0] <= position:
                    reach = max(reach, spans.pop()[1])
                if position > reach:
                    raise _not_erased(position, event["position"])


def _said_erased(event: dict[str, Any]) -> list[tuple[int, int]]:
    """The spans that an event erased, the last one first."""
    topic, cause = event["topic"], event["causation"]
    if topic == ALLOWED and cause is not None:
        return [(cause, cause)]
    if topic != ERASED or event["schema"] is None:
        return []
    try:
        spans = [(first, last) for first, last in json.loads(event["facts"])["spans"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []
    return sorted(spans, reverse=True) if all(type(each) is int for span in spans for each in span) else []


def _not_erased(position: int, by: int) -> Misfit:
    return Misfit("bad_erasure", f"event {position} is named as erased by event {by}, which did not erase it")


# --- the digest -----------------------------------------------------------------------------------------


def envelope_digest(event: dict[str, Any]) -> bytes:
    """What the chain is made of: all that is kept for ever, each text behind its length in characters."""
    foreign = event["schema"] is None
    version, schema, causation = event["version"], 0 if foreign else event["schema"], event["causation"]
    topic, workspace, session, run = event["topic"], event["workspace"] or "", event["session"], event["run"]
    actor, trust, time = event["actor"] or "", "external" if foreign else event["trust"], event["time"] or ""
    facts = _facts(event)
    text = (
        f"{version},{schema},{causation},{len(topic)}:{topic}{len(workspace)}:{workspace}"
        f"{'-' if session is None else len(session)}:{session}{'-' if run is None else len(run)}:{run}"
        f"{len(actor)}:{actor}{len(trust)}:{trust}{len(time)}:{time}{len(facts)}:"
    )
    body = event["body_digest"]
    tail = b"-" if body is None else _hex(body, 32, "body_digest has not 64 digits")
    stream = _hex(event["stream"].replace("-", ""), 16, "stream is no UUID")
    return sha256(stream + _utf8(text) + facts + tail).digest()


def _facts(event: dict[str, Any]) -> bytes:
    facts = event["facts"]
    if type(facts) is str:
        return _utf8(facts)
    try:
        return base64.b64decode(facts["base64"], validate=True)
    except (ValueError, TypeError) as error:
        raise Misfit("bad_line", "the facts are not base64") from error


# --- lines ----------------------------------------------------------------------------------------------


def _check_shape(event: dict[str, Any]) -> None:
    if event.keys() != COLUMNS.keys():
        others = ", ".join(sorted(event.keys() ^ COLUMNS.keys()))
        raise Misfit("bad_line", f"an event has not the keys that it should have: {others}"[:300])
    shape = tuple([type(event[name]) for name in COLUMNS])
    wrong = _misshapen(shape)
    if wrong is None:
        numbers = (event[name] for name, kind in zip(COLUMNS, shape, strict=True) if kind is int)
        wrong = None if all(-(1 << 63) <= number < 1 << 63 for number in numbers) else "a number"
    if wrong is None and type(event["facts"]) is dict and event["facts"].keys() != {"base64"}:
        wrong = "facts"
    if wrong is not None:
        raise Misfit("bad_line", f"an event has {wrong} in another form than it was exported in")
    if event["position"] < 1:
        raise Misfit("bad_line", "positions begin at 1")


@cache
def _misshapen(shape: tuple[type, ...]) -> str | None:
    """The first key whose value has not a type that it may have; most events of a log have one of three shapes."""
    kinds = dict(zip(COLUMNS, shape, strict=True))
    foreign = kinds["schema"] is type(None)
    for name, kind in kinds.items():
        if foreign and name in FOREIGN:
            fits = kind is type(None)
        elif foreign and name == "facts":
            fits = kind in (str, dict)
        else:
            fits = kind in COLUMNS[name]
        if not fits:
            return name
    return None


def _line(lines: Lines) -> dict[str, Any]:
    line = _read(lines)
    if not line:
        raise Misfit("truncated", "the file is empty")
    return _parsed(line)


def _read(lines: Lines) -> bytes:
    line = lines.readline(LINE_BYTES_MAX)
    if len(line) == LINE_BYTES_MAX:
        raise Misfit("bad_line", f"the line is longer than {LINE_BYTES_MAX:,} bytes")
    return line


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line.decode(), object_pairs_hook=_object, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        if not line.endswith(b"\n"):
            raise Misfit("truncated", "the file ends within a line") from error
        raise Misfit("bad_line", f"the line is no JSON: {error}"[:300]) from error
    if type(value) is not dict:
        raise Misfit("bad_line", "the line is no JSON object")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _hex(text: Any, size: int | None, otherwise: str) -> bytes:
    try:
        value = bytes.fromhex(text)
    except (TypeError, ValueError):
        value = None
    # Back again, since spaces and capitals would be let through.
    if value is None or value.hex() != text or (size is not None and len(value) != size):
        raise Misfit("bad_line", otherwise)
    return value


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Misfit("bad_line", "a text holds half of a surrogate pair") from error


# --- the command ----------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m minutebook.verify",
        description="Checks an exported log without the database: every line, link, digest and payload.",
        epilog="Exit status 0: every line fits; 1: the first line that does not, and why; 2: usage, unreadable.",
    )
    parser.add_argument("file", metavar="FILE", help="what 'minutebook export --log' wrote; '-' is standard input")
    parser.add_argument("--anchor", metavar="POSITION:CHAIN", type=_anchor,
                        help="a head that was noted before: the log must still pass through it")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    chosen = parser.parse_args(argv)
    try:
        if chosen.file == "-":
            report = verify(sys.stdin.buffer, chosen.anchor)
        else:
            with open(chosen.file, "rb") as lines:
                report = verify(lines, chosen.anchor)
    except OSError as error:
        sys.stderr.write(f"{chosen.file} cannot be read: {error.strerror or error}\n")
        return 2
    return _told(_as_json if chosen.json else _as_text, chosen.file, report)


def _told(form: Callable[[str, Report], str], file: str, report: Report) -> int:
    try:
        sys.stdout.write(form(file, report) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if report.ok else 1


def _as_json(file: str, report: Report) -> str:
    return json.dumps({"file": file, **vars(report)})


def _as_text(file: str, report: Report) -> str:
    if report.ok:
        erased = f", {report.erased:,} payloads erased" if report.erased else ""
        return f"{file}: {report.events:,} events, every line fits{erased}\nhead {report.head} chain {report.chain}"
    place = "" if report.line is None else f" line {report.line}:"
    # What a file says of itself must not steer the terminal.
    detail = report.detail.encode("unicode_escape").decode() if not report.detail.isprintable() else report.detail
    return f"{file}:{place} {report.reason}: {detail}\n{report.events:,} events before it fit"


def _anchor(text: str) -> tuple[int, bytes]:
    position, _, chain = text.partition(":")
    if not re.fullmatch(r"\d{1,18}", position) or not re.fullmatch(r"[0-9a-f]{64}", chain):
        raise argparse.ArgumentTypeError("an anchor is a position and 64 hex digits: 12:0af3...")
    return int(position), bytes.fromhex(chain)


if __name__ == "__main__":
    sys.exit(main())
