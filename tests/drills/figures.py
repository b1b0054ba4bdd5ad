"""The tables of the drill of scaling, and their place in the page."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scaling import Measured

BEGIN, END = "<!-- figures of make drill-scaling: begin -->", "<!-- figures of make drill-scaling: end -->"


@dataclass
class Found:
    """All that one run of the drill measured."""

    seconds: float
    rounds: int
    version: str = ""
    idle: tuple[float, float] = (0.0, 0.0)
    """Share of the machine's processors that nobody used, before the drill and after it."""
    connections: list[Measured] = field(default_factory=list)
    workspaces: list[tuple[int, Measured]] = field(default_factory=list)
    databases: list[tuple[int, Measured]] = field(default_factory=list)
    vacuum: list[tuple[str, Measured, int, dict[str, Any]]] = field(default_factory=list)
    sizes: list[tuple[int, float, dict[str, Measured], dict[str, int], int]] = field(default_factory=list)
    sqlite: list[Measured] = field(default_factory=list)


def line(done: Measured, what: str) -> str:
    """One load in a line, while the drill runs."""
    calls = ", ".join(
        f"{call} {done.rate(call):,.0f}/s, {done.milliseconds(0.5, call):.2f} / {done.milliseconds(0.99, call):.2f} ms"
        for call in done.took
        if call in ("floor", "log", "early", "append", "context", "curate")
    )
    waits = ", ".join(f"{name} {done.waiting(name):.0%}" for name, _ in done.waits.most_common(4))
    refused = f"; refused {dict(done.refused)}" if done.refused else ""
    cpu = f"cpu server {done.server_cpu / done.seconds:.2f} client {done.client_cpu / done.seconds:.2f}"
    return f"{what}: {done.kind} x{done.processes}: {calls}; {waits}; {cpu}{refused}"


def tables(found: Found) -> str:
    """Everything as Markdown, without a date and without a name of the machine."""
    pieces = [
        f"Measured on a machine of {os.cpu_count()} cores, which clients and server share, with PostgreSQL "
        f"{found.version} as it comes (`fsync` and `synchronous_commit` on), SQLite {sqlite3.sqlite_version} and "
        f"Python {'.'.join(platform.python_version_tuple()[:2])}: each figure over {found.seconds:g} seconds"
        + (f", the median of {found.rounds} rounds (lowest to highest in brackets)." if found.rounds > 1 else ".")
        + f" Before the drill {found.idle[0]:.0%} of the processors were idle, after it {found.idle[1]:.0%}: the rest "
        "was other work on the machine, and makes each figure worse.",
        *_connections(found),
        *_databases(found),
        *_workspaces(found),
        *_sizes(found),
        *_vacuum(found),
        *_sqlite(found),
    ]
    return "\n\n".join(pieces)


def _connections(found: Found) -> Iterable[str]:
    yield "### Processes on one PostgreSQL"
    rows = []
    for count in dict.fromkeys(done.processes for done in found.connections):
        floor, log, early, append = (
            _of(found.connections, kind, count) for kind in ("floor", "log", "early", "append")
        )
        cores = (median(done.server_cpu / done.seconds for done in append), median(map(_client, append)))
        rows.append(
            (
                count,
                _rate(floor, "floor"),
                _rate(log, "log"),
                _rate(early, "early"),
                _rate(append, "append"),
                _took(append, "append"),
                _share(log, "head"),
                _share(log, "disk"),
                f"{cores[0]:.2f} + {cores[1]:.2f}",
            )
        )
    yield _table(
        (
            "processes", "floor, a second", "the log's function alone", "the same, head let go early", "`run.append`",
            "`run.append`, p50 / p99 ms", "waits for the head row", "waits for the disk", "cores: server + clients",
        ),
        rows,
    )  # fmt: skip
    rows = []
    for count in dict.fromkeys(done.processes for done in found.connections):
        agent = _of(found.connections, "agent", count)
        rows.append(
            (
                count, _rate(agent, "append"), _took(agent, "append"), _rate(agent, "context"), _took(agent, "context"),
                _took(agent, "curate"), _share(agent, "head"), _share(agent, "locks"), _refused(agent),
            )
        )  # fmt: skip
    yield "The same, as agents work: append, ask for a context, remember, curate; a workspace for each."
    yield _table(
        (
            "agents", "appends a second", "append, p50 / p99 ms", "contexts a second", "context, p50 / p99 ms",
            "curation, p50 / p99 ms", "waits for rows", "other locks", "refused",
        ),
        rows,
    )  # fmt: skip


