"""`make drill-kill`: SIGKILL at every failpoint; recovery, killed too, or raced by a second process; then a judge.

Each row of ``MATRIX`` names a failpoint and what a child process does that passes it (``kill_workloads``). What the
child was told stands in a file outside of the store. One kill is followed in one of three ways, in turn:

    recovered   the next start recovers
    twice       that start is killed as well, at a step that it passes; the next one recovers
    raced       two starts and an agent come at once

Then ``judge`` looks at database and file with plain drivers (I1 to I7), a second start must change nothing (I8), every
context is asked for again (I9), and the same is done once more without a kill: the store goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for _place in (HERE, HERE.parent / "support", HERE.parents[1] / ".package"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))

import results  # noqa: E402
from judge import FILE, Store, changed, owner_of, read, violations  # noqa: E402
from own_server import end_tidily, own_server  # noqa: E402

KILLED = -signal.SIGKILL
WAYS = ("recovered", "twice", "raced")
NAMES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


@dataclass(frozen=True)
class Workload:
    """What is killed: ``part`` in a store that ``base`` made; ``settle`` is what the next process does."""

    base: str
    part: str
    settle: str = "start"
    replaces_log: bool = False


WORKLOADS: dict[str, Workload] = {
    "first day": Workload("nothing", "talk"),
    "talk": Workload("use", "talk"),
    "after a death": Workload("die_in_a_run", "talk"),
    "compact": Workload("lengthen", "compact"),
    "sync": Workload("edit", "sync"),
    "sync, mended": Workload("edit_badly", "sync"),
    "restore a revision": Workload("edit", "restore"),
    "import notes": Workload("edit_notes", "notes"),
    "forget": Workload("use", "forget"),
    "evidence": Workload("tell", "curate"),
    "recover a written one": Workload("die at file.fsync_folder", "start"),
    "recover an unwritten one": Workload("die at file.read_base", "start"),
    "recover a displaced one": Workload("die_displaced", "start"),
    "rebuild": Workload("lengthen", "rebuild"),
    "work": Workload("lengthen", "work"),
    "erase": Workload("plant", "erase"),
    "upgrade": Workload("old_store", "upgrade", settle="upgrade"),
    "back up": Workload("use", "backup"),
    "restore a backup": Workload("save_and_go_on", "bring_back", replaces_log=True),
    "replace a broken file": Workload("break_file", "bring_back", settle="bring_back", replaces_log=True),
}

_FILE = ("open_temp", "write_temp", "write_rest", "keep_owner", "keep_mode", "fsync_temp", "read_base", "set_aside",
         "replace", "exchange", "look_back", "fsync_folder", "check_folder", "unlink")  # fmt: skip


def _rows(workload: str, group: str, *names: str) -> dict[str, str]:
    return {f"{group}.{name}": workload for name in names}


MATRIX: dict[str, str] = {
    **_rows("first day", "start", "folder", "ignore", "id", "placed", "creating", "created"),
    **_rows("talk", "start", "recovered", "ready"),
    **_rows("talk", "append", "begin", "begun", "inserted", "commit", "committed"),
    **_rows("talk", "context", "built", "freezing", "frozen", "shown"),
    **_rows("talk", "candidate", "received", "stored", "ending", "ended", "deciding", "decided"),
    **_rows("talk", "project", "begun", "moved", "applied", "committed"),
    **_rows("talk", "curate", "leased", "answered", "decided"),
    **_rows("talk", "publish", "locked", "base_read", "preparing", "prepared", "commit", "committing", "committed",
            "cleaned"),
    **_rows("talk", "file", *_FILE),
    **_rows("talk", "lock", "wait"),
    **_rows("after a death", "run", "interrupting", "interrupted"),
    **_rows("compact", "compact", "selected", "requested", "received", "validated", "committing", "committed",
            "reducing", "reduced", "changing", "changed"),
    **_rows("sync", "sync", "read", "validated", "read_again", "committing", "committed"),
    **_rows("restore a revision", "restore", "chosen", "displaced"),
    **_rows("import notes", "import", "read", "displaced"),
    **_rows("forget", "forget", "decided"),
    **_rows("evidence", "evidence", "read", "promoting"),
    **_rows("recover a written one", "recover", "locked", "decided", "redone", "committed", "cleaned"),
    **_rows("recover an unwritten one", "recover", "abandoned"),
    **_rows("recover a displaced one", "recover", "displaced"),
    **_rows("rebuild", "rebuild", "begun", "step", "swapping", "swapped"),
    **_rows("work", "work", "kept", "leased"),
    **_rows("erase", "erase", "planned", "requested", "published", "erasing", "erased", "undone", "projected", "vacuum",
            "truncate", "wiped", "completed"),
    **_rows("upgrade", "upgrade", "locked", "backed_up", "migrating", "committing", "committed"),
    **_rows("restore a backup", "backup", "ignoring"),
    **_rows("back up", "backup", "copying", "copied", "appearing", "appeared"),
    **_rows("restore a backup", "restore", "proved", "keeping", "kept", "committed", "replaced", "file_kept",
            "file_gone"),
    **_rows("replace a broken file", "restore", "committing"),
}  # fmt: skip
"""Every failpoint and the workload that is killed there. ``--everywhere`` kills a workload at all that it passes."""

ONLY_ON: dict[str, str] = {
    "start.placed": "sqlite", "start.id": "postgres", "erase.truncate": "sqlite", "restore.keeping": "postgres",
    "restore.kept": "sqlite",
}  # fmt: skip
"""Points that the other database does not have."""

OTHERWISE: dict[tuple[str, str], str] = {("restore.committing", "postgres"): "restore a backup"}
"""Points that another workload passes on one of the databases."""
NOT_ON: dict[str, str] = {"replace a broken file": "postgres"}


def workload_of(point: str, on: str) -> str | None:
    """What is killed at a point on a database; None where that has no such point."""
    name = OTHERWISE.get((point, on), MATRIX[point])
    return None if ONLY_ON.get(point, on) != on or NOT_ON.get(name) == on else name


class Server:
    """The fork server, and the children that it makes."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MINUTEBOOK_")}
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "kill_workloads.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def say(self, **command: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        if self._process.stdout is not None:
            self._process.stdout.close()


