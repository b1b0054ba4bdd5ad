"""What must hold on a disk after the power went: the judge of ``make drill-power`` (issue 7, item 4)."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from disk import Call, Sample, lay, states
from failing import same_as_told
from killing import Site

from minutebook import Minutebook, MinutebookError, Settings

SETTINGS = Settings(curation_automatic=False)


@dataclass
class Survived:
    """What the states of one recording came to."""

    states: int = 0
    whole: int = 0
    acknowledged: int = 0
    troubles: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)


def survive(calls: Sequence[Call], folder: Path, *, each: int, seed: int, stop: int | None = None, part: int = 1) -> Survived:
    """Lays out every state that is drawn, opens it and judges; ``stop`` ends it after so many troubles."""
    found = Survived()
    for number, sample in enumerate(states(calls, each=each, chance=random.Random(seed))):
        if number % part:
            continue
        found.states += 1
        found.whole += sample.whole
        found.acknowledged = max(found.acknowledged, sum("kept" in told for told in sample.told))
        trouble = judge(sample, folder / "w")
        if trouble is not None:
            found.kinds[trouble.partition(":")[0]] += 1
            found.troubles.append(f"cut at call {sample.cut}: {trouble}")
            if stop is not None and len(found.troubles) >= stop:
                break
    return found


def judge(sample: Sample, root: Path) -> str | None:
    """What is wrong with the store that minutebook finds on this disk; None when all is as it should be."""
    root.mkdir()
    try:
        lay(sample.state, root)
        try:
            with Minutebook.open(root, settings=SETTINGS, automatic=False) as book:
                if not book.verify().ok:
                    return f"verify: {book.verify()}"
                if book.memory.status().state != "clean":
                    return f"the memory file: {book.memory.status().state}"
                book.session("s").append({"role": "user", "content": "And on."})
        except MinutebookError as error:
            return f"refused: {error.code}: {error.message}"
        try:
            same_as_told(root, list(sample.told))
            Site(None, root, root.parent / "none").check(mode=0o600, cursor=False)  # type: ignore[arg-type]
        except AssertionError as error:
            return str(error)
        return None
    finally:
        shutil.rmtree(root)


# --- builds that promise less, made from what was recorded by leaving a sync out


def _without(leave: Callable[[str], bool]) -> Callable[[Sequence[Call]], list[Call]]:
    return lambda calls: [call for call in calls if call.kind != "sync" or not leave(call.path)]


WEAKER: dict[str, Callable[[Sequence[Call]], list[Call]]] = {
    "no sync of the write-ahead log": _without(lambda path: path.endswith("-wal")),
    "no sync of the database before the log is used anew": _without(lambda path: path.endswith(".db")),
    "no sync of the folder of the database": _without(lambda path: path.endswith(".tinyagent")),
    "no sync of the workspace": _without(lambda path: path == ""),
    "no sync of the new memory file": _without(lambda path: path.endswith(".tmp")),
    "no sync of the folder of memory": _without(lambda path: path.endswith("memory")),
}
"""Each must be caught."""
