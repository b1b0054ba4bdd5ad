"""The memory tool takes a call in the shape of every provider, once, and answers what a model can act on (D2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from minutebook import MEMORY_TOOL, Minutebook

ADD = {"operation": "add", "text": "The build needs make 4.3 or newer."}


class Block:
    """As the classes of the providers' own libraries: an object with ``model_dump``."""

    def __init__(self, **values: Any) -> None:
        self._values = values

    def model_dump(self, mode: str = "python") -> dict[str, Any]:
        return self._values


SHAPES: dict[str, tuple[Any, bool]] = {
    "arguments": (ADD, False),
    "arguments as text": (json.dumps(ADD), False),
    "OpenAI chat": (
        {"id": "call_1", "type": "function", "function": {"name": "memory", "arguments": json.dumps(ADD)}},
        True,
    ),
    "OpenAI responses": (
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "memory", "arguments": json.dumps(ADD)},
        True,
    ),
    "Anthropic": ({"type": "tool_use", "id": "toolu_1", "name": "memory", "input": ADD}, True),
    "MCP params": ({"name": "memory", "arguments": ADD}, False),
    "MCP request": (
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "memory", "arguments": ADD}},
        False,
    ),
    "an SDK object": (Block(type="tool_use", id="toolu_1", name="memory", input=ADD), True),
}


@pytest.fixture
def run(tmp_path: Path) -> Any:
    with Minutebook.open(tmp_path, automatic=False) as book, book.session("s").run() as opened:
        yield opened


@pytest.mark.parametrize("shape", SHAPES)
def test_a_call_of_each_shape_is_taken_and_its_id_makes_it_idempotent(run: Any, shape: str) -> None:
    call, has_id = SHAPES[shape]
    first, again = run.memory(call), run.memory(call)
    assert first.status == "proposed"
    assert (again.candidate == first.candidate) is has_id
    if has_id:
        assert "recorded before" in again.message


def test_a_provider_that_gives_every_call_the_same_id_loses_nothing(run: Any) -> None:
    def call(text: str) -> dict[str, Any]:
        arguments = json.dumps({"operation": "add", "text": text})
        return {"id": "call_0", "type": "function", "function": {"name": "memory", "arguments": arguments}}

    one, two = run.memory(call("Tests run with pytest.")), run.memory(call("Releases are cut on Fridays."))
    assert one.candidate != two.candidate
    assert run.memory(call("Tests run with pytest.")).candidate == one.candidate


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c", "type": "function", "function": {"name": "shell", "arguments": "{}"}},
        {"type": "tool_use", "id": "c", "name": "shell", "input": ADD},
        {"name": "memory", "arguments": "not json"},
        {"id": "c", "type": "function", "function": {"name": "memory", "arguments": "[" * 100_000}},
        {"name": "memory"},
        ["add"],
        None,
        7,
    ],
)
def test_what_is_no_call_of_the_memory_tool_is_refused_as_an_answer(run: Any, call: Any) -> None:
    answer = run.memory(call)
    assert (answer.status, answer.error, answer.candidate) == ("refused", "bad_operation", None)


@pytest.mark.parametrize(
    ("rendered", "path"),
    [
        (MEMORY_TOOL.to_openai(), ("function", "parameters")),
        (MEMORY_TOOL.to_anthropic(), ("input_schema",)),
        (MEMORY_TOOL.to_mcp(), ("inputSchema",)),
    ],
)
def test_the_tool_is_rendered_for_each_api(rendered: dict[str, Any], path: tuple[str, ...]) -> None:
    schema: Any = rendered
    for step in path:
        schema = schema[step]
    assert schema == MEMORY_TOOL.schema
    assert json.loads(json.dumps(rendered)) == rendered
    assert rendered.get("name") == "memory" or rendered["function"]["name"] == "memory"
