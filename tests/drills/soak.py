"""`make soak`: drills over many seeds, on SQLite and on a real PostgreSQL; what held is written as a table.

A drill is a module ``drill_*.py`` beside this file with ``drill(seed, place) -> str``: it does something hard to a
fresh database, asserts what must hold, and says in a few words what it did. It is deterministic in its seed as far as
processes allow, and shorter where ``place.short`` is set: so the test suite runs it, once on each database
(``test_drills.py``).
Name some as arguments to run only those::

    make soak SEEDS=1-20 DRILL="poison kill" ON=sqlite
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for _place in (HERE, ROOT / "tests" / "support", ROOT / ".package"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))


@dataclass(frozen=True)
class Place:
    """Where a drill takes place: a folder of its own and a fresh database."""

    folder: Path
    url: str
    short: bool = False

    @property
    def sqlite(self) -> bool:
        return self.url.startswith("sqlite")


@dataclass
class Result:
    """What one drill came to on one database."""

    drill: str
    database: str
    held: int = 0
    failed: list[tuple[int, str]] = field(default_factory=list)
    seconds: float = 0.0
    said: str = ""


def drills() -> dict[str, Path]:
    """Every drill by its name."""
    return {path.stem.removeprefix("drill_"): path for path in sorted(HERE.glob("drill_*.py"))}


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("soak", sys.modules[__name__])
    spec.loader.exec_module(module)
    return module


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Runs drills and writes soak-results/results.md.")
    parser.add_argument("names", nargs="*", help=f"only these of: {', '.join(drills())}")
    parser.add_argument("--seeds", default="1-10", help="for instance 7, or 1-100")
    parser.add_argument("--on", default="sqlite,postgres", help="sqlite, postgres or both")
    options = parser.parse_args(argv)
    known, kinds = drills(), options.on.split(",")
    if set(options.names) - known.keys() or set(kinds) - {"sqlite", "postgres"}:
        parser.error(f"drills: {', '.join(known)}; databases: sqlite, postgres")
    first, _, last = options.seeds.partition("-")
    seeds = range(int(first), int(last or first) + 1)
    results = []
    with _server(needed="postgres" in kinds) as server:
        for name in options.names or known:
            module = load(known[name])
            for kind in kinds:
                results.append(_run(name, module, kind, seeds, server))
                _write(results, options.seeds)
    return 1 if any(result.failed for result in results) else 0


def _run(name: str, module: ModuleType, kind: str, seeds: range, server: Any) -> Result:
    result = Result(name, kind)
    began = time.monotonic()
    for seed in seeds:
        folder = Path(tempfile.mkdtemp(prefix=f"minutebook-{name}-"))
        try:
            with _database(kind, folder, server) as url:
                result.said = module.drill(seed, Place(folder, url))
            result.held += 1
        except Exception as error:
            result.failed.append((seed, f"{type(error).__name__}: {str(error).splitlines()[:1]}"))
            print(f"{name} on {kind}, seed {seed}:", flush=True)
            traceback.print_exc()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    result.seconds = time.monotonic() - began
    print(f"{name} on {kind}: {result.held} of {len(seeds)} held ({result.seconds:.0f} s)", flush=True)
    return result


@contextmanager
def _server(*, needed: bool) -> Iterator[Any]:
    """The server that is named, or one of our own; None where no drill needs one."""
    from sqlalchemy import make_url

    given = os.environ.get("MINUTEBOOK_TEST_POSTGRES")
    if given or not needed:
        yield make_url(given).set(drivername="postgresql+psycopg") if given else None
        return
    from own_server import OwnServer

    folder = Path(tempfile.mkdtemp(prefix="minutebook-pg-"))
    folder.chmod(0o755)
    server = OwnServer(folder)
    try:
        yield server.url
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _database(kind: str, folder: Path, server: Any) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:///{folder / 'book.db'}"
        return
    from sqlalchemy import NullPool, create_engine

    name = f"minutebook_soak_{os.getpid()}"
    admin = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
        try:
            yield server.set(database=name).render_as_string(hide_password=False)
        finally:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


def _write(results: list[Result], seeds: str) -> None:
    lines = [
        "# What held",
        "",
        f"Seeds {seeds}, {time.strftime('%Y-%m-%d')}. A seed that failed is run again with `--seeds N`.",
        "",
        "| drill | database | held | failed | seconds | the last one |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in results:
        failed = ", ".join(str(seed) for seed, _ in each.failed) or "none"
        row = (each.drill, each.database, each.held, failed, f"{each.seconds:.0f}", each.said)
        lines.append("| " + " | ".join(map(str, row)) + " |")
    lines += ["", *(f"* {r.drill} on {r.database}, seed {seed}: {text}" for r in results for seed, text in r.failed)]
    folder = ROOT / "soak-results"
    folder.mkdir(exist_ok=True)
    (folder / "results.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
