"""The rows of the fault matrix that concern memory and its file, each with its tests (reliability.md 3.1 and 3.4).

``ROWS`` is the table; docs/explanation/crash-and-recovery.md shows it, and a test holds the two together. What no other
module drives stands below.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import mmap
import os
import random
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from disk import Call, states

from minutebook import Minutebook, MinutebookError
from minutebook.domain.errors import StreamConflict
from minutebook.infrastructure.store.failpoints import POINTS, armed
from minutebook.infrastructure.work import replacement
from minutebook.infrastructure.work.exchange import exchange

# ruff: noqa: E501 - the table is read in rows

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "explanation" / "crash-and-recovery.md"

KILL, RACES, PUBLISHER = "test_publish_kill", "test_publish_races", "test_publisher"
DAMAGE = "test_damage_and_rebuild"
WORKSPACE, FAULTS, SCHEDULE = "test_workspace", "test_memory_faults", "test_curation_schedule"
PUBLISHING = (KILL, "test_a_kill_while_publishing_ends_in_agreement")
CURATION = ("test_curation_kill", "test_a_proposal_of_a_run_that_succeeded_survives_the_kill_of_its_curation")

ROWS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "M01": ("a call is received, nothing stored", (("test_memory_calls", "test_a_call_of_each_shape_is_taken_and_its_id_makes_it_idempotent"),)),
    "M02": ("a candidate of an open run", ((FAULTS, "test_a_candidate_of_a_run_that_died_is_withdrawn"),)),
    "M03": ("the success of a run and its candidates", ((FAULTS, "test_a_run_succeeds_with_its_candidates_or_not_at_all"),)),
    "M04": ("recorded, not acknowledged", ((FAULTS, "test_the_retry_of_what_was_recorded_adds_nothing"),)),
    "M05": ("a curation holds its lease", (CURATION, (SCHEDULE, "test_a_second_process_does_not_curate_beside_the_first"))),
    "M06-M07": ("the curator is asked, has answered", (CURATION, (SCHEDULE, "test_a_curator_that_hangs_keeps_no_append_and_no_context_waiting"))),
    "M08": ("the answer is refused", (CURATION, ("test_memory_path", "test_what_keeps_failing_is_set_aside_and_named"))),
    "M09-M22": ("each step of publishing", (PUBLISHING, (KILL, "test_a_kill_while_the_first_file_is_made_ends_in_agreement"))),
    "M23": ("an edit while a revision is prepared", ((KILL, "test_an_edit_while_a_dead_process_left_a_revision_prepared_is_drift_and_stays"),)),
    "M24": ("an edit in the last microsecond", ((KILL, "test_an_edit_in_the_last_microsecond_before_a_kill_becomes_a_displaced_revision"), (RACES, "test_an_edit_at_any_moment_is_in_the_file_or_in_the_log"))),
    "M25": ("recovery beside a live commit", ((KILL, "test_a_recovery_never_disturbs_a_live_commit_and_takes_over_a_dead_one"),)),
    "M26": ("a crash in the recovery", ((KILL, "test_a_kill_of_the_recovery_of_an_unwritten_revision_is_recovered"), (KILL, "test_a_kill_of_the_recovery_of_a_written_revision_is_recovered"))),
    "F01-F11": ("a failing fsync, rename, write", ((PUBLISHER, "test_a_call_that_fails_before_the_rename_changes_nothing"), (PUBLISHER, "test_a_call_that_fails_after_the_rename_is_in_doubt_until_recovery_decides"))),
    "F12": ("a full disk in a batch", (("test_contention", "test_a_full_disk_keeps_nothing_of_the_write_and_goes_on_when_there_is_room"),)),
    "F13-F14": ("not writable, another owner", ((WORKSPACE, "test_a_folder_that_may_not_be_written_is_refused_before_anything_is_prepared"), (PUBLISHER, "test_a_file_that_could_not_be_given_back_is_refused_before_anything_is_prepared"))),
    "F15": ("stale and foreign names", ((WORKSPACE, "test_names_that_only_look_like_ours_are_not_ours"), (WORKSPACE, "test_a_stale_temp_file_is_in_nobodys_way_and_displaced_bytes_are_never_overwritten"))),
    "F16": ("a symbolic link", ((WORKSPACE, "test_a_symbolic_link_is_refused_wherever_it_leads"), (RACES, "test_a_link_put_in_the_place_of_the_file_is_put_back_and_never_followed"))),
    "F17": ("a folder, FIFO, socket, device", ((WORKSPACE, "test_whatever_is_no_regular_file_is_refused_at_once"),)),
    "F18": ("a hard link", ((PUBLISHER, "test_a_hard_link_is_warned_of_and_the_other_name_keeps_the_old_text"),)),
    "F19": ("file or folder deleted, replaced", ((PUBLISHER, "test_a_missing_file_is_not_an_empty_one_and_is_never_made_again_in_silence"), (RACES, "test_a_folder_that_is_replaced_meanwhile_is_never_taken_for_ours"))),
    "F20": ("mode, owner, access list", ((PUBLISHER, "test_mode_and_owner_stay_as_they_were"), (PUBLISHER, "test_an_access_list_stays_as_it_was"))),
    "F21": ("line ends, BOM, NUL, invalid UTF-8", (("test_memory_files", "test_a_file_is_synced_fixed_or_refused_as_written_down"), (PUBLISHER, "test_harmless_differences_are_named_and_accepted_with_fix"))),
    "F22": ("100 MB, a million entries", ((WORKSPACE, "test_a_file_of_100_megabytes_is_refused_without_being_read"), (FAULTS, "test_a_file_of_any_size_is_refused_in_a_moment_and_without_growth"))),
    "F24": ("a network file system", (("test_system_errors", "test_a_book_on_a_network_file_system_is_refused_before_anything_is_made"),)),
    "F25": ("locked for a second, a minute, by a dead one", ((WORKSPACE, "test_a_second_holder_is_told_who_to_wait_for_and_how_long"), (WORKSPACE, "test_the_lock_dies_with_its_process"))),
    "F30": ("a clock that jumps", ((FAULTS, "test_a_clock_that_jumps_decides_no_order_of_revisions"), (SCHEDULE, "test_a_lease_runs_out_on_the_clock_of_the_database"))),
    "F31": ("two engines, a fork", ((KILL, "test_writers_in_several_processes_lose_no_update"), (WORKSPACE, "test_a_child_forked_under_the_lock_neither_holds_it_nor_lets_go_of_it"))),
    "F32": ("signals at a step", ((KILL, "test_a_signal_that_ends_the_process_is_no_worse_than_a_kill"), (FAULTS, "test_an_interrupt_at_a_step_leaves_agreement"))),
    "F33": ("no file descriptors left", ((FAULTS, "test_a_process_without_descriptors_fails_cleanly_and_goes_on_later"),)),
    "F34": ("a reader that holds the file, no sync of folders", ((FAULTS, "test_a_reader_that_holds_the_file_neither_waits_nor_makes_wait"), (FAULTS, "test_a_folder_that_cannot_be_synced_is_a_weaker_promise_and_no_failure"), (FAULTS, "test_a_system_with_a_full_sync_is_asked_for_it"))),
    "F35": ("other spellings of the name", ((FAULTS, "test_another_spelling_of_the_name_is_another_file"),)),
    "F36": ("an older database under a newer file", ((PUBLISHER, "test_an_older_database_under_a_newer_file_is_drift_and_overwrites_nothing"), (DAMAGE, "test_a_restored_backup_that_is_older_than_the_file_is_noticed"))),
    "F37": ("power loss: all subsets of what was not synced", ((FAULTS, "test_no_power_loss_leaves_a_torn_file_or_a_commit_without_its_file"), ("test_power_loss", "test_no_power_loss_tears_the_memory_file_or_takes_it_back"))),
}  # fmt: skip
"""Row: what happens, and (module, test) of each test that drives it."""


def test_every_row_names_tests_that_there_are() -> None:
    there: dict[str, set[str]] = {}
    for path in HERE.parent.rglob("test_*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        there[path.stem] = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    missing = [(row, test) for row, (_, tests) in ROWS.items() for module, test in tests if test not in there[module]]
    assert missing == []


def test_every_failpoint_of_memory_belongs_to_a_row_of_the_table() -> None:
    covered = set()
    for row in ROWS:
        first, _, last = row.partition("-")
        letter, numbers = first[0], range(int(first[1:]), int((last or first)[1:]) + 1)
        covered |= {f"{letter}{number:02}" for number in numbers}
    rows = {row.split()[0] for row in POINTS.values()}
    wanted = {part for row in rows for part in row.split("-") if part[0] in "MF"}
    assert wanted <= covered


def test_the_page_shows_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for row, (what, tests) in ROWS.items():
        assert (
            f"| {row} | {what} | {', '.join(f'`{module}`' for module in dict.fromkeys(m for m, _ in tests))} |" in page
        )


# --- M01 to M04


def add(text: str) -> dict[str, str]:
    return {"operation": "add", "text": text}


def topics(book: Minutebook) -> list[str]:
    return [event.type for event in book.log()]


def test_a_candidate_of_a_run_that_died_is_withdrawn(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        book = Minutebook.open(tmp_path, automatic=False)
        run = book.session("s").run()
        run.memory(add("The build needs make 4.3 or newer."))
        os._exit(0)
    os.waitpid(pid, 0)
    with Minutebook.open(tmp_path, automatic=False) as book:
        assert topics(book)[-2:] == ["RunInterrupted", "CandidateWithdrawn"]
        assert book.curate().status == "nothing"
        assert book.memory.entries() == []


def test_a_run_succeeds_with_its_candidates_or_not_at_all(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        run = book.session("s").run()
        run.append({"role": "user", "content": "Note both."})
        for text in ("Tests run with pytest.", "Releases are cut on Fridays."):
            run.memory(add(text))
        log, append = book._runtime.log, book._runtime.log.append

        def fails(events: Any, **options: Any) -> Any:
            def within(connection: Any, positions: Any) -> None:
                raise OSError("the disk is full")

            return append(events, **{**options, "within": within})

        log.append = fails  # type: ignore[method-assign]
        with pytest.raises((OSError, MinutebookError)):
            run.succeed()
        log.append = append  # type: ignore[method-assign]
        assert not {"RunSucceeded", "CandidateAdmitted"} & set(topics(book))
        run.succeed()
        assert topics(book)[-3:] == ["RunSucceeded", "CandidateAdmitted", "CandidateAdmitted"]


def test_the_retry_of_what_was_recorded_adds_nothing(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        run = book.session("s").run()
        first = run.memory(add("Tests run with pytest."), call_id="c1")
        again = run.memory(add("Tests run with pytest."), call_id="c1")
        assert again.candidate == first.candidate
        held = run.memory(add("Releases are cut on Fridays."), "tool").candidate
        run.succeed()
        with pytest.raises(MinutebookError) as closed:
            run.succeed()
        assert closed.value.code == "run_closed"
        book.memory.approve(held)
        with pytest.raises(MinutebookError) as decided:
            book.memory.approve(held)
        assert decided.value.code == "not_quarantined"
        counted = topics(book)
        assert (counted.count("CandidateProposed"), counted.count("CandidateApproved")) == (2, 1)


# --- F22


LARGE = {
    "100 MB": ("b'x' * 100_000_000", "memory_too_large"),
    "a million entries": ("'a\\n§\\n'.encode() * 1_000_000", "memory_too_large"),
    "as many entries as a megabyte holds": ("'a\\n§\\n'.encode() * 199_999", "memory_invalid"),
    "as many entries, each another": ("''.join(f'{n:x}\\n§\\n' for n in range(110_000)).encode()", "memory_invalid"),
    "thousands of entries, each another": (
        "''.join(f'Fact {n}.\\n§\\n' for n in range(4_000)).encode()",
        "memory_invalid",
    ),
    "as many lines": ("b'x\\n' * 499_000", "memory_invalid"),
    "an entry of 10 MB": ("b'a' * 10_000_000", "memory_too_large"),
    "an entry of a megabyte": ("b'a b ' * 249_000", "memory_invalid"),
}

LOOK = """
import resource, subprocess, sys, time
from minutebook import Minutebook, MinutebookError
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 10 if sys.platform == "linux" else 1 << 20)
with Minutebook.open(sys.argv[1], automatic=False) as book:
    file = book._publisher.workspace.path
    file.parent.mkdir(parents=True, exist_ok=True)
    for text in ("One fact\\n", "One fact\\n§\\nTwo facts\\n"):
        file.write_text(text)
        book.memory.sync(fix=True)
    book.memory.status()
    subprocess.run([sys.executable, "-c", f"open({str(file)!r}, 'wb').write({sys.argv[2]})"], check=True)
    before, began = peak(), time.process_time()
    try:
        book.memory.sync(fix=True)
    except MinutebookError as error:
        print(error.code)
    print(time.process_time() - began)
    print(peak() - before)
