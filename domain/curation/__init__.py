"""From admitted candidates to the next memory document: strict answers, checks, blame, the shrink guard (D4).

``build_request`` makes what a curator gets, ``RuleCurator`` answers it without a model, ``decide`` judges any answer.
"""

from __future__ import annotations

from .answer import Answer, parse_answer
from .decision import decide, next_document
from .intake import Intake, take_in
from .manual import JUDGED, Adopted, Declined, adopt_edit, readmit
from .plan import RuleCurator, likeness_refusals, make_plan
from .prompt import build_request
from .values import Accepted, Candidate, Count, CuratorRequest, Decision, Entry, Rejected

__all__ = [
    "JUDGED",
    "Accepted",
    "Adopted",
    "Answer",
    "Candidate",
    "Count",
    "CuratorRequest",
    "Decision",
    "Declined",
    "Entry",
    "Intake",
    "Rejected",
    "RuleCurator",
    "adopt_edit",
    "build_request",
    "decide",
    "likeness_refusals",
    "make_plan",
    "next_document",
    "parse_answer",
    "readmit",
    "take_in",
]
