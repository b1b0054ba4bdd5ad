"""`make drill-mutation`: does a test fail when the commit, the recovery or a check of entries is made wrong?

A copy of the checkout is changed at one place (``mutants.py``), and the tests that run that place, by the coverage of
one run before, go until one fails: those first that killed a mutant before. Every mutant has a process of its own,
forked from one that has the libraries loaded and nothing of minutebook; one that takes ten times as long as its tests
did counts as killed.
What no test can see is named in ``tests/data/mutation/equivalent.toml`` with its reason, by file and words, so that it
stays known when lines move.

    make drill-mutation ARGS="--sample 200 --seed 1"
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from mutants import Mutant, sample, sites  # noqa: E402
from results import stamp, write_section  # noqa: E402

EQUIVALENT = ROOT / "tests" / "data" / "mutation" / "equivalent.toml"
LIBRARIES = (
    "hypothesis",
    "hypothesis.strategies",
    "sqlalchemy",
    "pydantic",
    "orjson",
    "typer",
    "rich",
    "eventsourcing.persistence",
)
SECONDS_MAX = 20.0
"""Of tests for one mutant, as they took in the run before."""
FIRST = 12
"""So many tests are tried before the others are even collected."""
Fate = Literal["killed", "survived", "equivalent", "broken"]


@dataclass(frozen=True)
class Part:
    """Source files, the tests that are about them, and the slow ones that a survivor has to pass as well."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    last: tuple[str, ...] = ()


WORK = "infrastructure/work/"
PARTS = (
    Part(
        "commit and recovery",
        tuple(
            f"{WORK}{name}.py"
            for name in ("publisher", "writer", "recovery", "replacement", "exchange", "ledger", "file_state")
        ),
        (
            "tests/infrastructure/test_publisher.py",
            "tests/infrastructure/test_workspace.py",
            "tests/infrastructure/test_commit_by_mutation.py",
            "tests/scenarios/test_publish_races.py",
            "tests/scenarios/test_memory_faults.py",
            "tests/scenarios/test_memory_path.py",
            "tests/scenarios/test_memory_import.py",
            "tests/scenarios/test_memory_decisions.py",
            "tests/scenarios/test_what_a_tester_broke_in_memory.py",
            "tests/scenarios/test_one_server.py",
            "tests/scenarios/test_trust.py",
            "tests/scenarios/test_system_errors.py",
        ),
        ("tests/scenarios/test_publish_kill.py", "tests/scenarios/test_curation_kill.py"),
    ),
    Part(
        "entry checks",
        tuple(f"domain/checks/{path.name}" for path in sorted((ROOT / "domain" / "checks").glob("*.py"))),
        (
            "tests/domain/test_entry_checks.py",
            "tests/domain/test_check_by_mutation.py",
            "tests/domain/test_check_needles.py",
            "tests/domain/test_classifier.py",
            "tests/domain/test_credentials.py",
            "tests/domain/test_likeness.py",
            "tests/domain/test_linear_patterns.py",
            "tests/domain/test_curation.py",
            "tests/domain/test_manual_edits.py",
            "tests/domain/test_document.py",
        ),
    ),
)


