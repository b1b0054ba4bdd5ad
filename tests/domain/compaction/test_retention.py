"""What later turns use again is kept by the extractive summary better than by plain cuts of equal length (C4, C5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from retention import facts_of, kept_in, measure, summarised, transcripts

from minutebook.domain.ledger import ledger
from minutebook.domain.summary_request import material

SHIPPED = Path(__file__).resolve().parents[2] / "data" / "transcripts"


@pytest.mark.slow
def test_on_every_transcript_more_facts_survive_than_in_as_many_tokens_of_raw_text(shared_transcripts: Path) -> None:
    compared = 0
    for name, conversations in transcripts(shared_transcripts):
        found = measure(name, conversations)
        if found.facts:
            compared += 1
            assert found.extractive > max(found.last_tokens, found.first_lines), found
    assert compared >= 5


def test_on_the_shipped_transcripts_too() -> None:
    found = [measure(name, conversations) for name, conversations in transcripts(SHIPPED)]
    assert any(each.facts for each in found)
    assert all(each.extractive > max(each.last_tokens, each.first_lines) for each in found if each.facts)


def test_a_fact_is_what_only_the_hidden_range_shows_and_a_later_turn_uses(new_talk: Callable[[], Any]) -> None:
    hidden, visible, later = new_talk(), new_talk(), new_talk()
    hidden.user("Never deploy the ledger service on a Friday evening. See src/known.py and src/unused.py.")
    hidden.tool("ls", {"path": "src"}, "src/listed.py src/quiet.py")
    visible.user("Now src/known.py.")
    later.assistant("I change src/listed.py and src/known.py; the ledger service must not deploy on Friday evening.")
    facts, constraints = facts_of(hidden.messages, visible.messages, later.messages)
    assert facts == {"src/listed.py"}
    assert len(constraints) == 1
    assert kept_in("- never deploy the ledger service on a Friday evening\n- src/listed.py", facts, constraints) == 2
    assert kept_in("- nothing", facts, constraints) == 0


def test_names_out_of_outputs_come_last_and_opaque_ones_not_at_all(new_talk: Callable[[], Any]) -> None:
    """A key in an output is known as one by the words around it: without them it must not be listed as an id."""
    talk = new_talk()
    talk.user("Look at src/app.py.")
    output = (
        "src/other.py\nSECRET=deadbeef1234567 AKIA1234567890ABCDEF https://host/x?token=abc user@host/path "
        "readRows 8443 550e8400-e29b-41d4-a716-446655440000 seat_map_12\n"
        "password: blue_horse_77\nDB_PASSWORD=green_house_99"
    )
    talk.tool("grep", {"pattern": "openFile"}, output)
    found = [name for name, _ in ledger([material(message) for message in talk.messages])]
    assert set(found[:2]) == {"src/app.py", "openFile"}
    assert sorted(found[2:]) == ["readRows", "seat_map_12", "src/other.py"]
    assert "src/other.py" in summarised(talk.messages)