@dataclass
class Case:
    """One store that is killed: a copy of a base, and what its children were told."""

    server: Server
    folder: Path
    url: str | None

    @property
    def root(self) -> Path:
        return self.folder / "w"

    @property
    def told(self) -> Path:
        return self.folder / "told"

    def begin(self, part: str, **more: Any) -> int:
        pid: int = self.server.say(
            part=part, root=str(self.root), aside=str(self.folder / "aside"), url=self.url, told=str(self.told), **more
        )["pid"]
        return pid

    def end(self, pid: int) -> int:
        status: int = self.server.say(wait=pid)["status"]
        return status

    def run(self, part: str, **more: Any) -> int:
        return self.end(self.begin(part, **more))

    def trace(self, part: str) -> list[str]:
        """The points that a part passes, in order; it must go through."""
        path = self.folder / "trace"
        path.unlink(missing_ok=True)
        status = self.run(part, trace=str(path))
        assert status == 0, f"{part} does not go through: {self.last()}"
        return path.read_text().split()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.told.read_text().splitlines()] if self.told.exists() else []

    def last(self) -> Any:
        return self.lines()[-1] if self.lines() else None

    def acknowledged(self) -> list[dict[str, Any]]:
        return [line for line in self.lines() if line["what"] not in ("shown", "probed", "refused", "failed")]

    def read(self) -> Store:
        return read(self.root, self.url)


@dataclass
class Result:
    """What a run of the matrix came to."""

    kills: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    second_kills: int = 0
    races: int = 0


