"""backtest: what another policy would have done to a session."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .app import app, state
from .output import counted
from .sessions import SessionId, find

SHOWN_MAX = 40
"""Rows of the table for people; --json has every turn."""


@app.command("backtest", short_help="Play a session again under another policy.")
def backtest(
    session: SessionId,
    window: Annotated[int | None, typer.Option(min=1, help="Tokens of the window.")] = None,
    threshold: Annotated[float | None, typer.Option(help="Share of the window at which it compacts.")] = None,
    reserve: Annotated[int | None, typer.Option(min=0, help="Tokens kept free for the answer.")] = None,
    protect_first: Annotated[int | None, typer.Option(min=0, help="First messages that stay.")] = None,
    protect_recent: Annotated[int | None, typer.Option(min=0, help="Recent messages that stay.")] = None,
    summary_tokens_max: Annotated[int | None, typer.Option(help="Bound of a summary, in tokens.")] = None,
) -> None:
    """Play a session again under another policy: tokens per request, compactions, errors. Changes nothing."""
    out = state.output
    found = find(state.look(), session).backtest(
        window=window,
        threshold=threshold,
        reserve=reserve,
        protect_first=protect_first,
        protect_recent=protect_recent,
        summary_tokens_max=summary_tokens_max,
    )
    if out.json:
        out.document(found)
    else:
        _print(found)
    if found.errors:
        raise typer.Exit(1)


def _print(found: Any) -> None:
    out, policy = state.output, found.policy
    out.line(
        f"{found.session}: {counted(found.requests, 'request')} under a window of {policy['window']:,} "
        f"(reserve {policy['reserve']:,}, trigger {policy['trigger']:,}, first {policy['protect_first']}, "
        f"recent {policy['protect_recent']})",
        "bold",
    )
    saved = 1 - found.tokens_total / found.tokens_total_unchanged if found.tokens_total_unchanged else 0.0
    out.fields(
        [
            ("tokens, all requests", f"{found.tokens_total:,} of {found.tokens_total_unchanged:,} ({saved:.0%} less)"),
            (
                "largest request",
                f"{found.largest['tokens']:,} at {found.largest['position']}" if found.largest else None,
            ),
            ("last request", f"{found.tokens_last:,}"),
            (
                "compactions",
                f"{found.compactions} ({found.rejected} refused), {counted(found.reductions, 'reduction')}",
            ),
            ("hidden at the end", f"{counted(len(found.hidden), 'message')}, {len(found.reduced):,} shown shorter"),
            ("requests that fail", f"{len(found.errors):,}"),
        ]
    )
    rows = [turn for turn in found.turns if turn["actions"] or turn["error"]]
    if rows:
        columns = ("position", "messages", "before", "after", "what is done")
        out.table(
            columns,
            [
                (turn["position"], turn["messages"], f"{turn['tokens_before']:,}", f"{turn['tokens']:,}", _done(turn))
                for turn in rows[:SHOWN_MAX]
            ],
            numbers=columns[:-1],
        )
    if len(rows) > SHOWN_MAX:
        out.line(f"and {len(rows) - SHOWN_MAX:,} more; --json has them all", "dim")


def _done(turn: dict[str, Any]) -> str:
    done = [f"{action}: hides {turn['hidden']}" if action == "compact" else action for action in turn["actions"]]
    return "; ".join([*done, *([f"FAILS: {turn['error']}"] if turn["error"] else [])])
