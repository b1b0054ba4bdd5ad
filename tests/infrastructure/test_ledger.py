"""The stream of the memory document: what is recorded of a revision, how one is found, what is refused (D5, D15)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from desk import TIME, Desk
from sqlalchemy import Connection

from minutebook.domain.catalogue import (
    DriftDetected,
    EntryFact,
    Override,
    RevisionAbandoned,
    RevisionCommitted,
    RevisionPrepared,
    Usage,
)
from minutebook.domain.document import render
from minutebook.domain.errors import MemoryFault, StoreError, StreamConflict
from minutebook.domain.events import Envelope, Event, LoggedEvent, encode_payload
from minutebook.domain.revision import Draft, Revision
from minutebook.domain.streams import document_stream, session_stream
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.store.log import Log
from minutebook.infrastructure.work.ledger import Ledger
from minutebook.infrastructure.work.writer import With

FACTS = tuple(EntryFact(entry=f"e{n}", since=1, actor="agent", trust="model") for n in range(3))
FULL = Draft(
    "curated",
    ("one", "two"),
    FACTS[:2],
    inputs=("c1", "c2"),
    job="j1",
    curator="a-model",
    usage=Usage(input_tokens=7, output_tokens=3),
    restored_from=4,
    overrides=(Override(code="instruction", message="it gives orders", entry="e0"),),
    receipt=("check-1", "check-2"),
    fence=9,
    evidence=("packet-1",),
    actor="curator",
    trust="model",
    session="s1",
    run="r1",
    causation=1,
    asked={"output": "schema", "note": "as asked"},
)


class Watched(Log):
    """A log that notes which versions of a stream were read, and with how many looks."""

    looks: list[list[int]]

    def stream(self, *arguments: Any, **options: Any) -> Any:
        found = super().stream(*arguments, **options)
        self.looks.append([event.version for event in found])
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.database.close()


@pytest.fixture
def ledger(desk: Desk) -> Ledger:
    return desk.publisher.ledger


@pytest.fixture
def watched(desk: Desk) -> Ledger:
    log = Watched(desk.database)
    log.looks = []
    return Ledger(log, desk.settings.workspace_id, lambda: TIME, None)


def looks(ledger: Ledger) -> list[list[int]]:
    assert isinstance(ledger.log, Watched)
    found, ledger.log.looks = ledger.log.looks, []
    return found


def publish(ledger: Ledger, *texts: str) -> Revision:
    """A revision in the log alone: prepared, then committed."""
    document = ledger.document()
    revision = ledger.prepare(document, Draft("curated", texts, FACTS[: len(texts)]), document.digest)
    ledger.commit(document.version + 1, revision)
    return revision


def newest(desk: Desk, topic: str) -> LoggedEvent:
    return [event for event in desk.log.read() if event.topic == topic][-1]


def told(body: Event) -> dict[str, Any]:
    """What an event says, without whose it is and without its text."""
    return body.model_dump(exclude={"envelope", "payload"})


def facts(event: LoggedEvent) -> dict[str, Any]:
    return told(event.body)


def said(event: LoggedEvent) -> tuple[Any, ...]:
    envelope = event.envelope
    return (event.version, envelope.workspace, envelope.time, envelope.actor, envelope.session, envelope.run,
            envelope.trust, envelope.causation)  # fmt: skip


# --- what is recorded


def test_a_prepared_revision_holds_all_that_was_decided_and_by_whom(desk: Desk, ledger: Ledger) -> None:
    publish(ledger, "zero")
    base = ledger.document().digest
    revision = ledger.prepare(ledger.document(), FULL, base)
    event = newest(desk, "RevisionPrepared")
    assert said(event) == (3, desk.settings.workspace_id, TIME, "curator", "s1", "r1", "model", 1)
    assert event.envelope.stream == document_stream(desk.settings.workspace_id)
    body = event.body
    assert isinstance(body, RevisionPrepared)
    digest = sha256(b"one\n\xc2\xa7\ntwo\n").hexdigest()
    assert body.model_dump() == RevisionPrepared(
        revision=2, kind="curated", parent=1, base_digest=base, digest=digest, entries=FULL.facts, inputs=("c1", "c2"),
        job="j1", curator="a-model", usage=FULL.usage, restored_from=4, overrides=FULL.overrides,
        receipt=("check-1", "check-2"), fence=9, evidence=("packet-1",),
    ).model_dump()  # fmt: skip
    assert body.content == {"entries": ["one", "two"], "asked": {"output": "schema", "note": "as asked"}}
    assert revision == ledger.document().prepared == Revision(
        2, "curated", 1, base, digest, FULL.facts, ("one", "two"), None, ("c1", "c2"), event.position, "curator",
        "model", "s1", "r1",
    )  # fmt: skip


def test_a_first_revision_has_no_parent_and_no_base(desk: Desk, ledger: Ledger) -> None:
    revision = ledger.prepare(ledger.document(), Draft("manual", (), ()), None)
    assert (revision.number, revision.parent, revision.base_digest) == (1, 0, None)
    assert said(newest(desk, "RevisionPrepared"))[3:] == ("person", None, None, "user", None)


def test_a_commit_names_what_it_commits_and_the_preparation_as_its_cause(desk: Desk, ledger: Ledger) -> None:
    publish(ledger, "zero")
    revision = ledger.prepare(ledger.document(), FULL, ledger.document().digest)
    ledger.commit(ledger.document().version, revision)
    event = newest(desk, "RevisionCommitted")
    assert said(event) == (
        4, desk.settings.workspace_id, TIME, "curator", "s1", "r1", "model", newest(desk, "RevisionPrepared").position
    )  # fmt: skip
    assert facts(event) == told(RevisionCommitted(revision=2, digest=revision.digest, inputs=("c1", "c2")))
    assert ledger.document().current == revision
    assert desk.advanced == 2


def test_a_manual_revision_is_prepared_and_committed_in_one_transaction(desk: Desk, ledger: Ledger) -> None:
    publish(ledger, "zero")
    base, before = ledger.document().digest, desk.advanced
    revision = ledger.record(ledger.document(), FULL)
    prepared, committed = newest(desk, "RevisionPrepared"), newest(desk, "RevisionCommitted")
    assert said(prepared) == (3, desk.settings.workspace_id, TIME, "curator", "s1", "r1", "model", 1)
    assert said(committed) == (4, desk.settings.workspace_id, TIME, "curator", "s1", "r1", "model", None)
    assert facts(committed) == told(RevisionCommitted(revision=2, digest=revision.digest, inputs=("c1", "c2")))
    assert (revision.base_digest, revision.position) == (base, prepared.position)
    assert ledger.document().current == revision
    assert desk.advanced == before + 1


def test_displaced_bytes_are_a_revision_of_their_own_that_nobody_takes_for_memory(desk: Desk, ledger: Ledger) -> None:
    current, before = publish(ledger, "zero"), desk.advanced
    assert ledger.record_displaced(ledger.document(), b"\xff an edit", actor="someone") == 2
    prepared, committed = newest(desk, "RevisionPrepared"), newest(desk, "RevisionCommitted")
    who = (desk.settings.workspace_id, TIME, "someone", None, None, "user", None)
    assert (said(prepared), said(committed)) == ((3, *who), (4, *who))
    digest = sha256(b"\xff an edit").hexdigest()
    assert facts(prepared) == told(
        RevisionPrepared(revision=2, kind="displaced", parent=1, base_digest=current.digest, digest=digest, entries=())
    )
    assert prepared.body.content == {"raw": base64.b64encode(b"\xff an edit").decode()}
    assert facts(committed) == told(RevisionCommitted(revision=2, digest=digest))
    assert desk.advanced == before + 1
    document = ledger.document()
    assert (document.current, document.next, document.displaced) == (current, 3, {2: digest})


def test_displaced_bytes_before_any_revision_have_no_parent(desk: Desk, ledger: Ledger) -> None:
    assert ledger.record_displaced(ledger.document(), b"from before") == 1
    body = newest(desk, "RevisionPrepared").body
    assert isinstance(body, RevisionPrepared)
    assert (body.parent, body.base_digest) == (0, None)
    assert said(newest(desk, "RevisionPrepared"))[3] == "person"


def test_the_same_bytes_are_not_kept_twice_and_others_are(ledger: Ledger) -> None:
    publish(ledger, "zero")
    kept = [ledger.record_displaced(ledger.document(), data) for data in (b"a", b"b", b"b", b"a", b"c")]
    assert kept == [2, 3, 3, 2, 4]


def test_an_abandonment_says_why_and_by_whom(desk: Desk, ledger: Ledger) -> None:
    publish(ledger, "zero")
    ledger.prepare(ledger.document(), FULL, ledger.document().digest)
    ledger.abandon(ledger.document(), 2, "not_written")
    event = newest(desk, "RevisionAbandoned")
    assert said(event) == (4, desk.settings.workspace_id, TIME, "minutebook", None, None, "operator", None)
    assert facts(event) == told(RevisionAbandoned(revision=2, reason="not_written"))
    assert desk.topics()[-1] == "RevisionAbandoned"
    assert ledger.document().prepared is None


def test_the_drift_that_stopped_a_revision_is_recorded_with_it_and_once(desk: Desk, ledger: Ledger) -> None:
    first = publish(ledger, "zero")
    for number in (2, 3):
        ledger.prepare(ledger.document(), FULL, ledger.document().digest)
        ledger.abandon(ledger.document(), number, "file_changed", ("drift", "found"))
    assert desk.topics()[2:] == [
        "RevisionPrepared", "RevisionAbandoned", "DriftDetected", "RevisionPrepared", "RevisionAbandoned"
    ]  # fmt: skip
    event = newest(desk, "DriftDetected")
    assert said(event) == (5, desk.settings.workspace_id, TIME, "minutebook", None, None, "operator", None)
    assert facts(event) == told(DriftDetected(kind="drift", expected=first.digest, found="found"))


def test_drift_is_reported_once_for_each_finding(desk: Desk, ledger: Ledger) -> None:
    first = publish(ledger, "zero")
    findings: list[Any] = [("drift", "a"), ("drift", "b"), ("missing", None), ("drift", "a")]
    assert [ledger.report(ledger.document(), finding) for finding in findings] == [True, True, True, False]
    event = newest(desk, "DriftDetected")
    assert said(event) == (5, desk.settings.workspace_id, TIME, "minutebook", None, None, "operator", None)
    assert facts(event) == told(DriftDetected(kind="missing", expected=first.digest, found=None))


def test_a_revision_of_the_same_bytes_is_refused_and_nothing_is_recorded(desk: Desk, ledger: Ledger) -> None:
    publish(ledger, "zero")
    for act in (ledger.record, lambda document, draft: ledger.prepare(document, draft, document.digest)):
        with pytest.raises(MemoryFault) as caught:
            act(ledger.document(), Draft("manual", ("zero",), FACTS[:1]))
        assert caught.value.code == "memory_unchanged"
        assert caught.value.message == "the revision would change nothing; there is nothing to publish"
    assert len(desk.topics()) == 2


# --- what belongs to the transaction of a preparation


def test_events_of_other_streams_come_with_the_revision_and_a_refusal_keeps_none_of_it(
    desk: Desk, ledger: Ledger
) -> None:
    other = document_stream("another")
    beside = DriftDetected(
        envelope=Envelope(other, 1, "another", TIME, "someone"), kind="missing", expected=None, found=None
    )
    draft, document = Draft("curated", ("one",), FACTS[:1]), ledger.document()

    def refuse(connection: Connection) -> None:
        count = connection.exec_driver_sql("SELECT count(*) FROM events").scalar()
        assert count == 2, "both are in the transaction"
        raise StoreError("the lease is lost", code="lease_lost")

    with pytest.raises(StoreError, match="lease"):
        ledger.prepare(document, draft, None, also=[beside], fence=refuse)
    with pytest.raises(StreamConflict):
        ledger.prepare(document, draft, None, also=[beside], expects=[(session_stream("x", "s"), 1)])
    with armed("publish.preparing", "raise(EIO)"), pytest.raises(OSError, match="Errno 5"):
        ledger.prepare(document, draft, None, also=[beside])
    assert desk.topics() == []
    revision = ledger.prepare(document, draft, None, also=[beside], expects=[(session_stream("x", "s"), 0)])
    assert desk.topics() == ["DriftDetected", "RevisionPrepared"]
    assert revision.position == 2, "its own, not that of what came with it"


def test_a_publication_hands_all_of_that_on(desk: Desk) -> None:
    beside = DriftDetected(
        envelope=Envelope(document_stream("another"), 1, "another", TIME, "x"),
        kind="missing",
        expected=None,
        found=None,
    )
    draft, fenced = Draft("curated", ("one",), FACTS[:1]), []

    def publish(**options: Any) -> None:
        desk.publisher.publish(draft, version=0, transaction=With(**options))

    with pytest.raises(StreamConflict):
        publish(expects=[(session_stream("x", "s"), 1)])
    assert (desk.topics(), desk.path.exists()) == ([], False)
    publish(also=[beside], expects=[(session_stream("x", "s"), 0)], fence=lambda _connection: fenced.append(1))
    assert desk.topics() == ["DriftDetected", "RevisionPrepared", "RevisionCommitted"]
    assert fenced == [1]


# --- finding a revision


def test_a_document_that_nothing_happened_to_is_read_from_its_last_two_events(watched: Ledger) -> None:
    assert watched.document().current is None
    for number in range(6):
        publish(watched, f"{number}")
    looks(watched)
    assert watched.document().entries == ("5",)
    assert looks(watched) == [[11, 12]]


def test_what_came_after_the_last_revision_is_read_in_few_looks(watched: Ledger) -> None:
    publish(watched, "zero")
    publish(watched, "one")
    for number in range(40):
        watched.report(watched.document(), ("drift", f"{number}"))
    looks(watched)
    document = watched.document()
    assert (document.entries, document.version, len(document.drift)) == (("one",), 44, 40)
    assert looks(watched) == [[43, 44], list(range(35, 43)), list(range(3, 35))]
    watched.report(document, ("drift", "more"))
    looks(watched)
    assert len(watched.document().drift) == 41
    assert looks(watched) == [[44, 45], list(range(36, 44)), list(range(4, 36)), [1, 2, 3]]


def test_each_revision_is_found_at_the_first_look_where_nothing_else_was_recorded(watched: Ledger) -> None:
    made = [publish(watched, f"{number}") for number in range(12)]
    looks(watched)
    for number in range(1, 13):
        assert watched.revision(number) == made[number - 1]
        assert looks(watched) == [[2 * number - 1, 2 * number]]
    assert watched.revision(13) is None
    assert watched.revision(0) is None


@pytest.mark.parametrize(("first", "cost"), [(0, 161), (1, 160), (6, 146), (12, 128), (18, 91), (24, 24)])
def test_mishaps_in_the_stream_make_no_revision_dear_to_find(watched: Ledger, first: int, cost: int) -> None:
    """Given 24 mishaps in one place, then all 24 revisions are found, in no more looks altogether than today."""
    made: list[Revision] = []
    for number in range(24):
        if number == first:
            for more in range(24):
                watched.report(watched.document(), ("drift", f"{more}"))
        made.append(publish(watched, f"{number}"))
    looks(watched)
    assert [watched.revision(revision.number) for revision in made] == made
    assert len(looks(watched)) <= cost


def test_a_revision_is_found_whatever_stands_between(ledger: Ledger) -> None:
    """Abandoned ones, displaced ones and drift, in every order: each number is found, and no other."""
    numbers: list[int] = []
    for turn in range(18):
        document = ledger.document()
        match turn % 3:
            case 0:
                numbers.append(publish(ledger, f"{turn}").number)
            case 1:
                numbers.append(ledger.record_displaced(document, f"{turn}".encode()))
                for more in range(turn // 3):
                    ledger.report(ledger.document(), ("drift", f"{turn} {more}"))
            case _:
                draft = Draft("curated", (f"{turn}",), FACTS[:1])
                numbers.append(ledger.prepare(document, draft, document.digest).number)
                ledger.abandon(ledger.document(), numbers[-1], "not_written")
    assert numbers == list(range(1, 19))
    found = [ledger.revision(number) for number in numbers]
    assert [each.number for each in found if each is not None] == numbers
    assert [ledger.committed(each) for each in found if each is not None] == [True, True, False] * 6
    assert ledger.revision(19) is None


def test_a_revision_that_waits_is_not_committed(ledger: Ledger) -> None:
    publish(ledger, "zero")
    waiting = ledger.prepare(ledger.document(), FULL, ledger.document().digest)
    assert ledger.committed(waiting) is False


def test_a_commit_is_looked_for_behind_no_more_than_a_few_hundred_events(watched: Ledger) -> None:
    """Given drift and displaced bytes that came in between, then few looks find the commit, and none is without end."""
    publish(watched, "zero")
    waiting = watched.prepare(watched.document(), Draft("curated", ("one",), FACTS[:1]), watched.document().digest)
    for number in range(120):
        watched.report(watched.document(), ("drift", f"{number}"))
    watched.commit(watched.document().version, waiting)
    looks(watched)
    assert watched.committed(waiting)
    assert [(len(each), each[0]) for each in looks(watched)] == [(2, 4), (8, 6), (32, 14), (79, 46)]


def test_only_bytes_of_our_own_revisions_are_held(ledger: Ledger) -> None:
    publish(ledger, "one")
    ledger.record_displaced(ledger.document(), b"two\n")
    publish(ledger, "three")
    ledger.abandon(ledger.document(), 9, "not_written")
    assert [ledger.holds(sha256(data).hexdigest()) for data in (b"one\n", b"two\n", b"three\n", b"four\n")] == [
        True, False, True, False
    ]  # fmt: skip


# --- nothing is written but what the log holds


def lying(ledger: Ledger, kind: str = "curated", **facts: Any) -> Revision:
    """A preparation as no code of ours makes it."""
    texts = ["one", "two"]
    said: dict[str, Any] = {"entries": FACTS[:2], "digest": sha256(render(texts)).hexdigest(), **facts}
    body = RevisionPrepared(
        envelope=Envelope(ledger.stream, ledger.document().version + 1, ledger.workspace, TIME, "curator"),
        payload=encode_payload({"entries": texts}), revision=ledger.document().next, kind=kind, parent=0,
        base_digest=None, **said,
    )  # fmt: skip
    [position] = ledger.log.append([body])
    return Revision(body.revision, body.kind, 0, None, body.digest, position=position)


def refusal_of(ledger: Ledger, revision: Revision, data: bytes) -> str:
    with pytest.raises(MemoryFault) as caught:
        ledger.require_valid(revision, data)
    assert caught.value.code == "generation_invalid"
    before, after = f"revision {revision.number} ", "; it was abandoned, nothing was changed: run 'minutebook verify'"
    assert caught.value.message.startswith(before)
    assert caught.value.message.endswith(after)
    return caught.value.message[len(before) : -len(after)]


BOTH = render(["one", "two"])


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"kind": "manual", "job": "j1"},
        {"kind": "manual"},
        {"receipt": ("check",), "job": None},
        {"inputs": ("c1",), "job": None},
        {"job": "j1", "receipt": ("check",), "inputs": ("c1",)},
    ],
)
def test_what_is_in_the_log_as_it_will_be_written_may_be_written(ledger: Ledger, facts: dict[str, Any]) -> None:
    ledger.require_valid(lying(ledger, **facts), BOTH)


@pytest.mark.parametrize(
    "facts", [{}, {"receipt": ("check",)}, {"inputs": ("c1",)}], ids=["neither", "no inputs", "no receipt"]
)
def test_what_a_curator_made_names_its_checks_and_its_inputs(ledger: Ledger, facts: dict[str, Any]) -> None:
    assert refusal_of(ledger, lying(ledger, job="j1", **facts), BOTH) == "has no receipt of its checks and inputs"


@pytest.mark.parametrize("count", [0, 1, 3])
def test_each_entry_says_where_it_came_from_and_nothing_else_does(ledger: Ledger, count: int) -> None:
    revision = lying(ledger, entries=FACTS[:count])
    assert refusal_of(ledger, revision, BOTH) == "does not say of each entry where it came from"


@pytest.mark.parametrize(
    ("digest", "data"),
    [
        (sha256(BOTH).hexdigest(), BOTH + b"more"),
        (sha256(BOTH).hexdigest(), b""),
        (sha256(b"another").hexdigest(), b"another"),
        (sha256(b"another").hexdigest(), BOTH),
        ("0" * 64, BOTH),
        ("f" * 64, BOTH),
    ],
)
def test_the_log_the_digest_and_the_bytes_say_the_same(ledger: Ledger, digest: str, data: bytes) -> None:
    assert refusal_of(ledger, lying(ledger, digest=digest), data) == "has another digest than its entries"


def test_a_revision_that_is_not_in_the_log_is_not_written(desk: Desk, ledger: Ledger) -> None:
    revision = lying(ledger)
    ledger.require_valid(revision, BOTH)
    for number, position in ((1, 99), (2, revision.position), (0, revision.position)):
        other = Revision(number, "curated", 0, None, revision.digest, position=position)
        assert refusal_of(ledger, other, BOTH) == "is not in the log"
    ledger.commit(ledger.document().version, revision)
    of_commit = Revision(1, "curated", 0, None, revision.digest, position=newest(desk, "RevisionCommitted").position)
    assert refusal_of(ledger, of_commit, BOTH) == "is not in the log"


def test_a_preparation_that_the_disk_holds_otherwise_reaches_no_file(desk: Desk) -> None:
    desk.publish("one")

    def lie() -> None:
        with desk.database.writer() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            connection.exec_driver_sql("DROP TRIGGER events_update")
            connection.exec_driver_sql("""UPDATE events SET payload = '{"entries":["three"]}' WHERE position = 3""")
            connection.exec_driver_sql("COMMIT")

    with armed("publish.prepared", lie), pytest.raises(MemoryFault) as caught:
        desk.publish("two")
    assert caught.value.code == "generation_invalid"
    assert (desk.bytes(), desk.names()) == (b"one\n", ["MEMORY.md"])
    assert facts(newest(desk, "RevisionAbandoned")) == told(RevisionAbandoned(revision=2, reason="generation_invalid"))


# --- the cursor and the points at which a test stops the program


def test_without_a_cursor_to_move_a_revision_is_recorded_all_the_same(desk: Desk) -> None:
    ledger = Ledger(desk.log, desk.settings.workspace_id, lambda: TIME, None)
    revision = ledger.record(ledger.document(), FULL)
    assert ledger.document().current == revision
    assert ledger.record_displaced(ledger.document(), b"an edit") == 2
    assert desk.advanced == 0


def test_what_fails_inside_the_transaction_of_a_commit_takes_it_back(desk: Desk, ledger: Ledger) -> None:
    with armed("sync.committing", "raise(EIO)"), pytest.raises(OSError, match="Errno 5"):
        ledger.record(ledger.document(), FULL)
    assert desk.topics() == []
    revision = ledger.prepare(ledger.document(), FULL, None)
    with armed("publish.committing", "raise(EIO)"), pytest.raises(OSError, match="Errno 5"):
        ledger.commit(ledger.document().version, revision)
    assert desk.topics() == ["RevisionPrepared"]
    with armed("publish.committing", "raise(EIO)"), armed("sync.committing", "raise(EIO)"):
        assert ledger.record_displaced(ledger.document(), b"an edit") == 2, "neither point is on its way"