class Matrix:
    """Kills, on one kind of database."""

    def __init__(self, folder: Path, server: Server, on: str, admin: Any = None) -> None:
        self.on = on
        self._folder, self._server, self._admin = folder, server, admin
        self._place = folder / "here"
        """Every store is used at this one place: on a server the memory file belongs to a folder by its path."""
        self._names = itertools.count(1)
        self._bases: dict[str, Case] = {}
        self._passed: dict[str, list[str]] = {}
        self._recoveries: dict[tuple[str, str], list[str]] = {}
        self.result = Result()

    # --- stores

    def _database(self, template: str | None = None) -> str | None:
        if self._admin is None:
            return None
        name = f"kill_{os.getpid()}_{next(self._names)}"
        with self._admin.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name}" + (f" TEMPLATE {template}" if template else ""))
        url: str = self._admin.url.set(database=name).render_as_string(hide_password=False)
        return url

    def _drop(self, url: str | None) -> None:
        if url is not None:
            with self._admin.connect() as connection:
                connection.exec_driver_sql(f"DROP DATABASE {url.rpartition('/')[2].partition('?')[0]} WITH (FORCE)")

    def _base(self, name: str) -> Case:
        if name not in self._bases:
            made = Case(self._server, self._place, self._database())
            made.root.mkdir(parents=True)
            (made.folder / "aside").mkdir()
            status = made.run(name)
            assert status == (KILLED if name.startswith("die") else 0), f"{name}: {made.last()}"
            kept = self._folder / f"base-{len(self._bases)}"
            self._place.rename(kept)
            self._bases[name] = Case(self._server, kept, made.url)
        return self._bases[name]

    @contextmanager
    def _case(self, base: str) -> Iterator[Case]:
        """A store of its own, as ``base`` made it."""
        made, folder = self._base(base), self._place
        shutil.copytree(made.folder, folder)
        url = None if made.url is None else self._database(made.url.rpartition("/")[2].partition("?")[0])
        try:
            yield Case(self._server, folder, url)
        finally:
            shutil.rmtree(folder)
            self._drop(url)

    def passed(self, name: str) -> list[str]:
        """The points that a workload passes from its base on, in order."""
        if name not in self._passed:
            with self._case(WORKLOADS[name].base) as case:
                self._passed[name] = case.trace(WORKLOADS[name].part)
        return self._passed[name]

    # --- one kill

    def kill(self, point: str, way: str, seed: str, name: str | None = None, *, again: bool = True) -> list[str]:
        """Kills at a point and follows it in a way. Returns what does not hold, each with how to see it again.

        ``again``: at the end the workload is run once more, and every projection is compared with a replay.
        """
        name = name or workload_of(point, self.on)
        assert name is not None
        chance = random.Random(seed)
        count = self.passed(name).count(point)
        if not count:
            return [f"{point}: the workload {name!r} does not pass it on {self.on}"]
        number = chance.randrange(count) + 1
        with self._case(WORKLOADS[name].base) as case:
            try:
                found = self._killed(case, WORKLOADS[name], name, f"{point}=kill:{number}", way, chance, again)
            except (AssertionError, OSError, sqlite3.Error) as error:
                found = [f"{type(error).__name__}: {error}"]
        self.result.kills[point] = self.result.kills.get(point, 0) + 1
        return [f"{name} on {self.on}, {point}:{number}, {way}, seed {seed}: {line}" for line in found]

    def _killed(
        self, case: Case, workload: Workload, name: str, spec: str, way: str, chance: random.Random, again: bool
    ) -> list[str]:
        facts = owner_of(case.root / FILE) if (case.root / FILE).exists() else None
        status = case.run(workload.part, failpoint=spec)
        if status != KILLED:
            return [f"it was not killed: status {status}, {case.last()}"]
        before = self._before(case, workload)
        found = self._recovered(case, workload, name, spec, way, chance)
        found += self._judged(case, before, facts, whole=False)
        first = case.read()
        if (status := case.run("start")) != 0:
            found.append(f"a second start failed with {status}: {case.last()}")
        found += changed(first, case.read())
        if not again:
            return found
        # What was asked for is asked for again: now it is done, and nothing twice.
        if (status := case.run(workload.part)) != 0 and not self._done_before(case):
            found.append(f"the same again failed with {status}: {case.last()}")
        return found + self._judged(case, before, facts, whole=True)

    def _before(self, case: Case, workload: Workload) -> Store | None:
        """The store as the kill left it, where its history is to stay."""
        return None if workload.replaces_log else case.read()

    def _recovered(
        self, case: Case, workload: Workload, name: str, spec: str, way: str, chance: random.Random
    ) -> list[str]:
        settle, known = workload.settle, (name, spec)
        if way == "raced":
            self.result.races += 1
            others = [case.begin(settle), case.begin(settle)]
            ends = [case.end(pid) for pid in others]
            found = [f"one that came at once ended with {end}: {case.last()}" for end in ends if end]
            return found + self._started(case, settle)
        if way == "twice":
            # Where it is not known what this recovery passes, one that is watched on a copy tells.
            points = self._recoveries.get(known) or self._watched(case, settle)
            self._recoveries[known] = points
            if points:
                place = chance.randrange(len(points))
                again = f"{points[place]}=kill:{points[: place + 1].count(points[place])}"
                status = case.run(settle, failpoint=again)
                self.result.second_kills += status == KILLED
                if status not in (0, KILLED):
                    return [f"the recovery that was to be killed at {again} ended with {status}: {case.last()}"]
        status = case.run(settle)
        found = [] if status == 0 else [f"the recovery ended with {status}: {case.last()}"]
        return found + self._started(case, settle)

    def _started(self, case: Case, settle: str) -> list[str]:
        """Where something else has to come first, a start follows it."""
        if settle in ("start", "nothing") or (status := case.run("start")) == 0:
            return []
        return [f"the start after it ended with {status}: {case.last()}"]

    def _watched(self, case: Case, settle: str) -> list[str]:
        aside = case.folder.rename(self._folder / "aside")
        shutil.copytree(aside, case.folder)
        # Nobody else is in it: the killed child is gone, and its connection with it.
        url = None if case.url is None else self._copied(case.url)
        try:
            return Case(self._server, case.folder, url).trace(settle)
        finally:
            shutil.rmtree(case.folder)
            aside.rename(case.folder)
            self._drop(url)

    def _copied(self, url: str) -> str | None:
        name = url.rpartition("/")[2].partition("?")[0]
        deadline = time.monotonic() + 60
        while True:
            with self._admin.connect() as connection:
                others = connection.exec_driver_sql(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = %s", (name,)
                ).scalar_one()
            if not others:
                return self._database(name)
            assert time.monotonic() < deadline, f"{others} connections stay in {name}"
            time.sleep(0.01)

    def _judged(
        self, case: Case, before: Store | None, facts: tuple[int, int, int] | None, *, whole: bool
    ) -> list[str]:
        shown = [line for line in case.lines() if line["what"] == "shown"]
        status = case.run("probe", shown=shown, whole=whole)
        probed = case.last()
        if status != 0:
            return [f"the book cannot be looked at: {probed}"]
        found = violations(
            case.read(), case.acknowledged(), before=before, flag=probed["state"], file_facts=facts, root=case.root
        )
        for line, digest in zip(shown, probed["shown"], strict=True):
            if line["digest"] != digest:
                found.append(f"I9: what {line['session']} was shown at {line['position']} is another text now")
        return found + [f"I4: {check['name']}: {check['detail']}" for check in probed["wrong"]]

    def _done_before(self, case: Case) -> bool:
        """The part says by a refusal that there is nothing left to do."""
        last = case.last()
        return bool(last and last["what"] == "refused" and last["code"] in DONE)

    def close(self) -> None:
        for made in self._bases.values():
            self._drop(made.url)


