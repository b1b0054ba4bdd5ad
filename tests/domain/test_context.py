"""Building the request: the order is repaired, nothing is invented, and both APIs take the result (C9, C11)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from minutebook.domain.context import (
    NO_RESULT,
    Built,
    Preamble,
    Shown,
    SummaryShown,
    build,
    digest,
    neutral_json,
)
from minutebook.domain.forms import anthropic, openai
from minutebook.domain.legality import check_anthropic, check_openai
from minutebook.domain.message import Message, ToolResult
from minutebook.domain.rendering import losses, to_anthropic, to_openai
from minutebook.domain.tokens import count_source, count_tools

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def says(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def calls(*ids: str, arguments: str = "{}", name: str = "read") -> dict[str, Any]:
    made = [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(call: str, content: Any = "42") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": content}


def use(call: str, **value: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "read", "input": value}


def answer(call: str, content: Any = "42") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def shown(*sources: Any, form: str = "openai") -> list[Shown | SummaryShown]:
    reader = openai.view if form == "openai" else anthropic.view
    return [
        Shown(Message(n, f"m{n}", reader(source), form, source, count_source(source)), None, count_source(source))
        for n, source in enumerate(sources, 1)
    ]


def built(*sources: Any, form: str = "openai", preamble: Preamble | None = None) -> Built:
    made = build(shown(*sources, form=form), preamble or Preamble())
    assert check_openai(to_openai(made)) == []
    assert check_anthropic(to_anthropic(made)) == []
    return made


def roles(made: Built) -> list[str]:
    return [message["role"] for message in made.messages]


# --- calls and results -------------------------------------------------------------------------------------


def test_a_call_without_a_result_gets_one_that_says_none_was_recorded() -> None:
    made = built(user("go"), calls("c1", "c2"), result("c2"), user("and now?"))
    assert [message["state"] for message in made.messages] == ["original"] * 3 + ["synthetic", "original"]
    synthetic = made.messages[3]
    assert synthetic["content"][0]["text"] == NO_RESULT
    assert "fail" not in NO_RESULT.lower()
    assert "error" not in NO_RESULT.lower()
    assert to_openai(made)["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": NO_RESULT}


def test_an_aborted_call_at_the_very_end_is_legal() -> None:
    made = built(user("go"), calls("c1"))
    assert to_anthropic(made)["messages"][-1]["content"] == [answer("c1", NO_RESULT)]


def test_a_result_whose_call_is_not_shown_becomes_text_that_says_so() -> None:
    # openclaw#8525, #7527, #4739: result kept, call summarised
    made = built(user("go"), result("c1", "the file has 3 lines"), says("ok"))
    assert roles(made) == ["user", "user", "assistant"]
    text = made.messages[1]["content"]
    assert "the file has 3 lines" in text
    assert "not part of this context" in text


def test_an_orphan_survives_two_chained_compactions() -> None:
    # pi#4570: compact, then compact again with the earlier boundary inside the kept window
    items = shown(user("go"), calls("c1"), result("c1"), calls("c2"), result("c2"), says("done"))
    first = SummaryShown(1, "k1", "history", ("m1", "m2"), 5)
    second = SummaryShown(1, "k2", "more history", ("m1", "m2", "m3", "m4"), 5)
    for visible in ([first, *items[2:]], [second, *items[4:]]):
        made = build(visible, Preamble())
        assert check_openai(to_openai(made)) == []
        assert check_anthropic(to_anthropic(made)) == []


def test_a_late_result_is_brought_back_behind_its_call() -> None:
    made = built(user("go"), calls("c1"), user("are you there?"), says("yes"), result("c1"))
    assert roles(made) == ["user", "assistant", "tool", "user", "assistant"]
    assert [message["position"] for message in made.messages] == [1, 2, 5, 3, 4]


def test_a_late_result_in_a_mixed_message_moves_and_its_text_stays() -> None:
    made = built(
        user("go"),
        says([use("t1")]),
        user("wait"),
        user([{"type": "text", "text": "also this"}, answer("t1")]),
        form="anthropic",
    )
    assert roles(made) == ["user", "assistant", "tool", "user", "user"]
    assert made.messages[-1]["content"] == "also this"


def test_the_first_of_two_results_counts_and_the_second_is_shown_as_text() -> None:
    made = built(user("go"), calls("c1"), result("c1", "first"), result("c1", "second"), says("ok"))
    request = to_openai(made)["messages"]
    assert request[2]["content"] == "first"
    assert request[3]["role"] == "user"
    assert "second" in request[3]["content"]
    assert any("shown as text" in loss for loss in losses(made, "openai"))


def test_calls_in_neighbouring_messages_form_one_turn_for_anthropic() -> None:
    # Claude Code writes one line a block: two calls, then two results
    sources = [user("go"), says([use("t1")]), says([use("t2")]), user([answer("t1")]), user([answer("t2")])]
    request = to_anthropic(built(*sources, form="anthropic"))["messages"]
    assert [message["role"] for message in request] == ["user", "assistant", "user"]
    assert [block["tool_use_id"] for block in request[2]["content"]] == ["t1", "t2"]
    openai_roles = [message["role"] for message in to_openai(built(*sources, form="anthropic"))["messages"]]
    assert openai_roles == ["user", "assistant", "tool", "assistant", "tool"]


def test_an_id_that_comes_again_stays_for_openai_and_gets_a_number_for_anthropic() -> None:
    made = built(user("go"), calls("c1"), result("c1", "a"), calls("c1"), result("c1", "b"), says("ok"))
    assert [m["tool_call_id"] for m in to_openai(made)["messages"] if m["role"] == "tool"] == ["c1", "c1"]
    blocks = [block for m in to_anthropic(made)["messages"] if m["role"] == "user" for block in m["content"]]
    assert [block["tool_use_id"] for block in blocks if isinstance(block, dict)] == ["c1", "c1_2"]
    assert losses(made, "openai") == ()
    assert any("'c1_2'" in loss for loss in losses(made, "anthropic"))


def test_an_id_that_stands_twice_in_one_turn_is_told_apart_everywhere() -> None:
    made = built(user("go"), calls("c1", "c1"), result("c1", "late one"), result("c1", "early one"))
    ids = [call["id"] for call in to_openai(made)["messages"][1]["tool_calls"]]
    assert ids == ["c1", "c1_2"]
    assert any("twice in one turn" in loss for loss in losses(made, "openai"))


@pytest.mark.parametrize("bad", ["", "call|fc_0123", "x" * 200, "função", "function:run"])
def test_ids_and_names_that_an_api_refuses_are_mapped_the_same_way_every_time(bad: str) -> None:
    made = built(user("go"), calls(bad, name=bad), result(bad))
    again = built(user("other"), user("go"), calls(bad, name=bad), result(bad))
    call = to_openai(made)["messages"][1]["tool_calls"][0]
    assert call == to_openai(again)["messages"][2]["tool_calls"][0]
    assert any("call id" in loss for loss in losses(made, "openai"))
    assert any("tool name" in loss for loss in losses(made, "openai"))


@pytest.mark.parametrize(
    ("arguments", "sent", "lost"),
    [
        ('{"path": "a"}', {"path": "a"}, False),
        ("", {}, False),
        ('{"path": ', {"arguments": '{"path": '}, True),
        ("[1]", {"arguments": "[1]"}, True),
        ('{"a": 1, "a": 2}', {"arguments": '{"a": 1, "a": 2}'}, True),
        ('{"a": NaN}', {"arguments": '{"a": NaN}'}, True),
        ('{"a": "\\ud800"}', {"arguments": '{"a": "\\ud800"}'}, True),
        ("[" * 5_000, {"arguments": "[" * 5_000}, True),
    ],
)
def test_arguments_reach_openai_exactly_and_anthropic_as_an_object(arguments: str, sent: Any, lost: bool) -> None:
    made = built(user("go"), calls("c1", arguments=arguments), result("c1"))
    assert to_openai(made)["messages"][1]["tool_calls"][0]["function"]["arguments"] == arguments
    assert to_anthropic(made)["messages"][1]["content"][0]["input"] == sent
    assert bool(losses(made, "anthropic")) is lost


# --- what has no place -------------------------------------------------------------------------------------


def test_signed_reasoning_reaches_anthropic_and_unsigned_does_not() -> None:
    signed = {"type": "thinking", "thinking": "I should look", "signature": "c2ln"}
    bare = {"type": "thinking", "thinking": "no signature"}
    made = built(user("go"), says([signed, bare, use("t1")]), user([answer("t1")]), form="anthropic")
    assert [block["type"] for block in to_anthropic(made)["messages"][1]["content"]] == ["thinking", "tool_use"]
    assert to_anthropic(made)["messages"][1]["content"][0] == signed
    assert [loss for loss in losses(made, "anthropic") if "no signature" in loss]
    assert len([loss for loss in losses(made, "openai") if "reasoning" in loss]) == 2


def test_a_turn_never_ends_with_reasoning() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    made = built(user("go"), says([thought]), user("well?"), form="anthropic")
    assert [message["role"] for message in to_anthropic(made)["messages"]] == ["user"]
    assert any("at the end of a turn" in loss for loss in losses(made, "anthropic"))


def test_an_image_in_a_tool_result_reaches_openai_behind_all_results() -> None:
    plot = answer("t1", [{"type": "text", "text": "a plot"}, IMAGE])
    made = built(user("go"), says([use("t1"), use("t2")]), user([plot, answer("t2")]), form="anthropic")
    request = to_openai(made)["messages"]
    assert [message["role"] for message in request] == ["user", "assistant", "tool", "tool", "user"]
    assert request[4]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    assert to_anthropic(made)["messages"][2]["content"][0] == plot


def test_images_go_from_each_form_to_the_other() -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    made = built(user([{"type": "text", "text": "what is this?"}, picture]))
    assert to_anthropic(made)["messages"][0]["content"][1] == IMAGE
    made = built(user([IMAGE]), form="anthropic")
    assert to_openai(made)["messages"][0]["content"] == [picture]


def test_what_an_api_cannot_take_is_named_in_its_place_and_in_the_losses() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    made = built(user([{"type": "text", "text": "listen"}, sound]))
    assert to_openai(made)["messages"][0]["content"][1] == sound
    assert "not carried" in to_anthropic(made)["messages"][0]["content"][1]["text"]
    assert losses(made, "anthropic") == ("m1: audio audio/wav of 3 bytes not carried",)


def test_an_unknown_part_is_shown_as_text_and_confessed() -> None:
    file = {"type": "file", "path": "a.tsx", "content": "use client"}  # as cline writes it
    made = built(user([{"type": "text", "text": "look"}, file]), form="anthropic")
    assert json.loads(to_anthropic(made)["messages"][0]["content"][1]["text"]) == file
    assert json.loads(to_openai(made)["messages"][0]["content"].removeprefix("look\n")) == file
    assert any("'file' shown as JSON text" in loss for loss in losses(made, "anthropic"))


def test_fields_that_no_api_knows_are_left_out_and_confessed() -> None:
    source = {**says([{"type": "text", "text": "ok", "cache_control": {"type": "ephemeral"}}]), "ts": 5, "usage": {}}
    made = built(user("go"), source, form="anthropic")
    assert to_anthropic(made)["messages"][1] == says([{"type": "text", "text": "ok"}])
    lost = losses(made, "anthropic")
    assert "m2: fields ts, usage not carried" in lost
    assert "m2: fields cache_control of a text part not carried" in lost


def test_half_a_surrogate_pair_never_reaches_an_api() -> None:
    made = built(user("broken \ud83d here"), calls("c1", arguments="\udc00"), result("c1", "\ud800"))
    assert to_openai(made)["messages"][0]["content"] == "broken \ufffd here"
    assert any("surrogate" in loss for loss in losses(made, "openai"))
    neutral_json(made).decode()


# --- system, memory, summaries, beginnings and ends --------------------------------------------------------


def test_the_memory_block_comes_last_in_the_system_prompt() -> None:
    preamble = Preamble("You are an agent.", "Notes: port 8080")
    made = built(user("go"), preamble=preamble)
    assert to_openai(made)["messages"][0]["content"] == "You are an agent.\n\nNotes: port 8080"
    made = built({"role": "system", "content": "Rules."}, user("go"), preamble=preamble)
    assert [m["content"] for m in to_openai(made)["messages"][:3]] == [
        "You are an agent.",
        "Rules.",
        "Notes: port 8080",
    ]
    assert to_anthropic(made)["system"] == "You are an agent.\n\nRules.\n\nNotes: port 8080"


def test_a_system_message_in_the_middle_stays_for_openai_and_moves_up_for_anthropic() -> None:
    made = built(user("go"), {"role": "developer", "content": "Be brief."}, says("ok"))
    assert to_openai(made)["messages"][1] == {"role": "developer", "content": "Be brief."}
    assert to_anthropic(made)["system"] == "Be brief."
    assert any("not at its place" in loss for loss in losses(made, "anthropic"))


def test_a_summary_is_a_user_message_merged_where_turns_must_alternate() -> None:
    items = shown(user("go"), says("hi"), user("next"))
    visible = [SummaryShown(1, "k1", "## Goal\nfix it", ("m1", "m2"), 7), items[2]]
    made = build(visible, Preamble())
    assert made.messages[0] == {
        "position": 1,
        "id": "k1",
        "role": "summary",
        "content": "## Goal\nfix it",
        "state": "summary",
        "covers": ["m1", "m2"],
    }
    assert [m["role"] for m in to_openai(made)["messages"]] == ["user", "user"]
    assert [block["text"] for block in to_anthropic(made)["messages"][0]["content"]] == ["## Goal\nfix it", "next"]


def test_a_history_that_begins_with_the_assistant_gets_a_user_first_for_anthropic() -> None:
    # agent-framework#6972: first action is a tool call
    made = built(calls("c1"), result("c1"), says("done"))
    assert to_anthropic(made)["messages"][0]["role"] == "user"
    assert to_openai(made)["messages"][0]["role"] == "assistant"


def test_an_empty_context_is_a_legal_request() -> None:
    made = built()
    assert len(to_anthropic(made)["messages"]) == len(to_openai(made)["messages"]) == 1


def test_empty_messages_are_left_out_and_a_blank_one_only_where_it_is_refused() -> None:
    made = built(user("go"), says(""), user(" "), says("ok \n"))
    assert [m["content"] for m in to_openai(made)["messages"]] == ["go", " ", "ok \n"]
    assert [m["content"] for m in to_anthropic(made)["messages"]] == ["go", "ok"]


def test_a_result_without_text_stays_one_and_an_error_says_that_no_text_came() -> None:
    blocks = [answer("t1", ""), {**answer("t2", []), "is_error": True}]
    made = built(user("go"), says([use("t1"), use("t2")]), user(blocks), form="anthropic")
    first, second = to_anthropic(made)["messages"][2]["content"]
    assert first == {"type": "tool_result", "tool_use_id": "t1"}
    assert second["content"] == "[No text came with this error.]"
    assert [message["content"] for message in to_openai(made)["messages"][2:]] == ["", ""]


def test_reduced_parts_are_shown_instead_of_the_original_and_the_original_stays() -> None:
    items = shown(user("go"), calls("c1"), result("c1", "x" * 9_000))
    last = items[2]
    assert isinstance(last, Shown)
    items[2] = Shown(last.message, (ToolResult("c1", "9,000 characters, see position 3"),), 9)
    made = build(items, Preamble())
    assert made.messages[2]["state"] == "reduced"
    assert to_openai(made)["messages"][2]["content"] == "9,000 characters, see position 3"
    assert last.message.source["content"] == "x" * 9_000


# --- tools, tokens, digest ------------------------------------------------------------------------------------


def test_tool_schemas_go_from_each_form_to_the_other() -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    wrapped = {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": schema}}
    flat = {"name": "write", "description": "Writes.", "input_schema": schema}
    hosted = {"type": "web_search_20250305", "name": "web_search"}
    made = built(user("go"), preamble=Preamble(tools=(wrapped, flat, hosted, "nonsense", wrapped)))
    openai_tools = to_openai(made)["tools"]
    assert openai_tools[0] == wrapped
    assert openai_tools[1]["function"] == {"name": "write", "description": "Writes.", "parameters": schema}
    assert len(openai_tools) == 2
    assert to_anthropic(made)["tools"] == [
        {"name": "read", "description": "Reads.", "input_schema": schema},
        flat,
        hosted,
    ]
    assert len([loss for loss in losses(made, "openai") if loss.startswith("tools: ")]) == 3


def test_tokens_count_the_preamble_the_messages_and_what_was_added() -> None:
    items = shown(user("go"), calls("c1"))
    preamble = Preamble("prompt", "memory", ({"name": "read", "input_schema": {"type": "object"}},))
    made = build(items, preamble)
    assert made.tokens > preamble.tokens + sum(item.tokens for item in items)
    assert preamble.tokens > count_tools(preamble.tools)


def test_the_digest_is_that_of_canonical_json_and_sees_every_change() -> None:
    made = built(user("go"), says("ok"), preamble=Preamble("p"))
    assert neutral_json(made) == (
        b'{"messages":['
        b'{"content":"go","covers":[],"id":"m1","position":1,"role":"user","state":"original"},'
        b'{"content":"ok","covers":[],"id":"m2","position":2,"role":"assistant","state":"original"}'
        b'],"system":"p","tools":[]}'
    )
    assert digest(made) == digest(built(user("go"), says("ok"), preamble=Preamble("p")))
    for other in (built(user("go!"), says("ok"), preamble=Preamble("p")), built(user("go"), says("ok"))):
        assert digest(made) != digest(other)