@dataclass
class Known:
    """Which test runs which line, from one run of all of them."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    killers: Counter[str] = field(default_factory=Counter)
    """Tests that killed a mutant before: they are the likeliest to kill the next one."""

    def tests(self, part: Part, mutant: Mutant) -> list[str]:
        """Those that run the place: killers, then those that are about it, fast ones first.

        A place that runs at import is run by all that run anything of the file.
        """
        lines = self.lines.get(mutant.file, {})
        found = {test for line in range(mutant.line, mutant.last + 1) for test in lines.get(line, ())}
        found = found or {test for tests in lines.values() for test in tests}
        ranks = {file: rank for rank, file in enumerate(part.tests)}

        def likely(test: str) -> tuple[int, int, float, str]:
            return -self.killers[test], ranks.get(test.partition("::")[0], 99), self.seconds.get(test, 0.0), test

        chosen: list[str] = []
        spent = 0.0
        for test in sorted(found, key=likely):
            spent += self.seconds.get(test, 0.0)
            if spent <= SECONDS_MAX or not chosen:
                chosen.append(test)
        return chosen


@dataclass
class Found:
    """What became of the mutants of one part."""

    part: str
    possible: int
    places: int
    fates: Counter[str] = field(default_factory=Counter)
    survivors: list[Mutant] = field(default_factory=list)
    alike: list[tuple[Mutant, str]] = field(default_factory=list)

    @property
    def share(self) -> float:
        tried = self.fates["killed"] + self.fates["survived"]
        return self.fates["killed"] / tried if tried else 1.0


class Copy:
    """A copy of the checkout that may be changed, and the processes that test it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "minutebook"
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            source, target = ROOT / name, self.root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink() or source.is_file():
                shutil.copy2(source, target, follow_symlinks=False)
        self.said = folder / "said.txt"

    def cover(self, tests: Iterable[str], out: Path) -> Known:
        """Runs all tests as they are; they must pass."""
        there = [test for test in tests if (self.root / test).exists()]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "covering", *OPTIONS, *there]
        environment = {**os.environ, **self.environment, "MINUTEBOOK_COVERING": str(out)}
        done = subprocess.run(command, cwd=self.root, env=environment, check=False)
        if done.returncode:
            raise SystemExit("the tests fail before anything is changed")
        return known(out)

    @property
    def environment(self) -> dict[str, str]:
        places = (self.root / ".package", self.root / "tests" / "support")
        return {"PYTHONPATH": ":".join(map(str, places))}

    def kills(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[bool, str]:
        """Whether a test fails with the mutant in place, and which. Raises RuntimeError where none could be run."""
        place = self.root / mutant.file
        sound = place.read_bytes()
        place.write_text(mutant.code, encoding="utf-8")
        _forget_compiled(place)
        try:
            return self._run(tests, 30.0 + 10.0 * seconds)
        finally:
            place.write_bytes(sound)
            _forget_compiled(place)

    def _run(self, tests: Sequence[str], limit: float) -> tuple[bool, str]:
        child = os.fork()
        if child == 0:
            self._child(tests)
        until = time.monotonic() + limit
        while time.monotonic() < until:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            time.sleep(0.05)
        else:
            _end(child)
            os.waitpid(child, 0)
            return True, "took ten times as long"
        _end(child)  # what the tests may have left running in their group
        code = os.waitstatus_to_exitcode(status)
        text = self.said.read_text(encoding="utf-8", errors="replace") if self.said.exists() else ""
        if code in (3, 4, 5):
            raise RuntimeError(text[-2_000:])
        failed = [line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return code != 0, failed[0].split()[1] if failed else f"status {code}"

    def _child(self, tests: Sequence[str]) -> None:
        os.setsid()
        os.chdir(self.root)
        out = os.open(self.said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.environ.update(self.environment)
        sys.path[:0] = self.environment["PYTHONPATH"].split(":")
        code = 3
        try:
            pytest: Any = importlib.import_module("pytest")
            code = int(pytest.main(["-x", "-q", "--no-header", *OPTIONS, *tests]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)


OPTIONS = ("-n", "0", "-m", "not postgres", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")


def _forget_compiled(place: Path) -> None:
    """Two mutants of one second and one size would be taken for each other."""
    for stale in (place.parent / "__pycache__").glob(f"{place.stem}.*.pyc"):
        stale.unlink()


def _end(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def known(out: Path) -> Known:
    data = json.loads(out.read_text(encoding="utf-8"))
    lines = {file: {int(line): tests for line, tests in held.items()} for file, held in data["lines"].items()}
    return Known(data["seconds"], lines)


def equivalents() -> dict[tuple[str, str, str], str]:
    """File, words before, words after: why no test can see it."""
    if not EQUIVALENT.exists():
        return {}
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    return {(row["file"], row["before"], row["after"]): row["why"] for row in rows}


def drive(part: Part, copy: Copy, covered: Known, options: argparse.Namespace) -> Found:
    """Tries a sample of the mutants of a part, and says of each what became of it."""
    every = [site for file in part.files if options.only in file for site in sites(ROOT, file)]
    alike = equivalents()
    found = Found(part.name, len(every), len({(site.file, site.place) for site in every}))
    chosen = list(sample(every, options.sample, options.seed))
    for number, mutant in enumerate(chosen, 1):
        why = alike.get((mutant.file, mutant.before, mutant.after))
        if why is not None:
            found.alike.append((mutant, why))
            fate, by = "equivalent", why
        else:
            fate, by = tried(part, copy, covered, mutant, thorough=options.thorough)
        found.fates[fate] += 1
        if fate == "survived":
            found.survivors.append(mutant)
        print(f"{number}/{len(chosen)} {fate}: {mutant.name}  [{by}]", flush=True)
    return found


def tried(part: Part, copy: Copy, covered: Known, mutant: Mutant, *, thorough: bool) -> tuple[Fate, str]:
    tests = covered.tests(part, mutant)
    try:
        for some in filter(None, (tests[:FIRST], tests[FIRST:])):
            killed, by = copy.kills(mutant, some, sum(covered.seconds.get(test, 0.0) for test in some))
            if killed:
                covered.killers[by] += 1
                return "killed", by
        if part.last and thorough:
            # Children that are killed tell no coverage: whoever is alive meets all of those tests.
            killed, by = copy.kills(mutant, part.last, 60.0)
            if killed:
                return "killed", by
    except RuntimeError as error:
        return "broken", str(error)
    return "survived", f"{len(tests)} tests"


EXPLAINED = (
    "One place of the source is made wrong at a time (an operator of [cosmic-ray](https://github.com/sixty-"
    "north/cosmic-ray), a statement removed, a `return` of nothing), and the tests that run it must notice. Places "
    "are drawn at random, at most one mutant each: {sample} a part, seed {seed}; {minutes} minutes."
)


def page(found: Sequence[Found], options: argparse.Namespace, seconds: float) -> list[str]:
    """The section of this drill."""
    lines = [
        stamp(),
        "",
        EXPLAINED.format(sample=options.sample, seed=options.seed, minutes=round(seconds / 60)),
        "",
        "| part | places | possible changes | tried | killed | survived | equivalent | killed of those that could be |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for each in found:
        fates = each.fates
        lines.append(
            f"| {each.part} | {each.places:,} | {each.possible:,} | {fates.total()} | {fates['killed']} | "
            f"{fates['survived']} | {fates['equivalent']} | {each.share:.1%} |"
        )
    for each in found:
        if each.survivors:
            lines += ["", f"Survived in {each.part}:", ""]
            lines += [f"* `{mutant.file}:{mutant.line}` {said(mutant)}" for mutant in each.survivors]
        if each.alike:
            lines += ["", f"No test can see, in {each.part}:", ""]
            lines += [f"* `{mutant.file}:{mutant.line}` {said(mutant)}: {why}" for mutant, why in each.alike]
    return lines


def said(mutant: Mutant) -> str:
    return f"`` {mutant.before} `` to `` {mutant.after} ``"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Mutation testing of commit, recovery and checks.")
    parser.add_argument("--sample", type=int, default=100, help="places of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="", help="only the part whose name has this in it")
    parser.add_argument("--only", default="", help="only files whose path has this in it")
    parser.add_argument("--covered", type=Path, help="keep which test runs which line here, and take it from there")
    parser.add_argument("--thorough", action="store_true", help="a survivor meets the drills of kills as well")
    parser.add_argument("--no-page", action="store_true", help="write no section of the page")
    options = parser.parse_args(argv)
    for name in (*LIBRARIES, "pytest"):
        importlib.import_module(name)
    began, found = time.monotonic(), []
    parts = [part for part in PARTS if options.part in part.name]
    with tempfile.TemporaryDirectory(prefix="minutebook-mutation-") as folder:
        copy = Copy(Path(folder))
        out = options.covered or Path(folder) / "covered.json"
        covered = known(out) if out.exists() else copy.cover([test for part in parts for test in part.tests], out)
        for part in parts:
            found.append(drive(part, copy, covered, options))
            print(f"{part.name}: {dict(found[-1].fates)}, {found[-1].share:.1%} killed", flush=True)
    if not options.no_page:
        write_section("mutation", "Mutation testing", page(found, options, time.monotonic() - began))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
