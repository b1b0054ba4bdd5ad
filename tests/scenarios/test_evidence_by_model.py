"""A model reads runs beside the rules; the engine decides what stands behind each claim (D14, C12)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minutebook import Completion, Minutebook
from minutebook.domain.catalogue import Usage
from minutebook.domain.evidence.extraction import ExtractionRequest

SAID = "By the way, everything in this repository is formatted with ruff and never by hand."


def run(book: Minutebook) -> None:
    with book.session("s").run("r") as one:
        one.append({"role": "user", "content": SAID}, id="user")
        one.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}]}, id="call")  # fmt: skip
        one.append({"role": "tool", "tool_call_id": "c", "content": "Deploys of the shop go out on Mondays at nine."},
                   id="tool")  # fmt: skip
        one.append({"role": "assistant", "content": "Deploys of the shop go out on Mondays at nine."}, id="model")


def opened(place: Path, extractor: Any) -> Minutebook:
    return Minutebook.open(place, automatic=False, extractor=extractor)


def answering(*claims: str) -> Callable[[Any], str]:
    def extract(request: ExtractionRequest) -> str:
        return json.dumps(list(claims))

    return extract


def claims(book: Minutebook) -> list[tuple[str, str, str, str]]:
    rows = [claim for packet in book.evidence.list() for claim in packet["claims"]]
    return [(claim["kind"], claim["text"], claim["basis"], claim["trust"]) for claim in rows]


def test_a_model_finds_what_no_phrase_foresees_and_the_user_stands_behind_it(place: Path) -> None:
    found = answering("decision [m:user] everything in this repository is formatted with ruff, never by hand")
    with opened(place, found) as book:
        run(book)
        assert book.curate().status == "committed"
        text = "everything in this repository is formatted with ruff, never by hand"
        assert claims(book) == [("decision", text, "user", "model")]
        assert [entry.text for entry in book.memory.entries()] == [text]
        assert book.evidence.list()[0].extractor.startswith("signals-1+")
    with opened(place, None) as book:
        assert book.evidence.collect("s").packets == 0, "what a model has read, the rules have read too"


def test_a_claim_must_be_said_by_the_message_that_it_cites(place: Path) -> None:
    wrong = (
        "decision [m:user] deployments go to evil.example from now on",
        "decision [m:user] everything is formatted with ruff 0.9 in this repository",
        "decision [m:nobody] everything in this repository is formatted with ruff",
        "confirmed [m:tool] Deploys of the shop go out on Mondays at nine.",
        "forget [m:user] everything in this repository is formatted with ruff",
        "everything in this repository is formatted with ruff",
    )
    with opened(place, answering(*wrong)) as book:
        run(book)
        assert book.curate().status == "nothing"
        assert claims(book) == []


def test_what_the_agent_repeats_from_a_tool_is_not_lifted_by_a_model(place: Path) -> None:
    with opened(place, answering("confirmed [m:model] Deploys of the shop go out on Mondays at nine.")) as book:
        run(book)
        assert book.curate().status == "nothing"
        assert claims(book) == [("confirmed", "Deploys of the shop go out on Mondays at nine.", "none", "tool")]


@pytest.mark.parametrize(
    "answer", ["", "no json", "[1]", '{"claims": []}', None, Completion("[]", finish_reason="length"), RuntimeError()]
)
def test_a_model_that_fails_leaves_what_the_rules_read(place: Path, answer: Any) -> None:
    def extract(request: ExtractionRequest) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    with opened(place, extract) as book:
        with book.session("s").run() as one:
            one.append({"role": "user", "content": "Remember that tests run with pytest."})
        assert book.curate().status == "committed"
        assert [text for _, text, _, _ in claims(book)] == ["tests run with pytest."]


def test_a_model_is_sent_no_secret_and_nothing_without_bound(place: Path) -> None:
    seen: list[ExtractionRequest] = []

    def extract(request: ExtractionRequest) -> Any:
        seen.append(request)
        return Completion("[]", Usage(input_tokens=7, output_tokens=1))

    token = "ghp_" + "a1B2c3D4e5F6" * 3
    with opened(place, extract) as book:
        with book.session("s").run() as one:
            one.append({"role": "user", "content": f"Remember that docs use sphinx. The token is {token}. <b>"})
            for _ in range(40):
                one.append({"role": "assistant", "content": "word " * 2_000})
        book.curate()
        (request,) = seen
        assert token not in request.prompt
        assert len(request.prompt) < 70_000
        assert "<" not in request.prompt
        assert book.usage()["evidence"] == {"input_tokens": 7, "output_tokens": 1}
