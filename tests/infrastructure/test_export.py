"""A log goes out as lines and comes in again as the same log; what was damaged on the way is named, and nothing of it
is taken in (E4)."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from erasing import erase
from eventsourcing.persistence import StoredEvent
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook.domain.errors import InputError, MinutebookError, StoreError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.export import exported
from minutebook.infrastructure.store.load import load
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.store.verification import verify_log
from minutebook.verify import Report, envelope_digest, main, verify

ROOT = Path(__file__).resolve().parents[2]
EVENTS, ERASED = 14, (3, 5)

Make = Callable[..., Any]
Value = dict[str, Any]


def fill(log: Log, message: Make) -> None:
    """Messages plain and strange, two of them erased, and events of another application."""
    texts = ["hello", "grüße 你好 🙂", 'quotes " and \\ and \n', "x" * 3_000, "\u2028\u0000\x7f", "secret", "", "{}"]
    log.append([message(number, text) for number, text in enumerate(texts, 1)])
    log.append([message(number, session=f"s{number}") for number in range(9, 12)])
    erase(log, ERASED)
    log.append_stored([StoredEvent(uuid4(), 1, "elsewhere:Thing", b'{"a":1}')])
    log.append_stored([StoredEvent(uuid4(), 0, "elsewhere:Packed", b"\x00\xff\x80")])


def whole(log: Log) -> bytes:
    return b"".join(exported(log))


def verdict(data: bytes, anchor: tuple[int, bytes] | None = None) -> Report:
    return verify(io.BytesIO(data), anchor)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Log]:
    """A log without an event, beside the one under test."""
    database = Database(tmp_path / "empty.db")
    yield Log(database)
    database.close()


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The lines of a log as ``fill`` makes it."""
    from datetime import UTC, datetime

    from minutebook.domain.catalogue import MessageRecorded
    from minutebook.domain.events import Envelope, encode_payload
    from minutebook.domain.streams import message_stream

    def message(number: int, text: str = "hello", *, session: str = "s") -> MessageRecorded:
        when = datetime(2026, 1, 1, tzinfo=UTC)
        return MessageRecorded(
            message=f"m{number}", role="user", form="openai", tokens=3, counter="estimate-1", size=len(text),
            envelope=Envelope(message_stream("local", session, f"m{number}"), 1, "local", when, "agent", session),
            payload=encode_payload({"source": text}),
        )  # fmt: skip

    database = Database(tmp_path_factory.mktemp("export") / "book.db")
    log = Log(database)
    fill(log, message)
    data = whole(log)
    database.close()
    return data


# --- there and back


