"""Is everything as the log says? And making again what is not (E1, E2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...domain.errors import MemoryFault, MinutebookError
from ..store.rebuild import Progress
from ..store.verification import verify_log
from .publisher import Publisher
from .runtime import Runtime


def verify(runtime: Runtime, publisher: Publisher) -> dict[str, Any]:
    """Replays the log, checks its chain, recomputes every projection, compares the file: the first difference is named.

    Reads only. ``checks`` are ``log``, one a projection, ``unprojected`` and ``memory_file_on_disk``.
    """
    report = verify_log(runtime.log)
    checks = [
        _check(
            "log",
            report.ok,
            report.detail if not report.ok else f"{report.events:,} events, every link and digest recomputed",
        )
    ]
    checks.extend(_projection(runtime, name) for name in runtime.projections.names)
    checks.extend(
        _check(f"projection {name}", False, f"not loaded: {error.code}: {error.message}")
        for name, error in runtime.projections.failed.items()
        if name not in runtime.projections.names and error.code not in ("plug_in_retired", "plug_in_not_enabled")
    )
    checks.append(_unprojected(runtime))
    checks.append(_safely("memory_file_on_disk", lambda: _file(publisher)))
    return {
        "ok": all(check["ok"] for check in checks),
        "events": report.events,
        "head": report.head,
        "chain": runtime_chain(runtime),
        "checks": checks,
    }


def runtime_chain(runtime: Runtime) -> str | None:
    try:
        return runtime.log.head().chain.hex()
    except MinutebookError:
        return None


def _projection(runtime: Runtime, name: str) -> dict[str, Any]:
    def check() -> dict[str, Any]:
        if runtime.log.database.absent and not runtime.writes:
            return _check(f"projection {name}", True, "there is no book yet, and so no row")
        report = runtime.projections.verify(name)
        return _check(f"projection {name}", report.ok, report.detail)

    return _safely(f"projection {name}", check)


def _unprojected(runtime: Runtime) -> dict[str, Any]:
    def check() -> dict[str, Any]:
        named = [
            f"{row.name}: {what} {', '.join(map(str, positions[:5]))}"
            for row in runtime.projections.status()
            for what, positions in (("parked", row.parked), ("skipped", row.skipped))
            if positions
        ]
        return _check("unprojected", not named, "; ".join(named) or "no event was parked or skipped")

    return _safely("unprojected", check)


def _file(publisher: Publisher) -> dict[str, Any]:
    found = publisher.state()
    if found.clean:
        detail = f"revision {found.revision}" if found.revision else "no revision yet, and no file"
        return _check("memory_file_on_disk", True, detail)
    return _check("memory_file_on_disk", found.state == "remote", f"{found.state}: {found.detail}")


def _safely(name: str, check: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return check()
    except MinutebookError as error:
        return _check(name, False, f"{error.code}: {error.message}")


def _check(name: str, ok: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail}


def rebuild(
    runtime: Runtime, publisher: Publisher, names: Sequence[str], progress: Progress | None = None
) -> list[dict[str, Any]]:
    """Makes projections again from the log, and the memory file when it is missing (E2, D11).

    ``progress`` is called after each part with the name, the position reached and the head.

    Raises MemoryFault ``memory_drift`` when the memory file is named and was edited: nothing is overwritten.
    """
    chosen = tuple(names) or runtime.projections.names
    state = publisher.state() if "memory_file" in chosen else None
    if state is not None and state.state in ("drift", "unadopted") and names:
        raise MemoryFault(f"MEMORY.md was edited by hand and would be overwritten: {state.detail}", code="memory_drift")
    rows = []
    for name in chosen:
        runtime.projections.rebuild(name, progress=progress)
        note = None
        if name == "memory_file" and state is not None:
            note = _rebuild_file(publisher, state.state)
        status = next(row for row in runtime.projections.status() if row.name == name)
        rows.append(
            {
                "name": name,
                "version": status.version,
                "cursor": status.cursor,
                "head": status.head,
                "generation": status.generation,
                "digest": runtime.projections.dump_hash(name),
                "note": note,
            }
        )
    return rows


def _rebuild_file(publisher: Publisher, state: str) -> str | None:
    if state == "missing":
        return "MEMORY.md was written again" if publisher.rebuild_file() else None
    return "MEMORY.md was edited by hand and was left alone" if state in ("drift", "unadopted") else None
