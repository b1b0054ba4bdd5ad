"""Memory operations: strict shapes, targets by id or unique text, a batch that holds as a whole (D2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minutebook.domain.errors import InputError, MemoryFault
from minutebook.domain.memory_tool import MEMORY_TOOL
from minutebook.domain.operations import (
    Add,
    Batch,
    Line,
    Operation,
    Remove,
    Replace,
    apply,
    find_target,
    new_entry_id,
    parse_operation,
    singles,
    text_digest,
    texts,
)

LINES = (Line("e1", "Uses Ruff for linting"), Line("e2", "Uses Ruff"), Line("e3", "Port is 8080"))


def test_the_four_operations_are_understood() -> None:
    assert parse_operation({"operation": "add", "text": " a\n"}) == Add(text="a")
    assert parse_operation({"operation": "replace", "target": "e1", "text": "b"}) == Replace(target="e1", text="b")
    assert parse_operation({"operation": "remove", "target": "e1"}) == Remove(target="e1")
    batch = parse_operation({"operation": "batch", "operations": [{"operation": "remove", "target": "x"}]})
    assert singles(batch) == (Remove(target="x"),)
    assert texts(parse_operation({"operation": "replace", "target": "e1", "text": "cafe\u0301"})) == ("café",)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "add",
        [],
        {},
        {"operation": "forget", "text": "a"},
        {"operation": "add"},
        {"operation": "add", "text": 5},
        {"operation": "add", "text": "a", "target": "b"},
        {"operation": "add", "text": "a", "note": "extra"},
        {"operation": "replace", "text": "a"},
        {"operation": "remove", "target": ""},
        {"operation": "batch"},
        {"operation": "batch", "operations": []},
        {"operation": "batch", "operations": ["add"]},
        {"operation": "batch", "operations": [{"operation": "batch", "operations": []}]},
        {"operation": "add", "text": "a" * 100_001},
    ],
)
def test_anything_else_is_refused_with_the_forms(value: Any) -> None:
    with pytest.raises(InputError) as refusal:
        parse_operation(value)
    assert refusal.value.code == "bad_operation"


@pytest.mark.parametrize(("number", "fine"), [(99, True), (100, True), (101, False)])
def test_a_batch_holds_a_hundred_operations(number: int, fine: bool) -> None:
    value = {"operation": "batch", "operations": [{"operation": "add", "text": f"t{n}"} for n in range(number)]}
    if fine:
        assert len(singles(parse_operation(value))) == number
    else:
        with pytest.raises(InputError, match="at most 100"):
            parse_operation(value)


def test_an_id_beats_a_text_and_an_exact_text_beats_a_part() -> None:
    assert find_target(LINES, "e3") == 2
    assert find_target(LINES, "Uses Ruff") == 1
    assert find_target(LINES, "8080") == 2
    assert find_target(LINES, "for LINTING") == 0


@pytest.mark.parametrize("target", ["[e0123456789]", "[e0123456789] The port is 1", "- [e0123456789] The port is 1"])
def test_a_line_as_the_memory_block_shows_it_names_its_entry(target: str) -> None:
    lines = [Line("e0123456789", "The port is 1"), Line("e9876543210", "The port is 12")]
    assert find_target(lines, target) == 0


def test_a_line_as_shown_with_an_older_text_names_nothing() -> None:
    with pytest.raises(MemoryFault) as refusal:
        find_target([Line("e0123456789", "The port is 2")], "[e0123456789] The port is 1")
    assert refusal.value.code == "target_unknown"


def test_a_null_is_the_same_as_nothing() -> None:
    add = {"operation": "add", "text": "Uses ruff", "target": None, "operations": None}
    assert parse_operation(add) == Add(text="Uses ruff")
    assert parse_operation({"operation": "batch", "text": None, "operations": [add]}) == Batch(
        operations=(Add(text="Uses ruff"),)
    )


def test_an_ambiguous_target_is_refused_with_the_entries_that_match() -> None:
    with pytest.raises(MemoryFault) as refusal:
        find_target(LINES, "Ruf")
    assert refusal.value.code == "target_ambiguous"
    assert "e1" in str(refusal.value)
    assert "e2" in str(refusal.value)
    assert [match["id"] for match in refusal.value.details["matches"]] == ["e1", "e2"]


@pytest.mark.parametrize("target", ["nothing like it", " ", "e9"])
def test_an_unknown_target_is_refused(target: str) -> None:
    with pytest.raises(MemoryFault) as refusal:
        find_target(LINES, target)
    assert refusal.value.code == "target_unknown"


def test_a_replace_keeps_the_place_and_pins_what_it_meant() -> None:
    done = apply(LINES, Replace(target="8080", text="Port is 9090"), "c1")
    assert [line.text for line in done.entries] == ["Uses Ruff for linting", "Uses Ruff", "Port is 9090"]
    assert done.entries[2].id == new_entry_id("c1", 0)
    assert done.pinned == Replace(target="e3", text="Port is 9090", expects=text_digest("Port is 8080"))


def test_a_pinned_operation_is_refused_once_the_text_has_changed() -> None:
    pinned = apply(LINES, Remove(target="8080"), "c1").pinned
    changed = (*LINES[:2], Line("e3", "Port is 7070"))
    with pytest.raises(MemoryFault) as refusal:
        apply(changed, pinned, "c2")
    assert refusal.value.code == "target_changed"


def test_a_batch_sees_its_own_earlier_steps() -> None:
    batch = Batch(
        operations=(
            Add(text="Tests use pytest"),
            Replace(target="Tests use", text="Tests use nox"),
            Remove(target="e1"),
        )
    )
    done = apply(LINES, batch, "c1")
    assert [line.text for line in done.entries] == ["Uses Ruff", "Port is 8080", "Tests use nox"]
    assert apply(LINES, done.pinned, "c1").entries == done.entries


def test_a_batch_with_one_bad_step_does_nothing() -> None:
    before = list(LINES)
    with pytest.raises(MemoryFault):
        apply(before, Batch(operations=(Add(text="a"), Remove(target="missing"))), "c1")
    assert before == list(LINES)


operations: st.SearchStrategy[Operation] = st.one_of(
    st.builds(Add, text=st.sampled_from(["a", "b", "port"])),
    st.builds(Remove, target=st.sampled_from(["e1", "e2", "Port", "a"])),
    st.builds(Replace, target=st.sampled_from(["e1", "e3", "Port", "b"]), text=st.sampled_from(["x", "y"])),
)


@given(st.lists(operations, max_size=8))
@settings(max_examples=100, deadline=None)
def test_ids_stay_unique_whatever_is_applied(steps: list[Operation]) -> None:
    lines: tuple[Line, ...] = LINES
    for step in steps:
        try:
            lines = apply(lines, step, "same").entries
        except MemoryFault:
            continue
        assert len({line.id for line in lines}) == len(lines)


def test_the_tool_is_rendered_for_each_api() -> None:
    openai, anthropic, mcp = MEMORY_TOOL.to_openai(), MEMORY_TOOL.to_anthropic(), MEMORY_TOOL.to_mcp()
    assert openai["function"]["name"] == anthropic["name"] == mcp["name"] == "memory"
    assert openai["function"]["parameters"] == anthropic["input_schema"] == mcp["inputSchema"]
    anthropic["input_schema"]["properties"].clear()
    assert MEMORY_TOOL.schema["properties"]["operation"]["enum"] == ["add", "replace", "remove", "batch"]