@pytest.mark.parametrize(("here", "there"), [("sqlite", "sqlite"), ("sqlite", "postgres"), ("postgres", "sqlite")])
def test_an_export_makes_an_equal_log_on_either_database(
    here: str, there: str, message: Make, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    # given a log with all that a log can hold
    urls = {
        "sqlite": f"sqlite:///{tmp_path / 'book.db'}",
        "postgres": request.getfixturevalue("postgres_url") if "postgres" in (here, there) else "",
    }
    database = Database(urls[here])
    other = Database(f"sqlite:///{tmp_path / 'other.db'}" if here == there else urls[there])
    try:
        log = Log(database)
        fill(log, message)
        data = whole(log)
        assert verdict(data).ok, verdict(data)
        # when another database takes it in
        copy = Log(other)
        head = load(copy, io.BytesIO(data))
        # then every position, link, payload and erasure is there, and the copy exports the same bytes
        assert head == log.head() == copy.head()
        assert [event._key() for event in copy.read()] == [event._key() for event in log.read()]
        assert whole(copy) == data
        report = verify_log(copy)
        assert report.ok, report.detail
        assert report.erased == ERASED
        # and it goes on as a log does
        copy.append([message(99)])
        assert copy.head().position == EVENTS + 1
    finally:
        database.close()
        other.close()


def test_an_empty_log_is_exported_and_imported(database: Database, empty: Log) -> None:
    data = whole(Log(database))
    assert verdict(data) == Report(True, 0, 0, bytes(32).hex())
    assert load(empty, io.BytesIO(data)).position == 0


def test_what_is_appended_and_erased_meanwhile_belongs_to_the_next_export(database: Database, message: Make) -> None:
    # given an export that is under way
    log = Log(database)
    log.append([message(number) for number in range(1, 4)])
    lines = exported(log)
    first = [next(lines), next(lines)]
    # when another connection appends and erases
    erase(Log(database), [3])
    # then the export is whole, and as the log was when it began
    data = b"".join([*first, *lines])
    assert verdict(data).ok, verdict(data)
    assert (verdict(data).events, verdict(data).erased) == (3, 0)
    assert verdict(whole(log)).erased == 1


def test_memory_does_not_grow_with_the_log(tmp_path: Path, message: Make) -> None:
    database, other = Database(tmp_path / "large.db"), Database(tmp_path / "copy.db")
    log = Log(database)
    for start in range(0, 600, 50):
        log.append([message(number, "word " * 16_000) for number in range(start, start + 50)])
    path = tmp_path / "large.jsonl"
    tracemalloc.start()
    try:
        with path.open("wb") as file:
            file.writelines(exported(log))
        exporting = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        with path.open("rb") as file:
            assert verify(file).ok
        verifying = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        with path.open("rb") as file:
            load(Log(other), file)
        loading = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        database.close()
        other.close()
    size = path.stat().st_size
    assert size > 45_000_000
    assert exporting < 8_000_000, f"{exporting:,} for {size:,}"
    assert verifying < 8_000_000, f"{verifying:,} for {size:,}"
    assert loading < 32_000_000, f"{loading:,} for {size:,}"


# --- every kind of damage

Damage = Callable[[list[bytes]], list[bytes]]


def change(line: int, **values: Any) -> Damage:
    """Other values in a line (1 is the header)."""

    def damage(lines: list[bytes]) -> list[bytes]:
        value = json.loads(lines[line - 1])
        value.update(values)
        return [*lines[: line - 1], packed(value), *lines[line:]]

    return damage


def packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def text(line: int, old: bytes, new: bytes) -> Damage:
    def damage(lines: list[bytes]) -> list[bytes]:
        assert old in lines[line - 1]
        return [*lines[: line - 1], lines[line - 1].replace(old, new, 1), *lines[line:]]

    return damage


def flipped(name: str, line: int) -> Damage:
    """One digit of a hexadecimal value is another."""

    def damage(lines: list[bytes]) -> list[bytes]:
        value = json.loads(lines[line - 1])
        digits = value[name]
        return change(line, **{name: digits[:-1] + ("0" if digits[-1] != "0" else "1")})(lines)

    return damage


def forged(lines: list[bytes]) -> list[bytes]:
    """An event rewritten with its own link made anew: the next one gives it away."""
    before, event = json.loads(lines[6]), json.loads(lines[7])
    event["session"] = "another"
    link = sha256(bytes.fromhex(before["chain"]) + event["position"].to_bytes(8, "big") + envelope_digest(event))
    event["chain"] = link.hexdigest()
    return [*lines[:7], packed(event), *lines[8:]]


def linked(lines: list[Value], first: int) -> bytes:
    """A whole chain made anew from a line on."""
    link = bytes.fromhex(lines[first - 1]["chain"])
    for event in lines[first:]:
        link = sha256(link + event["position"].to_bytes(8, "big") + envelope_digest(event)).digest()
        event["chain"] = link.hex()
    lines[0]["chain"] = link.hex()
    return b"".join(map(packed, lines))


DAMAGES: dict[str, tuple[Damage, str, int | None]] = {
    "the file is empty": (lambda lines: [], "truncated", 1),
    "the header is gone": (lambda lines: lines[1:], "bad_header", 1),
    "the header is cut": (lambda lines: [lines[0][:40]], "truncated", 1),
    "another format": (change(1, format="something"), "bad_header", 1),
    "a newer version": (change(1, version=2), "unknown_version", 1),
    "a version that is none": (change(1, version=True), "unknown_version", 1),
    "a header with more in it": (change(1, note="x"), "bad_header", 1),
    "a header without a chain": (change(1, chain="12"), "bad_line", 1),
    "a header with a smaller head": (change(1, head=EVENTS - 1), "beyond_head", EVENTS + 1),
    "a header with a larger head": (change(1, head=EVENTS + 1), "truncated", EVENTS + 2),
    "a header with another chain": (flipped("chain", 1), "head_differs", None),
    "an event is gone": (lambda lines: [*lines[:5], *lines[6:]], "missing_position", 6),
    "the first event is gone": (lambda lines: [lines[0], *lines[2:]], "missing_position", 2),
    "the last event is gone": (lambda lines: lines[:-1], "truncated", EVENTS + 1),
    "only the header is there": (lambda lines: lines[:1], "truncated", 2),
    "the end of the last line is gone": (lambda lines: [*lines[:-1], lines[-1][:-9]], "truncated", EVENTS + 1),
    "the end of a line is gone": (lambda lines: [*lines[:4], lines[4][:-9], *lines[5:]], "bad_line", 5),
    "an event stands twice": (lambda lines: [*lines[:5], lines[4], *lines[5:]], "duplicate_position", 6),
    "two events changed places": (
        lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], "missing_position", 5),
    "an event has the number of another": (change(6, position=6), "missing_position", 6),
    "the file stands twice": (lambda lines: lines + lines, "bad_line", EVENTS + 2),
    "an event more than the head": (
        lambda lines: [*lines, *change(1, position=EVENTS + 1)([lines[-1]])], "beyond_head", EVENTS + 2),
    "other facts": (text(3, b'\\"tokens\\":3', b'\\"tokens\\":4'), "broken_chain", 3),
    "facts with another space": (text(3, b'\\"tokens\\":3', b'\\"tokens\\": 3'), "broken_chain", 3),
    "another session": (change(5, session="t"), "broken_chain", 5),
    "no session": (change(5, session=None), "broken_chain", 5),
    "another workspace": (change(5, workspace="theirs"), "broken_chain", 5),
    "another time": (change(5, time="2026-01-01T00:00:00.000001+00:00"), "broken_chain", 5),
    "another actor": (change(5, actor="person"), "broken_chain", 5),
    "another trust": (change(5, trust="user"), "broken_chain", 5),
    "another cause": (change(5, causation=1), "broken_chain", 5),
    "another run": (change(5, run="r"), "broken_chain", 5),
    "another topic": (change(5, topic="RunStarted"), "broken_chain", 5),
    "another schema": (change(5, schema=2), "broken_chain", 5),
    "another version of the stream": (change(5, version=2), "broken_chain", 5),
    "another stream": (change(5, stream=str(uuid4())), "broken_chain", 5),
    "another link": (flipped("chain", 7), "broken_chain", 7),
    "another body digest": (flipped("body_digest", 7), "broken_chain", 7),
    "no body digest": (change(7, body_digest=None), "broken_chain", 7),
    "another payload": (change(7, payload='{"source":"other"}'), "altered_payload", 7),
    "another salt": (flipped("salt", 7), "altered_payload", 7),
    "no payload": (change(7, payload=None), "altered_payload", 7),
    "no salt": (change(7, salt=None), "altered_payload", 7),
    "neither": (change(7, payload=None, salt=None), "altered_payload", 7),
    "an erasure that was not": (change(7, erased_by=12), "bad_erasure", 7),
    "an erasure that did not erase": (change(4, payload="{}", salt="00"), "bad_erasure", 4),
    "an erasure forgotten": (change(4, erased_by=None), "altered_payload", 4),
    "an erasure by nobody": (change(4, erased_by=EVENTS + 1), "bad_erasure", 4),
    "an erasure before the log": (change(4, erased_by=0), "bad_erasure", 4),
    "an erasure by the event itself": (change(4, erased_by=3), "bad_erasure", 4),
    "an erasure by an event before it": (change(4, erased_by=2), "bad_erasure", 4),
    "an erasure by a message": (change(4, erased_by=11), "bad_erasure", 12),
    "an erasure by another application": (change(4, erased_by=13), "bad_erasure", 14),
    "an erasure that its event does not name": (change(7, payload=None, salt=None, erased_by=12), "bad_erasure", 13),
    "facts of another application": (change(EVENTS, facts='{"a":2}'), "broken_chain", EVENTS),
    "bytes of another application": (change(EVENTS + 1, facts={"base64": "AAAA"}), "broken_chain", EVENTS + 1),
    "bytes that are no base64": (change(EVENTS + 1, facts={"base64": "?"}), "bad_line", EVENTS + 1),
    "an envelope for another application": (change(EVENTS, session="s"), "bad_line", EVENTS),
    "an event without an envelope": (change(5, schema=None), "bad_line", 5),
    "a key more": (change(5, note="x"), "bad_line", 5),
    "a key less": (text(5, b'"run":null,', b""), "bad_line", 5),
    "a key twice": (text(5, b'"run":null,', b'"run":"x","run":null,'), "bad_line", 5),
    "a number as text": (change(5, version="1"), "bad_line", 5),
    "a number that is a truth": (change(5, version=True), "bad_line", 5),
    "a number that is no whole one": (change(5, position=4.0), "bad_line", 5),
    "a number beyond all bounds": (change(5, position=1 << 70), "bad_line", 5),
    "a number below all bounds": (change(5, position=-4), "bad_line", 5),
    "upper case in a digest": (text(5, b'"chain":"', b'"chain":"AB'), "bad_line", 5),
    "half of a surrogate pair": (text(5, b'"agent"', b'"\\ud800"'), "bad_line", 5),
    "bytes that are no UTF-8": (text(5, b'"agent"', b'"\xff"'), "bad_line", 5),
    "a list for an object": (lambda lines: [*lines[:4], b"[]\n", *lines[5:]], "bad_line", 5),
    "an empty line": (lambda lines: [*lines[:4], b"\n", *lines[4:]], "bad_line", 5),
    "a line that nests for ever": (lambda lines: [*lines[:4], b"[" * 100_000 + b"\n", *lines[5:]], "bad_line", 5),
    "infinity": (text(5, b'"causation":null', b'"causation":Infinity'), "bad_line", 5),
    "an event rewritten with its link": (forged, "broken_chain", 9),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named_by_its_line_and_nothing_is_imported(name: str, export: bytes, empty: Log) -> None:
    damage, reason, line = DAMAGES[name]
    # given an export with one thing wrong
    data = b"".join(damage(export.splitlines(keepends=True)))
    # when it is verified, then the first line that does not fit is named, with its reason
    report = verdict(data)
    assert (report.ok, report.reason, report.line) == (False, reason, line), report.detail
    assert report.detail
    # when it is imported, then it is refused at the same line
    with pytest.raises(InputError) as refused:
        load(empty, io.BytesIO(data))
    assert refused.value.code in ("export_damaged", "not_an_export", "export_newer")
    if line is not None and refused.value.code == "export_damaged":
        assert refused.value.details["line"] == line, refused.value.message
    # and the store is as empty as before, and takes the undamaged one
    assert empty.head().position == 0
    assert list(empty.read()) == []
    load(empty, io.BytesIO(export))
    assert whole(empty) == export


@pytest.mark.parametrize("name", [*("the last event is gone", "another payload", "an event stands twice"),
                                  *("an erasure by a message", "an erasure that its event does not name")])  # fmt: skip
def test_a_damaged_export_leaves_nothing_on_postgres(name: str, export: bytes, postgres_url: str) -> None:
    database = Database(postgres_url)
    log = Log(database)
    with pytest.raises(InputError):
        load(log, io.BytesIO(b"".join(DAMAGES[name][0](export.splitlines(keepends=True)))))
    assert (log.head().position, list(log.read())) == (0, [])
    load(log, io.BytesIO(export))
    assert whole(log) == export
    database.close()


def refusal(log: Log, data: bytes) -> MinutebookError | None:
    try:
        load(log, io.BytesIO(data))
    except MinutebookError as error:
        return error
    return None


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_verifier_and_import_agree_whatever_byte_is_changed(export: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(export) - 1))
    kind = data.draw(st.sampled_from(["change", "remove", "insert", "cut"]))
    byte = bytes([data.draw(st.integers(0, 255))])
    changed = {
        "change": export[:place] + byte + export[place + 1 :],
        "remove": export[:place] + export[place + 1 :],
        "insert": export[:place] + byte + export[place:],
        "cut": export[:place],
    }[kind]
    said = verdict(changed)
    database = Database("sqlite://")
    try:
        log = Log(database)
        refused = refusal(log, changed)
        taken = refused is None
        assert taken is said.ok, (said, place, kind)
        if refused is not None:
            assert refused.code in ("export_damaged", "not_an_export", "export_newer")
            if said.line is not None and refused.code == "export_damaged":
                assert refused.details["line"] == said.line, (refused.message, said)
        # What passes says the same, byte for byte: it was written in another way (a space, a hyphen).
        assert whole(log) == export if taken else log.head().position == 0
    finally:
        database.close()


