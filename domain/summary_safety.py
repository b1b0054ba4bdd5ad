"""What may not be carried from tool output into a summary: instructions and credentials (C5, D13).

Thin: the rules are those of memory entries (``minutebook.domain.checks``); here is only which of them matter
for a text that a model will read as history.
"""

from __future__ import annotations

from .checks import check_passage, redact_credentials
from .checks.classifier import is_plain
from .message import Trust

CARRIED = frozenset(
    {
        "instruction",
        "exfiltration",
        "permission",
        "deception",
        "trigger",
        "role_marker",
        "hidden_markup",
    }
)
"""Findings that make a line of a summary an order to the model that reads it."""

LINE_CHARS_MAX = 4_000
"""A longer line is judged by its beginning and its end; every line of a summary is bounded far below."""


def reads_as_instruction(text: str, source: Trust = "model") -> bool:
    """True for a text that tells its reader to set rules aside, to send data away, to play a role, and the like.

    ``source`` is who wrote it: a summary is the summariser's, read for plain orders; a line taken from tool
    output is read as strictly as the checks can, since nothing is lost when it is left out.
    """
    if len(text) > LINE_CHARS_MAX:
        text = f"{text[: LINE_CHARS_MAX // 2]}\n{text[-LINE_CHARS_MAX // 2 :]}"
    return any(finding.code in CARRIED for finding in check_passage(text, source)) or is_plain(text)


__all__ = ["reads_as_instruction", "redact_credentials"]
