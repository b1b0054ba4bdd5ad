"""Ids and names that an API takes, made from those that a history holds (C9)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(slots=True)
class Names:
    """One namespace of one request: each given name gets one name of at most ``longest`` characters [a-zA-Z0-9_-].

    A name that is legal stays; another is cut to its legal characters and told apart by a digest of itself,
    so that the same name becomes the same in every request.
    """

    longest: int
    given: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def legal(self, name: str) -> bool:
        return 0 < len(name) <= self.longest and not _REFUSED.search(name)

    def reserve(self, name: str) -> None:
        """Keeps a legal name for itself, before others are made that might meet it."""
        if self.legal(name):
            self.given[name] = name
            self.taken.add(name)

    def name(self, name: str) -> str:
        """The name that is sent for ``name``; the same for the same."""
        known = self.given.get(name)
        if known is not None:
            return known
        made = name if self.legal(name) else self._make(name)
        self.given[name] = made
        self.taken.add(made)
        return made

    def again(self, name: str, number: int) -> str:
        """Another name for the same, told apart by a number from 2."""
        while (made := self._fit(name, f"_{number}")) in self.taken:
            number += 1
        self.taken.add(made)
        return made

    def _fit(self, name: str, suffix: str) -> str:
        sent = self.name(name)
        return sent[: self.longest - len(suffix)] + suffix

    def _make(self, name: str) -> str:
        stem = _REFUSED.sub("_", name[: self.longest]) or "call"
        seed = name.encode("utf-8", "surrogatepass")
        for attempt in range(len(self.taken) + 1):
            mark = hashlib.sha256(seed + b"\0" * attempt).hexdigest()[:10]
            made = f"{stem[: self.longest - 11]}_{mark}"
            if made not in self.taken:
                return made
        raise AssertionError("more names were tried than are taken")  # pragma: no cover
