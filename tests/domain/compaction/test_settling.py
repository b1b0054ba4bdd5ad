"""What was finished, confirmed or taken back never reads as pending, nor as a goal that still stands (C4, C5, C7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from minutebook.domain.extractive import ExtractiveSummarizer
from minutebook.domain.message import Message
from minutebook.domain.settling import settled
from minutebook.domain.summary import HEADINGS, NONE, Summary, SummaryRequest, parse
from minutebook.domain.summary_checks import validate
from minutebook.domain.summary_request import build, material, required

NewTalk = Callable[[], Any]


def _request(messages: Sequence[Message], earlier: str | None = None) -> SummaryRequest:
    kept = parse(earlier) if earlier else None
    must, unlisted = required(messages, kept if isinstance(kept, Summary) else None, 1_500)
    return build(
        messages, chunk=messages, earlier=earlier, must=must, unlisted=unlisted, tokens_max=1_500,
        tokens_replaced=9_000,
    )  # fmt: skip


def _extracted(messages: Sequence[Message], earlier: str | None = None) -> tuple[str, Summary]:
    request = _request(messages, earlier)
    answer = ExtractiveSummarizer().summarize(request)
    assert validate(answer, request) == ()
    summary = parse(answer.text)
    assert isinstance(summary, Summary)
    return answer.text, summary


def _answer(pending: str, goal: str) -> str:
    told = {HEADINGS[0]: goal, HEADINGS[5]: pending}
    return "\n".join(f"{heading}\n{'- ' + told[heading] if heading in told else NONE}" for heading in HEADINGS)


@pytest.mark.parametrize(
    ("reply", "said", "how"),
    [("Done: src/rows.py reads both forms now.", "Perfect, thanks!", "confirmed"),
     ("Fixed, 14 tests pass.", "great, that works. Now rename parse_row to read_row.", "confirmed"),
     ("I fixed it.", "looks good", "confirmed"), ("已完成。", "很好", "confirmed"),
     ("Fixed, 14 tests pass.", "Great, but it still fails for empty files.", None),
     ("Fixed, 14 tests pass.", "ok, read the file again", None), ("Fixed, 14 tests pass.", "Why?", None),
     ("Which of both forms do you mean?", "Thanks, the second.", None),
     ("Shall I see it as done?", "perfect", None), ("I fixed it.", "thanks for nothing, it is worse", None),
     ("I look at it.", "Never mind, we drop the importer altogether.", "replaced"),
     ("I look at it.", "actually, scratch that", "replaced"), ("I look at it.", "And the exporter too.", None)],
)  # fmt: skip
def test_a_request_is_over_only_where_that_was_said_plainly(
    new_talk: NewTalk, reply: str, said: str, how: str | None
) -> None:
    talk = new_talk()
    asked = talk.user("Make the importer in src/rows.py read both forms of a row.")
    talk.assistant(reply)
    talk.user(said)
    found = settled([material(message) for message in talk.messages]).get(asked.position)
    assert (found.how if found else None) == how


def test_a_confirmed_request_moves_to_completed_and_one_taken_back_to_the_decisions(new_talk: NewTalk) -> None:
    talk = new_talk()
    first = talk.user("Make the importer in src/rows.py read both forms of a row.")
    talk.assistant("Done: src/rows.py reads both forms.")
    second = talk.user("Perfect. Now write a changelog entry for version 2.4.0.")
    talk.assistant("Which section?")
    taken = talk.user("Never mind.")
    third = talk.user("Rename parse_row to read_row.")
    talk.assistant("I begin with the callers.")

    _, summary = _extracted(talk.messages)

    assert summary.of("goal") == (f"Rename parse_row to read_row. [@{third.position}]",)
    assert any(
        "user confirmed: Make the importer" in item and f"@{first.position}" in item for item in summary.of("completed")
    )
    assert any(
        "taken back by the user: Perfect. Now write" in item and f"[@{second.position}, @{taken.position}]" in item
        for item in summary.of("decisions")
    )


def test_through_many_compactions_what_is_confirmed_does_not_stand_under_goal_again(new_talk: NewTalk) -> None:
    talk = new_talk()
    rule = 'Never touch the folder `ledger`, and call the new table exactly "seat_map_12".'
    source = talk.user(f"Add the seat map. {rule}")
    talk.assistant("Added: src/seats.py and the table seat_map_12, all tests pass.")
    text, before = _extracted(talk.messages)
    assert before.of("goal")

    for number in range(8):
        start = len(talk.messages)
        talk.user(f"Great, that works. Now add report number {number} to src/reports.py.")
        talk.assistant(f"Added report {number}, all tests pass.")
        text, summary = _extracted(talk.messages[start:], text)

        assert len(summary.of("goal")) == 1
        assert f"report number {number}" in summary.of("goal")[0]
        assert summary.of("pending") == ()
        assert any(rule in item and f"@{source.position}]" in item for item in summary.of("constraints"))


@pytest.mark.parametrize(
    "cancel", ["Cancel the upload of all fixtures.", "Please drop the upload of all fixtures, Ann does it."]
)
def test_a_box_that_was_cancelled_or_reported_done_is_not_pending(new_talk: NewTalk, cancel: str) -> None:
    talk = new_talk()
    talk.user("Please do the parser rewrite in src/parse.py and the upload of all fixtures.")
    talk.assistant("Plan:\n- [ ] upload of all fixtures\n- [ ] parser rewrite\n- [ ] release notes for 2.4.0")
    talk.user(cancel)
    talk.assistant("All right. The parser rewrite in src/parse.py is finished.")

    text, summary = _extracted(talk.messages)
    assert [item for item in summary.of("pending") if "release notes" not in item] == []
    assert len(summary.of("pending")) == 1
    assert not any("upload" in item for item in (*summary.of("state"), *summary.of("pending")))

    start = len(talk.messages)
    talk.user("Go on.")
    talk.assistant("Still open:\n- [ ] upload of all fixtures\n- [ ] release notes for 2.4.0")
    _, later = _extracted(talk.messages[start:], text)
    assert [item.partition(" [@")[0] for item in later.of("pending")] == ["open at that time: release notes for 2.4.0"]


def test_a_summary_that_lists_what_is_over_as_pending_is_refused(new_talk: NewTalk) -> None:
    talk = new_talk()
    talk.user("Make the importer in src/rows.py read both forms of a row.")
    talk.assistant("Done:\n- [x] reader for the second form\n- [ ] fixture for empty rows")
    talk.user("Perfect, thanks. Next rename parse_row to read_row.")
    talk.user("Cancel the nightly upload of fixtures, Ann does it.")
    goal = "Importer in src/rows.py for both forms of a row; rename parse_row to read_row; nightly upload cancelled"
    request = _request(talk.messages)
    for pending in (
        "Make the importer read both forms of a row",
        "The reader for the second form",
        "The nightly upload of the fixtures still has to be done",
    ):
        assert "stale_pending" in validate(_answer(pending, goal), request), pending
    for pending in (
        "rename of parse_row to read_row",
        "A fixture for empty rows",
        "Nothing of the nightly upload: the user cancelled it",
    ):
        assert "stale_pending" not in validate(_answer(pending, goal), request), pending


def test_what_was_cancelled_and_asked_for_again_may_be_pending(new_talk: NewTalk) -> None:
    talk = new_talk()
    talk.user("Cancel the upload of the fixtures.")
    talk.assistant("Cancelled.")
    talk.user("We need the upload of the fixtures after all.")
    answer = _answer("The upload of the fixtures", "The upload of the fixtures was cancelled, then needed after all")
    assert validate(answer, _request(talk.messages)) == ()