"""


@pytest.mark.sqlite_only("a file that is refused")
@pytest.mark.parametrize("kind", LARGE)
def test_a_file_of_any_size_is_refused_in_a_moment_and_without_growth(tmp_path: Path, kind: str) -> None:
    """Peak memory counts, so the file is written by another process; time is the processor's, others may be at work."""
    content, code = LARGE[kind]
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(tmp_path), content],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1] / ".package")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said, seconds, grown = done.stdout.split()
    assert said == code
    assert float(seconds) < 1.0
    assert float(grown) < 20.0, f"{grown} MB"


# --- F34: a reader that holds the file, a folder that cannot be synced, a drive that is asked for more


def test_a_reader_that_holds_the_file_neither_waits_nor_makes_wait(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.memory.import_notes(b"- One fact\n")
        file = book._publisher.workspace.path
        with file.open("rb") as held, mmap.mmap(held.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            fcntl.flock(held, fcntl.LOCK_SH)
            assert book.memory.import_notes(b"- Another fact\n").changed
            assert mapped[:] == held.read() == b"One fact\n"
        assert file.read_text() == "One fact\n§\nAnother fact\n"
        assert book.memory.status().state == "clean"


@pytest.mark.parametrize("errno", ["EINVAL", "ENOTSUP"])
def test_a_folder_that_cannot_be_synced_is_a_weaker_promise_and_no_failure(tmp_path: Path, errno: str) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.memory.import_notes(b"- One fact\n")
        with armed("file.fsync_folder", f"raise({errno})"):
            assert book.memory.import_notes(b"- Another fact\n").changed
        assert book.memory.status().state == "clean"
        assert book.verify().ok


def test_a_system_with_a_full_sync_is_asked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F_GETFL stands in for macOS's F_FULLFSYNC: a call that every system has, on the descriptor of the new file."""
    asked: list[int] = []
    plain = fcntl.fcntl

    def counting(descriptor: int, command: int, *rest: Any) -> Any:
        if command == fcntl.F_GETFL:
            asked.append(os.fstat(descriptor).st_size)
        return plain(descriptor, command, *rest)

    monkeypatch.setattr(replacement, "_FULLFSYNC", fcntl.F_GETFL)
    monkeypatch.setattr(fcntl, "fcntl", counting)
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.memory.import_notes(b"- One fact\n")
        assert asked == [len("One fact\n")]
        assert book.memory.status().state == "clean"


# --- F30, F32, F33, F35


@pytest.mark.parametrize("step", [timedelta(hours=-1), timedelta(0), timedelta(days=3_650)])
def test_a_clock_that_jumps_decides_no_order_of_revisions(tmp_path: Path, step: timedelta) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    with Minutebook.open(tmp_path, clock=lambda: now[0], automatic=False) as book:
        for number in range(4):
            with book.session(f"s{number}").run() as run:
                run.memory(add(f"Server {number} stands in rack {number}"))
            assert book.curate().status == "committed"
            now[0] += step
        assert [row.revision for row in book.memory.revisions()] == [1, 2, 3, 4]
        assert book.memory.status().state == "clean"
        assert len(book.memory.show(2).entries) == 2
        assert book.memory.restore(1).revision == 5
        assert book.verify().ok


@pytest.mark.parametrize("point", ["publish.prepared", "file.fsync_temp", "file.fsync_folder", "publish.commit"])
def test_an_interrupt_at_a_step_leaves_agreement(tmp_path: Path, point: str) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with Minutebook.open(tmp_path, automatic=False) as book:
        with book.session("s").run() as run:
            run.memory(add("Tests run with pytest."))
        with armed(point, interrupt), pytest.raises(KeyboardInterrupt):
            book.curate()
        assert book.curate().status in ("committed", "nothing")
        assert [entry.text for entry in book.memory.entries()] == ["Tests run with pytest."]
        assert book.memory.status().state == "clean"
        assert book.verify().ok
        assert [path.name for path in book._publisher.workspace.path.parent.iterdir()] == ["MEMORY.md"]


def test_a_process_without_descriptors_fails_cleanly_and_goes_on_later(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.memory.import_notes(b"- One fact\n")
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        held: list[int] = []
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 8, hard))
            with contextlib.suppress(OSError):
                while len(held) < 100:
                    held.append(os.open("/dev/null", os.O_RDONLY))
            assert len(held) < 100, "nothing is left to open"
            with pytest.raises(MinutebookError) as refusal:
                book.memory.import_notes(b"- Another fact\n")
        finally:
            for descriptor in held:
                os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert refusal.value.code in {"memory_busy", "bad_workspace", "store_unavailable", "store_failed"}, (
            refusal.value
        )
        assert book.memory.import_notes(b"- Another fact\n").changed
        assert book.memory.status().state == "clean"


@pytest.mark.sqlite_only("file names")
@pytest.mark.parametrize("name", ["memory.md", "Memory.md", "MEMORY.MD", "ＭＥＭＯＲＹ.md"])
def test_another_spelling_of_the_name_is_another_file(tmp_path: Path, name: str) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        folder = book._publisher.workspace.path.parent
        folder.mkdir(parents=True)
        (folder / name).write_text("Somebody else's notes\n")
        if (folder / "MEMORY.md").exists():
            pytest.skip("this file system takes the two names for one")
        assert book.memory.status().state == "clean"
        book.memory.import_notes(b"- One fact\n")
        assert (folder / name).read_text() == "Somebody else's notes\n"
        assert (folder / "MEMORY.md").read_text() == "One fact\n"


# --- F37: what the disk may hold after a power loss


BEGUN = 4
"""So many calls of a trace stand for the file as it was before."""


def trace(book: Minutebook, monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> list[Call]:
    """What one publication asks of the disk, in its order, and what the log had made durable meanwhile.

    Taken from Python's own calls, so that it shows this very code where there is no strace too.
    """
    file = book._publisher.workspace.path
    calls = [Call("make", file.name), Call("write", file.name, data=file.read_bytes()), Call("sync", file.name)]
    calls.append(Call("sync"))
    written = [0]

    def temp() -> str:
        return next(call.path for call in reversed(calls) if call.kind == "make")

    def opened(name: Any, flags: int, *_: Any) -> list[Call]:
        return [Call("make", name)] if flags & os.O_CREAT and str(name).endswith(".tmp") else []

    def wrote(_: int, data: Any) -> list[Call]:
        at, written[0] = written[0], written[0] + len(data)
        return [Call("write", temp(), offset=at, data=bytes(data))]

    def synced(descriptor: int) -> list[Call]:
        return [Call("sync", "" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else temp())]

    def watched(call: Callable[..., Any], seen: Callable[..., list[Call]]) -> Callable[..., Any]:
        def made(*arguments: Any, **options: Any) -> Any:
            answer = call(*arguments, **options)
            calls.extend(seen(*arguments))
            return answer

        return made

    with monkeypatch.context() as patched:
        for name, seen in (("open", opened), ("write", wrote), ("fsync", synced)):
            patched.setattr(os, name, watched(getattr(os, name), seen))
        for name in ("rename", "replace"):
            patched.setattr(os, name, watched(getattr(os, name), lambda old, new: [Call("rename", old, new)]))
        patched.setattr(replacement, "exchange", watched(exchange, lambda _, one, two: [Call("exchange", one, two)]))
        log = book._runtime.log
        durable = watched(
            log.append, lambda events: [Call("told", told={type(each).__name__: True}) for each in events]
        )
        patched.setattr(log, "append", durable)
        change()
    return calls


def disks(calls: list[Call]) -> set[tuple[bool, bool, bytes | None]]:
    """Every (prepared, committed, content under the name) that a disk may hold when the power goes at any step."""
    found = set()
    for sample in states(calls, each=1 << 12, chance=random.Random(1)):
        if sample.cut < BEGUN:
            continue
        told = {name for line in sample.told for name in line}
        found.add(("RevisionPrepared" in told, "RevisionCommitted" in told, sample.state.get("MEMORY.md")))
    return found


@pytest.mark.sqlite_only("the order of fsync and commit is the same")
def test_no_power_loss_leaves_a_torn_file_or_a_commit_without_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        book.memory.import_notes(b"- One fact\n")
        calls = trace(book, monkeypatch, lambda: book.memory.import_notes(b"- Another fact\n"))
        old, new = b"One fact\n", book._publisher.workspace.path.read_bytes()
    left_out = [place for place, call in enumerate(calls) if call.kind == "sync"][2:]
    assert len(left_out) == 2, "the new file and its folder"
    found = disks(calls)
    assert (True, True, new) in found
    for prepared, committed, content in found:
        assert content in (old, new), "torn"
        assert content == old or prepared, "a new file is always announced: recovery knows it"
        assert content == new or not committed, "what is committed is on the disk"
    # Without the one or the other sync there are bad states: the model can tell the difference.
    for place in left_out:
        worse = disks([call for number, call in enumerate(calls) if number != place])
        assert any(c not in (old, new) or (done and c == old) for _, done, c in worse), calls[place]


def test_a_stream_that_moved_refuses_the_end_of_a_run_as_a_whole(tmp_path: Path) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        run = book.session("s").run()
        run.memory(add("Tests run with pytest."))
        append = book._runtime.log.append

        def conflicting(events: Any, **options: Any) -> Any:
            raise StreamConflict("somebody was first")

        book._runtime.log.append = conflicting  # type: ignore[method-assign]
        with pytest.raises(MinutebookError) as refusal:
            run.succeed()
        book._runtime.log.append = append  # type: ignore[method-assign]
        assert refusal.value.code == "run_closed"
        assert "CandidateAdmitted" not in topics(book)
