"""Which projections a book has: the built-in ones, and plug-ins that the settings name (E5).

What packages offer is read from their metadata: listing imports nothing. One that cannot be loaded is left out, with
the reason, and keeps nobody else from working.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from ...domain.errors import InputError, MinutebookError
from ...projections.candidates import Candidates
from ...projections.context import Context
from ...projections.evidence import Evidence
from ...projections.memory_file import MemoryFile
from ...projections.projection import Projection
from ...projections.revisions import Revisions
from ...projections.search_index import SearchIndex
from ...projections.search_vectors import vectors_by
from ..settings import Settings
from ..store.binding import Bound, apart, bind
from ..store.log import Log
from ..store.runner import Projections
from ..work import plugging

if TYPE_CHECKING:
    from ..work.meaning import Meaning

GROUP = "minutebook.projections"
BUILT_IN: tuple[type[Projection], ...] = (Context, Candidates, Evidence, Revisions, MemoryFile, SearchIndex)


@dataclass(frozen=True, slots=True)
class Offer:
    """A plug-in that an installed package offers: its name, the package and its release, and where the class stands."""

    name: str
    package: str
    release: str
    target: str
    point: EntryPoint = field(repr=False)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The projections of a book, the offers that the plug-ins among them came from, and the plug-ins that failed."""

    projections: tuple[type[Projection], ...]
    offers: Mapping[str, Offer]
    failed: Mapping[str, MinutebookError]


def offered() -> list[Offer]:
    """Every plug-in that is installed, by name; nothing of it is imported."""
    found = []
    for point in entry_points(group=GROUP):
        package: Any = point.dist
        name, release = ("", "") if package is None else (package.name, package.version)
        found.append(Offer(point.name, str(name or ""), str(release or ""), point.value, point))
    return sorted(found, key=lambda offer: (offer.name, offer.package))


def load(
    names: Sequence[str] = (),
    withheld: Mapping[str, MinutebookError] | None = None,
    meaning: Meaning | None = None,
) -> Loaded:
    """The built-in projections, the vectors where somebody embeds, and the named plug-ins.

    Nobody imports those that are ``withheld``.
    """
    found: list[type[Projection]] = list(BUILT_IN)
    if meaning is not None:
        found.append(vectors_by(meaning.embedder))
    bounds: list[Bound] = [bind(each) for each in found] if names else []
    offers: dict[str, Offer] = {}
    failed: dict[str, MinutebookError] = dict(withheld or {})
    installed = offered() if names else []
    for name in dict.fromkeys(names):
        if name in failed:
            continue
        try:
            offer = _offer(name, installed)
            loaded = _class(offer)
            bounds = [*bounds, bind(loaded)]
            apart(bounds)
        except InputError as error:
            failed[name] = error
            bounds = bounds[: len(found)]
            continue
        found.append(loaded)
        offers[name] = offer
    return Loaded(tuple(found), offers, failed)


def projections_of(log: Log, settings: Settings, meaning: Meaning | None = None) -> Projections:
    """The projections of a book. Of the plug-ins that its settings name a reader loads only what the log enables."""
    names, workspace = settings.projections, settings.workspace_id
    withheld = plugging.withheld(log, workspace, names, reader=log.database.access != "write")
    loaded = load(names, withheld, meaning)
    engine = Projections(log, loaded.projections, seconds_max=settings.projection_seconds_max)
    engine.failed.update(loaded.failed)
    for each in loaded.projections:
        if each.name in loaded.offers and each.name not in engine.failed:
            offer = loaded.offers[each.name]
            engine.origins[each.name] = (offer.package, offer.release, each.version)
    return engine


def available(engine: Projections, named: Sequence[str]) -> list[dict[str, Any]]:
    """Every plug-in that is installed or named, with where it comes from and whether it runs; imports nothing."""
    installed = offered()
    missing = [name for name in named if name not in {offer.name for offer in installed}]
    rows = [
        *(_available(engine, named, each.name, (each.package, each.release, each.target)) for each in installed),
        *(_available(engine, named, name, (None, None, None)) for name in missing),
    ]
    return sorted(rows, key=lambda row: str(row["name"]))


def _available(
    engine: Projections, named: Sequence[str], name: str, origin: tuple[str | None, str | None, str | None]
) -> dict[str, Any]:
    error = engine.failed.get(name)
    if name not in named:
        status = "available"
    elif error is None:
        status = "enabled"
    else:
        status = {"plug_in_not_enabled": "named", "plug_in_retired": "retired"}.get(error.code, "failed")
    return {
        "name": name,
        "package": origin[0],
        "version": origin[1],
        "target": origin[2],
        "status": status,
        "error": None if error is None else f"{error.code}: {error.message}",
    }


def _offer(name: str, installed: list[Offer]) -> Offer:
    matching = [offer for offer in installed if offer.name == name]
    if not matching:
        raise InputError(
            f"no installed package offers a projection {name!r} (entry-point group {GROUP!r}); install it, or take it "
            "out of the setting 'projections'; offered are: "
            f"{', '.join(dict.fromkeys(offer.name for offer in installed)) or 'none'}",
            code="unknown_plug_in",
        )
    if len(matching) > 1:
        packages = " and ".join(f"{offer.package} {offer.release}" for offer in matching)
        raise InputError(f"{packages} both offer a projection {name!r}; remove one", code="ambiguous_plug_in")
    return matching[0]


def _class(offer: Offer) -> type[Projection]:
    try:
        loaded: Any = offer.point.load()
    except (Exception, SystemExit) as error:
        raise InputError(
            f"plug-in {offer.name!r} ({offer.package} {offer.release}) cannot be imported from {offer.target}: "
            f"{type(error).__name__}: {error}; mend or update that package",
            code="plug_in_not_imported",
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Projection)):
        raise InputError(
            f"plug-in {offer.name!r} ({offer.package} {offer.release}) is no Projection subclass; ask its author",
            code="bad_plug_in",
        )
    named = getattr(loaded, "name", None)
    if named != offer.name:
        raise InputError(
            f"plug-in {offer.name!r} ({offer.package} {offer.release}) holds a projection named {named!r}; the entry "
            "point must have the same name, or nobody could say which is meant",
            code="bad_plug_in",
        )
    return loaded
