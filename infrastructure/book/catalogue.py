"""Which projections a book has: the built-in ones, and plug-ins that the settings name (E5)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

from ...domain.errors import InputError
from ...projections.candidates import Candidates
from ...projections.context import Context
from ...projections.evidence import Evidence
from ...projections.memory_file import MemoryFile
from ...projections.projection import Projection
from ...projections.revisions import Revisions

GROUP = "minutebook.projections"
BUILT_IN: tuple[type[Projection], ...] = (Context, Candidates, Evidence, Revisions, MemoryFile)


def standard(plugins: Sequence[str] = ()) -> list[type[Projection]]:
    """The built-in projections and the named plug-ins; nothing else is imported.

    Raises InputError ``unknown_plug_in``.
    """
    found: list[type[Projection]] = list(BUILT_IN)
    if not plugins:
        return found
    offered = {point.name: point for point in entry_points(group=GROUP)}
    for name in plugins:
        if name not in offered:
            raise InputError(
                f"no installed package offers a projection {name!r} (entry-point group {GROUP!r}); install it, or take "
                f"it out of the setting 'projections'; offered are: {', '.join(sorted(offered)) or 'none'}",
                code="unknown_plug_in",
            )
        loaded = offered[name].load()
        if not (isinstance(loaded, type) and issubclass(loaded, Projection)):
            raise InputError(f"plug-in {name!r} is no Projection subclass; ask its author", code="bad_plug_in")
        found.append(loaded)
    return found