@pytest.mark.parametrize("other", [3, 6])
def test_an_event_forged_with_all_links_after_it_is_seen_by_an_anchor_only(export: bytes, other: int) -> None:
    # given a whole chain made anew from an event that was changed
    lines = [json.loads(line) for line in export.splitlines()]
    noted = (EVENTS, bytes.fromhex(lines[0]["chain"]))
    lines[other]["actor"] = "nobody"
    data = linked(lines, other)
    # then the file alone is of one piece, and the head that was noted before is not
    assert verdict(data).ok
    assert verdict(data, noted).reason == "anchor_differs"
    assert verdict(export, noted).ok
    assert verdict(export, (EVENTS + 1, bytes(32))).reason == "anchor_differs"
    assert verdict(export, (0, bytes(32))).ok


@pytest.mark.parametrize(
    ("spans", "holds"),
    [
        ("[[3,5]]", True),
        ("[[5,5],[1,4],[2,2]]", True),
        ("[[3,4],[5,9000000000000000000]]", True),
        ("[]", False),
        ("[[3,3]]", False),
        ("[[4,5]]", False),
        ("[[5,3]]", False),
        ("[[-9,2],[4,4],[6,7]]", False),
        ("[[3]]", False),
        ('["35"]', False),
        ('[["3","5"]]', False),
        ("[[3,5.5]]", False),
        ("[[3,NaN]]", False),
        ("7", False),
        ("[" * 100_000, False),
    ],
)
def test_an_erasure_holds_for_what_its_spans_hold(export: bytes, empty: Log, spans: str, holds: bool) -> None:
    # given a chain made anew over an erasure that names these spans
    lines = [json.loads(line) for line in export.splitlines()]
    assert lines[13 - 1]["topic"] == "PayloadsErased"
    lines[13 - 1]["facts"] = f'{{"erasure":"x","spans":{spans},"entries":[],"kept":[]}}'
    data = linked(lines, 13 - 1)
    # then verifier and import both take it, or neither
    report = verdict(data)
    assert (report.ok, report.reason) == (holds, None if holds else "bad_erasure"), report.detail
    refused = refusal(empty, data)
    assert (refused is None) is holds
    if refused is not None:
        assert refused.details["line"] == report.line == 13
        assert empty.head().position == 0


