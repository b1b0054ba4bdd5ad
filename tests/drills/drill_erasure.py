"""Any history, and erasures that die at any of their steps: the next start ends them, and no byte is left (E8).

Run by the runner of the drills, or by itself: ``python tests/drills/drill_erasure.py 1 200`` on SQLite.
"""

from __future__ import annotations

import random
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
for _place in (HERE / "support", HERE.parent / ".package"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))

from erasure_world import NUMBERS, Died, World, hold  # noqa: E402

from minutebook.infrastructure.store.failpoints import POINTS, armed  # noqa: E402

STEPS = [name for name in POINTS if name.startswith(("erase.", "publish.", "file."))]


def drill(seed: int, place: Any) -> str:
    """One history; ``place`` has ``folder``, ``url`` and ``short``."""
    chance = random.Random(seed)
    root = place.folder / "w"
    root.mkdir()
    world = World(root, place.url)
    died: list[str] = []

    def fate() -> AbstractContextManager[Any]:
        point = chance.choice(STEPS)

        def die() -> None:
            died.append(point)
            raise Died(point)

        return armed(point, die)

    world.fate = fate
    try:
        for _ in range(6 if place.short else 30):
            action = chance.choice(list(NUMBERS))
            world.act(action, chance.randrange(NUMBERS[action]))
        hold(world)
        return f"{len(world.book.erasures.list())} erasures, {len(died)} of them died"
    finally:
        world.book.close()


class _Place:
    short = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder / 'w' / 'book.db'}"


if __name__ == "__main__":
    first, last = map(int, sys.argv[1:3])
    for number in range(first, last + 1):
        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(f"seed {number}: {drill(number, _Place(Path(folder)))}\n")
            sys.stdout.flush()
