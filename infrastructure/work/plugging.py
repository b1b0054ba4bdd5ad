"""What the log says of plug-ins: when a workspace began to run which code, and when it ceased (E5)."""

from __future__ import annotations

from collections.abc import Iterable

from ...domain.catalogue import ProjectionDisabled, ProjectionEnabled
from ...domain.errors import MinutebookError, StoreError, StreamConflict
from ...domain.events import Event
from ...domain.streams import projection_stream
from ..store import cursors
from ..store.log import Log
from .runtime import Runtime

Code = tuple[str, str, int]
"""Package, release, and version of the projection."""

RETRIES = 5


def running(log: Log, workspace: str) -> dict[str, Code]:
    """The plug-ins that the log says this workspace runs, each with the code that was last told."""
    found: dict[str, Code] = {}
    for event in log.read(topics=(ProjectionEnabled.TOPIC, ProjectionDisabled.TOPIC), workspace=workspace):
        match event.body:
            case ProjectionEnabled() as body:
                found[body.projection] = (body.package, body.release, body.projection_version)
            case ProjectionDisabled() as body:
                found.pop(body.projection, None)
            case _:
                pass
    return found


def withheld(log: Log, workspace: str, names: Iterable[str], *, reader: bool) -> dict[str, MinutebookError]:
    """Plug-ins that are not imported though the settings name them, each with the reason.

    A person retired it; or this is a reader, and the log does not say yet that the workspace runs it.
    """
    found: dict[str, MinutebookError] = {}
    if not names:
        return found
    known = running(log, workspace) if reader else {}
    with log.database.reading() as connection:
        retired = {cursor.name for cursor in cursors.every(connection) if cursor.status == "retired"}
    for name in names:
        if name in retired:
            found[name] = StoreError(
                f"projection {name!r} was retired; run 'minutebook projections resume {name}' to let it go on",
                code="plug_in_retired",
            )
        elif reader and name not in known:
            found[name] = StoreError(
                f"plug-in {name!r} is named in the settings and not enabled yet; the next command that writes does it, "
                f"for instance 'minutebook projections rebuild {name}'",
                code="plug_in_not_enabled",
            )
    return found


def settle(runtime: Runtime) -> list[str]:
    """Appends what changed: ``ProjectionEnabled`` for what runs now, ``ProjectionDisabled`` for what no longer does.

    Returns the projections that were enabled or disabled. One that is named and failed to load stays as it was.
    """
    loaded, wanted = runtime.projections.origins, set(runtime.settings.projections)
    for attempt in range(RETRIES):
        known = running(runtime.log, runtime.workspace)
        changed = [name for name, code in loaded.items() if known.get(name) != code]
        gone = [name for name in known if name not in wanted]
        try:
            events = [_enabled(runtime, name, loaded[name]) for name in changed]
            events += [_disabled(runtime, name) for name in gone]
            if events:
                runtime.log.append(events)
            return [*changed, *gone]
        except StreamConflict:
            if attempt == RETRIES - 1:
                raise
    return []


def _enabled(runtime: Runtime, name: str, code: Code) -> Event:
    package, release, version = code
    stream = projection_stream(name)
    envelope = runtime.envelope(stream, runtime.log.version(stream) + 1, actor="settings")
    return ProjectionEnabled(
        envelope=envelope, projection=name, projection_version=version, package=package, release=release
    )


def _disabled(runtime: Runtime, name: str) -> Event:
    stream = projection_stream(name)
    envelope = runtime.envelope(stream, runtime.log.version(stream) + 1, actor="settings")
    return ProjectionDisabled(envelope=envelope, projection=name)
