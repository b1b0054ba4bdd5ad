"""Likeness of meaning: vectors by wordllama or by a function that is given (extra ``vectors``; D17).

wordllama brings its weights along (16 MB, 256 dimensions) and works offline; it is the mean of the vectors of the
words, so it knows synonyms and no word order. Whatever embeds, a vector is kept as one signed byte a dimension: a
quarter of the room, the same on every machine, and no ranking of ours was another for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sqlalchemy import Connection

from ...domain.errors import InputError
from ...domain.ranking import DEPTH
from ...domain.search_query import ENTRIES, MESSAGES
from ...projections import search_vectors
from ...projections.search_index.packing import Key, key_of
from ...projections.search_vectors import Embedder, SearchVectors
from ..store.forking import ForkLock

Embed: TypeAlias = Callable[[list[str]], Any]
"""Gives each of the texts a vector, all of one length: lists of numbers, or a numpy array."""

LENGTH_FULL = 20
"""Words at which a text counts in full: two words are like a great deal."""
CHUNK = 8_192
"""Vectors multiplied at a time."""


class GivenEmbedder:
    """A function as an embedder; its ``name`` attribute, else where it was defined, says which."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        told = getattr(embed, "name", None)
        where = f"{getattr(embed, '__module__', '')}.{getattr(embed, '__qualname__', type(embed).__qualname__)}"
        self.name = told if isinstance(told, str) and told else where

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text. Raises InputError ``bad_embedding``."""
        try:
            answer = self._embed(list(texts))
        except Exception as error:
            raise InputError(
                f"the embedder {self.name!r} failed ({type(error).__name__}: {error}); mend it, then run 'minutebook "
                "projections retry search_vectors'",
                code="embedding_failed",
            ) from error
        try:
            made = np.asarray(answer, dtype=np.float32)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"the embedder {self.name!r} gave no rows of numbers of one length ({error}); correct it",
                code="bad_embedding",
            ) from error
        if made.ndim != 2 or len(made) != len(texts) or not made.shape[1]:
            raise InputError(
                f"the embedder {self.name!r} was given {len(texts)} texts and answered with the shape {made.shape}; "
                "it must give one vector a text",
                code="bad_embedding",
            )
        made = np.nan_to_num(made, nan=0.0, posinf=0.0, neginf=0.0)
        largest = np.abs(made).max(axis=1, keepdims=True)
        small = np.rint(made / np.where(largest > 0, largest, 1) * 127).astype(np.int8)
        return [row.tobytes() for row in small]


def wordllama() -> Embedder:
    """The embedder of the extra, from the files of its package alone. Raises ImportError without the extra."""
    import wordllama as package  # type: ignore[import-untyped]

    # The package looks for its own tokenizer in a folder that it does not have; named as a cache, it is found (0.4).
    place = Path(package.__file__).parent
    model = package.WordLlama.load(cache_dir=place, disable_download=True)

    def embed(texts: list[str]) -> Any:
        return model.embed(texts, norm=False)

    embed.name = f"wordllama {version('wordllama')} l2_supercat_256"  # type: ignore[attr-defined]
    return GivenEmbedder(embed)


@dataclass
class _Space:
    """The vectors of one generation of the projection, as far as they were read."""

    view: SearchVectors
    generation: int
    position: int = 0
    keys: list[Key] = field(default_factory=list)
    sessions: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    parts: list[Any] = field(default_factory=list)
    entries: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    process: int = field(default_factory=os.getpid)

    def matrix(self) -> Any:
        if len(self.parts) > 1:
            self.parts = [np.concatenate(self.parts)]
        return self.parts[0] if self.parts else np.zeros((0, 1), dtype=np.int8)


class Meaning:
    """Ranks documents by likeness of meaning; keeps the vectors of its workspace in memory and reads only new ones."""

    def __init__(self, embedder: Embedder, workspace: str) -> None:
        self.embedder = embedder
        self.workspace = workspace
        self._lock = ForkLock()
        self._space: _Space | None = None

    def best(
        self,
        view: SearchVectors,
        connection: Connection,
        generation: int,
        query: str,
        *,
        messages: bool,
        segments: Mapping[str, int | None] | None,
        at: int | None,
        entries: Mapping[str, Key],
        passing: Collection[Key] | None,
    ) -> list[tuple[Key, float]]:
        """The documents most like the query, with their likeness; entries are those that are named, by id.

        Messages are those of the named sessions, each up to a position, or all; ``passing`` holds what may be found.
        """
        wanted = np.frombuffer(self.embedder.vectors([query])[0], dtype=np.int8).astype(np.float32)
        size = float(np.linalg.norm(wanted))
        if not size:
            return []
        with self._lock:
            space = self._read(view, connection, generation)
            found = _entries(space, entries, wanted / size, passing)
            if messages and space.keys:
                found += _messages(space, segments, at, wanted / size, passing)
        return sorted(found, key=lambda pair: (-pair[1], -pair[0]))[:DEPTH]

    def _read(self, view: SearchVectors, connection: Connection, generation: int) -> _Space:
        space = self._space
        if space is None or space.view is not view or space.generation != generation or space.process != os.getpid():
            # Another process, made by fork, may have it from the middle of another thread's reading.
            space = self._space = _Space(view, generation)
        new = []
        kinds = (MESSAGES, ENTRIES)
        for row in search_vectors.rows(view, connection, self.workspace, kinds, after=space.position):
            if row.kind == ENTRIES:
                space.entries[row.ref] = (row.length, row.vector)
            else:
                space.keys.append(key_of(row.position, 0))
                space.sessions.append(space.numbers.setdefault(row.session, len(space.numbers)))
                space.lengths.append(row.length)
                new.append(np.frombuffer(row.vector, dtype=np.int8))
            space.position = row.position
        if new:
            space.parts.append(np.stack(new))
        return space


def _entries(
    space: _Space, entries: Mapping[str, Key], wanted: Any, passing: Collection[Key] | None
) -> list[tuple[Key, float]]:
    found = []
    for ref, key in entries.items():
        if ref in space.entries and (passing is None or key in passing):
            length, vector = space.entries[ref]
            one = _likeness(np.frombuffer(vector, dtype=np.int8)[None], np.array([length]), wanted)
            found.append((key, float(one[0])))
    return found


def _messages(
    space: _Space,
    segments: Mapping[str, int | None] | None,
    at: int | None,
    wanted: Any,
    passing: Collection[Key] | None,
) -> list[tuple[Key, float]]:
    keys, lengths = np.array(space.keys, dtype=np.int64), np.array(space.lengths, dtype=np.float32)
    visible = np.ones(len(keys), dtype=bool)
    if segments is not None:
        sessions = np.array(space.sessions, dtype=np.int64)
        visible[:] = False
        for name, upto in segments.items():
            if name in space.numbers:
                own = sessions == space.numbers[name]
                visible |= own if upto is None else own & (keys <= key_of(upto, 0))
    if at is not None:
        visible &= keys <= key_of(at, 0)
    if passing is not None:
        visible &= np.isin(keys, np.fromiter(passing, dtype=np.int64, count=len(passing)))
    places = np.flatnonzero(visible)
    matrix = space.matrix()
    likeness = np.zeros(len(places), dtype=np.float32)
    for start in range(0, len(places), CHUNK):
        some = places[start : start + CHUNK]
        likeness[start : start + CHUNK] = _likeness(matrix[some], lengths[some], wanted)
    # Of equal ones the newer first, as everywhere.
    order = np.lexsort((-keys[places], -likeness))[:DEPTH]
    return [(int(keys[places[at]]), float(likeness[at])) for at in order if likeness[at] > 0]


def _likeness(vectors: Any, lengths: Any, wanted: Any) -> Any:
    """The cosine of each vector with a wanted one of length 1, less for a text of few words."""
    floats = vectors.astype(np.float32)
    sizes = np.linalg.norm(floats, axis=1)
    return floats @ wanted / np.where(sizes > 0, sizes, 1) * np.minimum(lengths / LENGTH_FULL, 1)