def test_two_events_of_one_version_are_refused_though_the_chain_holds(export: bytes, empty: Log) -> None:
    # given a chain over events that no log can have taken in
    lines = [json.loads(line) for line in export.splitlines()]
    lines[2]["stream"] = lines[1]["stream"]
    # when it is imported, then the guards of the log refuse it
    with pytest.raises(InputError) as refused:
        load(empty, io.BytesIO(linked(lines, 2)))
    assert refused.value.code == "export_damaged"
    assert empty.head().position == 0


def test_a_book_that_is_not_empty_takes_no_export(database: Database, export: bytes, message: Make) -> None:
    log = Log(database)
    log.append([message(1)])
    with pytest.raises(StoreError) as refused:
        load(log, io.BytesIO(export))
    assert refused.value.code == "store_not_empty"
    assert log.head().position == 1


def test_a_log_that_was_damaged_is_not_exported(tmp_path: Path, message: Make) -> None:
    # given a log in which somebody changed an event
    database = Database(tmp_path / "book.db")
    log = Log(database)
    log.append([message(number) for number in range(1, 9)])
    with database.writer() as writer:
        writer.exec_driver_sql("DROP TRIGGER events_update")
        writer.exec_driver_sql("UPDATE events SET actor = 'nobody' WHERE position = 6")
    # when it is exported
    given_out = io.BytesIO()
    with pytest.raises(StoreError) as refused:
        given_out.writelines(exported(log))
    # then the event is named, and what was given out before is no whole export
    assert (refused.value.code, refused.value.details["position"]) == ("store_corrupt", 6)
    report = verdict(given_out.getvalue())
    assert (report.reason, report.events) == ("truncated", 5)
    database.close()


