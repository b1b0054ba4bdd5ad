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
from minutebook.infrastructure.store.verification import verify_log

SETTINGS = Settings(curation_automatic=False)


@dataclass
class Survived:
    """What the states of one recording came to."""

    states: int = 0
    whole: int = 0
    acknowledged: int = 0
    troubles: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)


def survive(
    calls: Sequence[Call], folder: Path, *, each: int, seed: int, stop: int | None = None, part: int = 1,
    end: bool = False,
) -> Survived:  # fmt: skip
    """Lays out every state that is drawn, or every ``part``-th, opens it and judges.

    ``stop`` ends it after so many troubles; ``end``: only the disks on which all that was asked for may be.
    """
    found = Survived()
    for number, sample in enumerate(states(calls, each=each, chance=random.Random(seed), end=end)):
        if number % part:
            continue
        found.states += 1
        found.whole += sample.whole
        found.acknowledged = max(found.acknowledged, sum("kept" in told for told in sample.told))
        trouble = judge(sample, folder / "w", projections=found.states % 4 == 1)
        if trouble is not None:
            found.kinds[trouble.partition(":")[0]] += 1
            found.troubles.append(f"cut at call {sample.cut}: {trouble}")
            if stop is not None and len(found.troubles) >= stop:
                break
    return found


def upto(calls: Sequence[Call], key: str) -> list[Call]:
    """The calls to the last acknowledgement that has the key, and no further."""
    return list(calls[: max(place for place, call in enumerate(calls) if call.told.get(key)) + 1])


def judge(sample: Sample, root: Path, *, projections: bool = True) -> str | None:
    """What is wrong with the store that minutebook finds on this disk; None when all is as it should be.

    Without ``projections`` the chain alone is recomputed: a rebuild of all of them costs more than all else.
    """
    root.mkdir()
    try:
        lay(sample.state, root)
        try:
            with Minutebook.open(root, settings=SETTINGS, automatic=False) as book:
                report = book.verify() if projections else verify_log(book._runtime.log)
                if not report.ok:
                    return f"the log or a projection: {report}"
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


# --- builds that promise less, made from what was recorded by leaving syncs out


def _without(leave: Callable[[str], bool]) -> Callable[[Sequence[Call]], list[Call]]:
    return lambda calls: [call for call in calls if call.kind != "sync" or not leave(call.path)]


def _one_less(leave: Callable[[str], bool]) -> Callable[[Sequence[Call]], list[Call]]:
    """Without the one that comes before the last acknowledgement."""

    def without(calls: Sequence[Call]) -> list[Call]:
        told = max(place for place, call in enumerate(calls) if "kept" in call.told)
        last = max(n for n, call in enumerate(calls[:told]) if call.kind == "sync" and leave(call.path))
        return [call for n, call in enumerate(calls) if n != last]

    return without


def log(path: str) -> bool:
    return path.endswith("-wal")


WEAKER: dict[str, tuple[str, Callable[[Sequence[Call]], list[Call]]]] = {
    "no sync of the write-ahead log": ("appends", _without(log)),
    "one sync of the write-ahead log less": ("appends", _one_less(log)),
    "no sync of the database file": ("checkpoints", _without(lambda path: path.endswith(".db"))),
    "no sync of the folder of the database": ("appends", _without(lambda path: path.endswith(".tinyagent"))),
    "no sync of the workspace": ("appends", _without(lambda path: path == "")),
    "no sync of the new memory file": ("memory", _without(lambda path: path.endswith(".tmp"))),
    "no sync of the folder of memory": ("memory", _without(lambda path: path.endswith("memory"))),
}
"""Build: the recording that shows it, and what it leaves out. Each must be caught."""

RECORDINGS: dict[str, tuple[str, str]] = {
    "appends": ("talking", ""),
    "memory": ("remembering", ""),
    "checkpoints": ("lasting", "short"),
    "appends with NORMAL": ("talking", "normal"),
}
"""Recording: its workload and the build; of the last one acknowledged events must be seen to go."""
