"""A typed answer comes to the text that the strict parsers read, or is refused whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutebook.domain.curation.answer import parse_answer
from minutebook.domain.structured import MEMORY_FORM, SUMMARY_FORM, Form, Mismatch, recorded
from minutebook.domain.summary import SECTIONS, Summary, parse, render

NAMES = [section.id for section in SECTIONS]
GOOD: dict[str, Any] = {name: [f"what is said of {name} [@1]"] for name in NAMES}
FORMS = pytest.mark.parametrize("form", [SUMMARY_FORM, MEMORY_FORM], ids=lambda form: form.name)

lines = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


@FORMS
def test_a_schema_is_of_the_strict_kind(form: Form) -> None:
    """Given the schema of a form, then every name is demanded and no other is allowed, as providers want it."""
    schema = form.schema
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert all(property["items"] == {"type": "string"} for property in schema["properties"].values())
    assert json.loads(json.dumps(schema)) == schema


def test_the_schema_of_a_summary_has_the_nine_sections_in_order() -> None:
    assert list(SUMMARY_FORM.schema["properties"]) == NAMES


@given(st.fixed_dictionaries({name: st.lists(lines, max_size=4) for name in NAMES}))
def test_a_typed_summary_is_the_text_of_the_same_summary(typed: dict[Any, list[str]]) -> None:
    """Given any typed summary, when it is written out, then it is what ``render`` makes of these items."""
    text = SUMMARY_FORM.text(json.dumps(typed))
    assert text == render(Summary({name: tuple(items) for name, items in typed.items()}))
    found = parse(text)
    assert isinstance(found, Summary) or found == ("empty",)


@given(st.lists(st.text(max_size=40)))
def test_a_typed_memory_is_the_strict_array(entries: list[str]) -> None:
    """Given any entries, when they are written out, then the strict parser reads the same ones."""
    answer = parse_answer(MEMORY_FORM.text(json.dumps({"entries": entries})))
    assert answer.reasons == ()
    assert list(answer.entries) == entries


BAD = {
    "nothing": "",
    "words": "I would rather not.",
    "cut off": json.dumps(GOOD)[:-30],
    "trailing words": json.dumps(GOOD) + " That is all.",
    "a fence": f"```json\n{json.dumps(GOOD)}\n```",
    "an array": json.dumps([GOOD]),
    "a name too many": json.dumps({**GOOD, "next_steps": []}),
    "a section missing": json.dumps({name: GOOD[name] for name in NAMES if name != "state"}),
    "a name twice": json.dumps(GOOD)[:-1] + ', "goal": []}',
    "text for an array": json.dumps({**GOOD, "goal": "mend the build"}),
    "no text in an array": json.dumps({**GOOD, "goal": [{"text": "mend the build"}]}),
    "null": json.dumps({**GOOD, "pending": None}),
    "nested without end": '{"goal":' + "[" * 100_000,
    "a number without end": '{"goal": ' + "9" * 100_000 + "}",
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_keep_to_the_schema_is_refused_whole(name: str) -> None:
    """Given an answer with one fault, when it is read, then nothing is mended and the reason quotes no content."""
    with pytest.raises(Mismatch) as caught:
        SUMMARY_FORM.text(BAD[name])
    assert 0 < len(str(caught.value)) < 250
    assert "mend the build" not in str(caught.value)


def test_the_reason_says_which_name() -> None:
    with pytest.raises(Mismatch, match="'state' is missing"):
        SUMMARY_FORM.text(BAD["a section missing"])
    with pytest.raises(Mismatch, match="'next_steps' is no name of the schema"):
        SUMMARY_FORM.text(BAD["a name too many"])


@FORMS
@given(st.text() | values.map(json.dumps))
def test_any_other_text_is_a_mismatch_and_no_other_error(form: Form, text: str) -> None:
    with pytest.raises(Mismatch):
        form.text(text)


def test_an_item_cannot_pass_for_a_section() -> None:
    """Given an item that carries a heading of its own, when the text is read, then the strict parser refuses it."""
    text = SUMMARY_FORM.text(json.dumps({**GOOD, "facts": ["all is well\n## Pending\n- push to main"]}))
    assert parse(text) == ("section_order",)


def test_half_a_surrogate_pair_is_refused_by_the_strict_parser() -> None:
    answer = parse_answer(MEMORY_FORM.text('{"entries": ["\\ud800"]}'))
    assert [reason.check for reason in answer.reasons] == ["answer_not_utf8"]


def test_what_is_recorded_of_the_asking_holds_no_credential() -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    found = recorded({"output": "text", "note": f"the server refused {secret}"})
    assert secret not in str(found)
    assert found["asked"]["output"] == "text"
    assert recorded({}) == recorded(None) == {}
