"""Run with pytest where minutebook and this package are installed."""

from datetime import UTC, datetime

from sqlalchemy import select
from token_cost_per_day import PRICE, PRICES, TokenCostPerDay

from minutebook import Minutebook, Settings
from minutebook.testing import check_projection

MESSAGES = [
    {"role": "user", "content": "Which files are there?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Makefile README.md"},
    {"role": "assistant", "content": "Two: Makefile and README.md."},
]


def test_it_is_sound():
    report = check_projection(TokenCostPerDay, MESSAGES)

    assert report.events == len(MESSAGES)


def test_a_call_and_its_result_count_for_their_tool(tmp_path):
    # given a conversation of one day
    settings = Settings(projections=("token_cost_per_day",))
    with Minutebook.open(tmp_path, settings=settings, clock=lambda: datetime(2026, 11, 30, tzinfo=UTC)) as book:
        recorded = book.session("s")
        recorded.append(MESSAGES)
        tokens = [message.tokens for message in recorded.messages()]

        # when its rows are read
        with book.projections.at("token_cost_per_day") as (projection, connection):
            rows = connection.execute(select(projection.costs)).all()

    # then each tool has its share, at the price of the role
    output = PRICES["assistant"]
    assert sorted(row[1:] for row in rows) == [
        ("2026-11-30", "-", 2, tokens[0] + tokens[3], tokens[0] * PRICE + tokens[3] * output),
        ("2026-11-30", "list", 2, tokens[1] + tokens[2], tokens[1] * output + tokens[2] * PRICE),
    ]