def _workspaces(found: Found) -> Iterable[str]:
    rows = [
        (count, done.processes, _rate([done], "append"), _took([done], "append"), _took([done], "context"),
         _took([done], "curate"), _refused([done]))
        for count, done in found.workspaces
    ]  # fmt: skip
    yield "As many agents in one workspace, and in one each:"
    yield _table(
        (
            "workspaces", "agents", "appends a second", "append, p50 / p99 ms", "context, p50 / p99 ms",
            "curation, p50 / p99 ms", "refused",
        ),
        rows,
    )  # fmt: skip


def _databases(found: Found) -> Iterable[str]:
    rows = [
        (count, done.processes, _rate([done], "append"), _took([done], "append"), _share([done], "head"))
        for count, done in found.databases
    ]
    yield "As many processes, spread over several databases of the same server; each has a head row of its own:"
    yield _table(("databases", "processes", "`run.append`, a second", "p50 / p99 ms", "waits for a head row"), rows)


def _sizes(found: Found) -> Iterable[str]:
    yield "### Size of the store"
    rows = []
    for there, fill, loads, size, _ in found.sizes:
        append, context, agent = loads["append"], loads["context"], loads["agent"]
        rows.append(
            (
                f"{there:,}", f"{fill:,.0f}", _took([append], "append"), _took([context], "context"),
                _rate([agent], "append"), _took([agent], "context"),
                *(f"{size[name] / there:,.0f}" for name in ("log", "indexes", "projections")),
                f"{sum(size.values()) / 1e9:.2f}",
            )
        )  # fmt: skip
    yield _table(
        (
            "events", "filled in batches, a second", "append, p50 / p99 ms", "context of 200 messages, p50 / p99 ms",
            "agents: appends a second", "agents: context, p50 / p99 ms", "log, bytes an event",
            "its indexes, bytes an event", "all else, bytes an event", "GB",
        ),
        rows,
    )  # fmt: skip


def _vacuum(found: Found) -> Iterable[str]:
    yield "### The head row and autovacuum"
    rows = [
        (automatic, f"{events:,}", _rate([done], "append"), _took([done], "append"),
         f"{seen['hot'] / max(1, seen['updated']):.1%}", f"{seen['dead']:,}", seen["vacuums"], f"{seen['bytes']:,}")
        for automatic, done, events, seen in found.vacuum
    ]  # fmt: skip
    yield _table(
        (
            "autovacuum", "events after it", "`run.append`, a second", "p50 / p99 ms", "updates within the page (HOT)",
            "dead rows of the head", "times vacuumed", "bytes of its table",
        ),
        rows,
    )  # fmt: skip


def _sqlite(found: Found) -> Iterable[str]:
    yield "### Processes on one SQLite file"
    rows = []
    for count in dict.fromkeys(done.processes for done in found.sqlite):
        floor, append, agent = (_of(found.sqlite, kind, count) for kind in ("floor", "append", "agent"))
        rows.append(
            (
                count, _rate(floor, "floor"), _rate(append, "append"), _took(append, "append"), _rate(agent, "append"),
                _took(agent, "context"), _refused([*append, *agent]),
            )
        )  # fmt: skip
    yield _table(
        (
            "processes", "floor, a second", "`run.append`, a second", "p50 / p99 ms", "agents: appends a second",
            "agents: context, p50 / p99 ms", "refused",
        ),
        rows,
    )  # fmt: skip


def _of(loads: Iterable[Measured], kind: str, processes: int) -> list[Measured]:
    return [done for done in loads if (done.kind, done.processes) == (kind, processes)]


def _rate(rounds: Sequence[Measured], call: str) -> str:
    rates = [done.rate(call) for done in rounds]
    text = f"{median(rates):,.0f}"
    return text if len(rates) == 1 else f"{text} ({min(rates):,.0f} to {max(rates):,.0f})"


def _took(rounds: Sequence[Measured], call: str) -> str:
    return " / ".join(f"{median(done.milliseconds(share, call) for done in rounds):.1f}" for share in (0.5, 0.99))


def _share(rounds: Sequence[Measured], what: str) -> str:
    return f"{median(done.waiting(what) for done in rounds):.0%}"


def _refused(rounds: Iterable[Measured]) -> str:
    total: Counter[str] = Counter()
    for done in rounds:
        total.update(done.refused)
    return ", ".join(f"{count} {what}" for what, count in sorted(total.items())) or "none"


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _client(done: Measured) -> float:
    return float(done.client_cpu / done.seconds)


def into(page: Path, text: str) -> None:
    """Puts the tables between their markers."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")