DONE = {"memory_unchanged", "already_erased", "target_unknown", "unknown_session"}
"""What a person is told who asks again for what is done."""


@contextmanager
def matrix(on: str) -> Iterator[Matrix]:
    """A matrix on a database, with its fork server, in a folder that is gone afterwards."""
    # In memory where there is such a folder: a kill takes nothing that was written, so a disk would show nothing more.
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="minutebook-kill-", dir=memory if memory.is_dir() else None))
    server = Server()
    try:
        if on == "sqlite":
            yield Matrix(folder, server, on)
            return
        from sqlalchemy import NullPool, create_engine

        with own_server() as postgres:
            postgres.set(fsync="off", full_page_writes="off", autovacuum="off")
            admin = create_engine(postgres.url, isolation_level="AUTOCOMMIT", poolclass=NullPool)
            made = Matrix(folder, server, on, admin)
            yield made
            made.close()
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)


def drive(made: Matrix, points: list[str], times: int, seed: int) -> Iterator[int]:
    """Kills at each of the points so many times, in the ways in turn; yields the rounds that are done."""
    for number in range(times):
        for place, point in enumerate(points):
            way = WAYS[(number + place) % len(WAYS)]
            for line in made.kill(point, way, f"{seed}-{number}"):
                made.result.wrong.append(line)
                print(f"VIOLATION {line}", flush=True)
        print(f"round {number + 1} of {times} on {made.on}: {len(made.result.wrong)} violations", flush=True)
        yield number + 1