# --- the program


@pytest.fixture
def file(tmp_path: Path, export: bytes) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(export)
    return path


def test_the_verifier_runs_where_nothing_is_installed(file: Path, tmp_path: Path) -> None:
    # given the one file, copied to a machine that has nothing but Python
    program = tmp_path / "elsewhere" / "verify.py"
    program.parent.mkdir()
    program.write_bytes((ROOT / "verify.py").read_bytes())
    # when it runs without any installed package
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program), str(file)], capture_output=True, text=True, check=False
    )
    # then it says what the module says
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{EVENTS} events, every line fits, 2 payloads erased" in done.stdout


def test_the_exit_status_says_yes_no_or_cannot(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(file)]) == 0
    assert "head 14 chain " in capsys.readouterr().out
    file.write_bytes(file.read_bytes()[:-200])
    assert main([str(file)]) == 1
    assert "log.jsonl: line 15: truncated: the file ends within a line" in capsys.readouterr().out
    assert main([str(file.with_name("none"))]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
    for words in ([], ["--nonsense", str(file)], ["--anchor", "x", str(file)]):
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 2


def test_the_verifier_answers_in_json_and_reads_standard_input(file: Path) -> None:
    chain = json.loads(file.read_bytes().splitlines()[0])["chain"]
    code = [sys.executable, str(ROOT / "verify.py"), "-", "--json", "--anchor"]
    done = subprocess.run([*code, f"{EVENTS}:{chain}"], input=file.read_bytes(), capture_output=True, check=False)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["ok"], answer["events"], answer["chain"]) == (0, True, EVENTS, chain)
    done = subprocess.run([*code, f"{EVENTS}:{'0' * 64}"], input=file.read_bytes(), capture_output=True, check=False)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["reason"], answer["line"]) == (1, "anchor_differs", None)


def test_a_reader_that_has_enough_is_no_fault_of_the_verifier(file: Path) -> None:
    with subprocess.Popen(
        [sys.executable, str(ROOT / "verify.py"), str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(120) == 0


def test_what_a_file_says_does_not_steer_the_terminal(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(change(1, version="\x1b[2J")(lines)))
    assert main([str(file)]) == 1
    assert "\x1b" not in capsys.readouterr().out
