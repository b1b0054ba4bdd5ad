"""`make drill-mutation`: does a test fail when the commit, the recovery or a check of entries is made wrong?

One place is made wrong (``mutants.py``), and the tests that run that place, by the coverage of one run before, go until
one fails: those first that are quick or killed many mutants before. The tests are loaded once; every mutant is a
process forked from there, in which a function gets the code of the mutant. What runs when a module is imported is
changed in a copy of the checkout and tested by a pytest of its own. A mutant that takes three times as long as its
tests did counts as killed.
What no test can see is named in ``tests/data/mutation/equivalent.toml`` with its reason, by file and words, so that it
stays known when lines move.

    make drill-mutation ARGS="--sample 200 --seed 1"
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import inspect
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
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
SECONDS_MAX = 40.0
"""Of tests for one mutant, as they took in the run before."""
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
            "tests/infrastructure/test_ledger.py",
            "tests/infrastructure/test_recovery_in_detail.py",
            "tests/infrastructure/test_replacement_in_detail.py",
            "tests/infrastructure/test_exchange.py",
            "tests/infrastructure/test_file_state.py",
            "tests/infrastructure/test_publisher_choices.py",
            "tests/infrastructure/test_publisher_in_detail.py",
            "tests/infrastructure/test_publisher.py",
            "tests/infrastructure/test_workspace.py",
            "tests/scenarios/test_publish_races.py",
            "tests/scenarios/test_memory_faults.py",
            "tests/scenarios/test_memory_path.py",
            "tests/scenarios/test_memory_import.py",
            "tests/scenarios/test_memory_decisions.py",
            "tests/scenarios/test_what_a_tester_broke_in_memory.py",
            "tests/scenarios/test_one_server.py",
            "tests/scenarios/test_shared_database.py",
            "tests/scenarios/test_trust.py",
            "tests/scenarios/test_system_errors.py",
            "tests/scenarios/test_damage_and_rebuild.py",
            "tests/scenarios/test_generation_drills.py",
        ),
        ("tests/scenarios/test_publish_kill.py", "tests/scenarios/test_curation_kill.py"),
    ),
    Part(
        "entry checks",
        tuple(f"domain/checks/{path.name}" for path in sorted((ROOT / "domain" / "checks").glob("*.py"))),
        (
            "tests/domain/test_entry_checks.py",
            "tests/domain/test_entry_checks_in_detail.py",
            "tests/domain/test_hidden_in_detail.py",
            "tests/domain/test_form_in_detail.py",
            "tests/domain/test_credentials_in_detail.py",
            "tests/domain/test_readings_in_detail.py",
            "tests/domain/test_patterns_in_detail.py",
            "tests/domain/test_rules_in_detail.py",
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

    def tests(self, part: Part, mutant: Mutant) -> tuple[list[str], bool]:
        """Those that run the place, first those likeliest to kill for their seconds; and whether any does.

        A place that runs at import alone is tried with all that run anything of the file.
        """
        lines = self.lines.get(mutant.file, {})
        found = {test for line in range(mutant.line, mutant.last + 1) for test in lines.get(line, ())}
        runs = bool(found)
        found = found or {test for tests in lines.values() for test in tests}
        ranks = {file: rank for rank, file in enumerate(part.tests)}

        def likely(test: str) -> tuple[float, int, str]:
            # What is quick goes first though another killed more: ten tests of a millisecond cost nothing.
            worth = (self.killers[test] + 0.5) / (self.seconds.get(test, 0.0) + 0.01)
            return -worth, ranks.get(test.partition("::")[0], 99), test

        chosen: list[str] = []
        spent = 0.0
        for test in sorted(found, key=likely):
            spent += self.seconds.get(test, 0.0)
            if spent <= SECONDS_MAX or not chosen:
                chosen.append(test)
        return chosen, runs


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
        """Runs all tests as they are; one that fails already can tell nothing and is left out."""
        there = [test for test in tests if (self.root / test).exists()]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "covering", *OPTIONS, *there]
        environment = {**os.environ, **self.environment, "COVERED_LINES_OF_TESTS": str(out)}
        done = subprocess.run(command, cwd=self.root, env=environment, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit("the tests cannot be run before anything is changed")
        return known(out)

    @property
    def environment(self) -> dict[str, str]:
        places = (self.root / ".package", self.root / "tests" / "support")
        return {"PYTHONPATH": ":".join(map(str, places))}

    def kills(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[bool, str]:
        """Whether a test fails with the mutant in place of the file, and which, in a pytest of its own."""
        place = self.root / mutant.file
        sound = place.read_bytes()
        place.write_text(mutant.code, encoding="utf-8")
        _forget_compiled(place)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", *OPTIONS, *tests]
        try:
            done = subprocess.run(
                command, cwd=self.root, env={**os.environ, **self.environment}, timeout=60.0 + 3.0 * seconds,
                capture_output=True, text=True, check=False, start_new_session=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True, "took three times as long"
        finally:
            place.write_bytes(sound)
            _forget_compiled(place)
        if done.returncode in (3, 5):  # 4: not even what all tests share can be imported
            raise RuntimeError(done.stdout[-2_000:])
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return done.returncode != 0, failed[0].split()[1] if failed else f"status {done.returncode}"


class Loaded:
    """A plug-in of pytest: instead of running what it has collected, it tries mutants in forks of this process."""

    def __init__(self, drive: Callable[[Loaded], None]) -> None:
        self._drive = drive
        self._items: dict[str, Any] = {}

    def pytest_runtestloop(self, session: Any) -> bool:
        self._items = {item.nodeid: item for item in session.items}
        self._drive(self)
        return True

    def kills(self, mutant: Mutant, tests: Sequence[str], seconds: float) -> tuple[bool, str] | None:
        """Whether a test fails, and which; None where the change is not in a function that is there."""
        source = (ROOT / mutant.file).read_text(encoding="utf-8")
        change = changed_function(source, mutant.code)
        if change is None or not _holders(mutant.file, change[0]) or _made_already(mutant.file, change[0]):
            return None
        while True:
            failed, by = self._fork(mutant.file, change, tests, seconds)
            if not failed or by not in self._items or not self._fork(mutant.file, None, [by], seconds)[0]:
                return failed, by
            print(f"left out, it fails without a mutant too: {by}", flush=True)
            del self._items[by]

    def _fork(
        self, file: str, change: tuple[CodeType, CodeType] | None, tests: Sequence[str], seconds: float
    ) -> tuple[bool, str]:
        """Whether one of the tests fails in a process of its own, with a change or as it is, and which."""
        chosen = [self._items[test] for test in tests if test in self._items]
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            self._child(file, change, chosen, write)
        os.close(write)
        until = time.monotonic() + 30.0 + 3.0 * seconds
        while not os.waitpid(child, os.WNOHANG)[0]:
            if time.monotonic() > until:
                _end(child)
                os.waitpid(child, 0)
                os.close(read)
                return True, "took three times as long"
            time.sleep(0.02)
        _end(child)  # what the tests may have left running in their group
        with os.fdopen(read, "rb") as pipe:
            told = pipe.read().decode()
        if told == "survived":
            return False, ""
        return True, told or "the process died"

    def _child(self, file: str, change: tuple[CodeType, CodeType] | None, chosen: Sequence[Any], write: int) -> None:
        told = ""
        try:
            os.setsid()
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            if change is not None:
                _put_in_place(file, *change)
            runner: Any = importlib.import_module("_pytest.runner")
            for item, following in zip(chosen, [*chosen[1:], None], strict=True):
                reports = runner.runtestprotocol(item, nextitem=following, log=False)
                if any(report.failed for report in reports):
                    told = item.nodeid
                    break
            else:
                told = "survived"
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        finally:
            os.write(write, told.encode())
            os._exit(0)


def _holders(file: str, code: CodeType) -> list[FunctionType]:
    """The functions of a file that run a code, in whatever they are wrapped."""
    return [
        each
        for each in gc.get_objects()
        if isinstance(each, FunctionType)
        and each.__code__.co_qualname == code.co_qualname
        and each.__code__.co_firstlineno == code.co_firstlineno
        and os.path.realpath(each.__code__.co_filename) == str(ROOT / file)
    ]


def _made_already(file: str, code: CodeType) -> bool:
    """Whether what stands inside of the function was made while a module was imported, and would stay as it was."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return any(_holders(file, each) or _made_already(file, each) for each in inner)