def points_on(on: str) -> list[str]:
    return [point for point in MATRIX if workload_of(point, on) is not None]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description="SIGKILL at every failpoint, then a judge.")
    parser.add_argument("--times", type=int, default=3, help="kills at each point; 200 is the long form")
    parser.add_argument("--on", default=",".join(NAMES), help="sqlite, postgres or both")
    parser.add_argument("--postgres-times", type=int, help="kills at each point on PostgreSQL, if not as many")
    parser.add_argument("--points", nargs="*", help="only these points")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-page", action="store_true", help="leave docs/reference/fault-drills.md as it is")
    options = parser.parse_args(argv)
    failed, stamp = False, results.stamp()
    for on in options.on.split(","):
        times = options.postgres_times if on == "postgres" and options.postgres_times else options.times
        points = [point for point in options.points or points_on(on) if workload_of(point, on)]
        began = time.monotonic()
        with matrix(on) as made:
            for rounds in drive(made, points, times, options.seed):
                # After each round: one that is stopped has told what it came to.
                if not options.no_page and not options.points:
                    minutes = (time.monotonic() - began) / 60
                    lines = lines_of(stamp, len(points), rounds, options.seed, made.result, minutes)
                    results.write_section(f"kill-{on}", f"Kills on {NAMES[on]}", lines, level=3)
            failed |= bool(made.result.wrong)
    return int(failed)


def price() -> float:
    """Nanoseconds of the processor that an unarmed failpoint takes, the least of several measurements."""
    from minutebook.infrastructure.store.failpoints import failpoint

    number = 200_000
    called = "passed('append.begin')"
    timer = timeit.Timer(called, timer=time.process_time, globals={"passed": failpoint})
    return min(timer.repeat(repeat=7, number=number)) / number * 1e9


def lines_of(stamp: str, points: int, rounds: int, seed: int, result: Result, minutes: float) -> list[str]:
    """The section of one database."""
    killed = f"{sum(result.kills.values()):,} | {result.second_kills:,} | {result.races:,}"
    return [
        stamp,
        "",
        "| points | kills at each | kills | recoveries killed too | raced | violations | seed | minutes |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        f"| {points} | {rounds} | {killed} | {len(result.wrong)} | {seed} | {minutes:.0f} |",
        "",
        f"A failpoint that nobody armed is one look-up in an empty dictionary: {price():.0f} ns in this run.",
    ]


if __name__ == "__main__":
    end_tidily()
    raise SystemExit(main(sys.argv[1:]))