def _put_in_place(file: str, old: CodeType, new: CodeType) -> None:
    for function in _holders(file, old):
        function.__code__ = new


def changed_function(source: str, code: str) -> tuple[CodeType, CodeType] | None:
    """The outermost function that differs, as it was and as it is; None where something outside of functions does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of "is" beside a literal, which is what was asked for
        before, after = _functions(compile(source, "m", "exec")), _functions(compile(code, "m", "exec"))
    differing = [name for name in before if name in after and before[name] != after[name]]
    if before.keys() != after.keys() or len(differing) != 1 or not _is_function(before[differing[0]]):
        return None
    return before[differing[0]], after[differing[0]]


def _is_function(code: CodeType) -> bool:
    """Not what runs while a module is imported: the module, the body of a class, what it builds a list with."""
    return bool(code.co_flags & inspect.CO_NEWLOCALS) and (code.co_name == "<lambda>" or code.co_name[0] != "<")


def _functions(code: CodeType, inside: str = "") -> dict[tuple[str, int], CodeType]:
    """Functions that are in no other one, also those of classes; what is left of a module stands under its own name."""
    found: dict[tuple[str, int], CodeType] = {}
    rest = []
    for const in code.co_consts:
        if not isinstance(const, CodeType):
            rest.append(const)
        elif _is_function(const):
            found[const.co_qualname, const.co_firstlineno] = const
        else:
            found |= _functions(const, const.co_qualname)
    blank = code.replace(co_consts=tuple(None if isinstance(each, CodeType) else each for each in code.co_consts))
    found[f"<{inside}>", code.co_firstlineno] = blank
    return found


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


def drive(part: Part, loaded: Loaded, copy: Copy, covered: Known, options: argparse.Namespace) -> Found:
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
            fate, by = tried(part, loaded, copy, covered, mutant, thorough=options.thorough)
        found.fates[fate] += 1
        if fate == "survived":
            found.survivors.append(mutant)
        print(f"{number}/{len(chosen)} {fate}: {mutant.name}  [{by}]", flush=True)
    return found


def tried(
    part: Part, loaded: Loaded, copy: Copy, covered: Known, mutant: Mutant, *, thorough: bool
) -> tuple[Fate, str]:
    tests, runs = covered.tests(part, mutant)
    seconds = sum(covered.seconds.get(test, 0.0) for test in tests)
    try:
        killed, by = (loaded.kills(mutant, tests, seconds) if runs else None) or copy.kills(mutant, tests, seconds)
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
    began = time.monotonic()
    found: list[Found] = []
    parts = [part for part in PARTS if options.part in part.name]
    with tempfile.TemporaryDirectory(prefix="minutebook-mutation-") as folder:
        copy = Copy(Path(folder))
        out = options.covered or Path(folder) / "covered.json"
        names = [test for part in parts for test in part.tests if (ROOT / test).exists()]
        covered = known(out) if out.exists() else copy.cover(names, out)

        def try_all(loaded: Loaded) -> None:
            for part in parts:
                found.append(drive(part, loaded, copy, covered, options))
                print(f"{part.name}: {dict(found[-1].fates)}, {found[-1].share:.1%} killed", flush=True)
                if not options.no_page:
                    write_section("mutation", "Mutation testing", page(found, options, time.monotonic() - began))

        pytest: Any = importlib.import_module("pytest")
        os.chdir(ROOT)
        places = ["--basetemp", str(Path(folder) / "temp"), "--rootdir", str(ROOT)]
        pytest.main(["-s", "-q", *OPTIONS, *places, *names], plugins=[Loaded(try_all)])
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
