"""Which requests of a user are over, by what was said later: confirmed, replaced, or done box by box (C5, C7).

Found by rule and only where it was said plainly: a request that is called open although it is over costs a line, one
that is called over although it is open costs the work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .segments import CANCELS, only_cancels
from .summary import Material, Segment, Summary, tags, untagged
from .words import share, words

CONFIRMS = re.compile(
    r"\W*(?:(?:ok(?:ay)?|yes|yep|ah|wow|cool|great)[,.! ]+)?(?:perfect|great|awesome|excellent|wonderful|lovely|lgtm|"
    r"looks? (?:good|great|perfect|fine)|well done|good job|(?:nice|great) work|thank(?:s| you)(?! for)|"
    r"(?:that|it|this|everything|all)(?: of it)?(?:.s| is| now|)? ?(?:works?|fixed|done|merged|perfect|fine now)|"
    r"works (?:now|fine|great|well|perfectly)|confirmed|danke|perfekt|merci|parfait|gracias|perfecto)\b|"
    r"\W*(?:很好|完美|谢谢|搞定|太好了|ありがとう|完璧|고마워|완벽)",
    re.IGNORECASE,
)
"""How a message begins that takes what was done as done."""
OBJECTS = re.compile(
    r"\b(?:but|however|except|still|not|fails?|broken|wrong|missing|almost|yet|aber|mais|pero)\b|但|不|でも", re.I
)
REPLACES = re.compile(
    r"\W*(?:(?:ok(?:ay)?|no|actually|wait|hmm+|sorry)[,.! ]+){0,2}(?:scratch that|"
    r"forget (?:it|that|all (?:of )?that)\b|never ?mind|drop (?:it|that)\b|cancel (?:it|that)\b|skip (?:it|that)\b|"
    r"let.?s not do that|vergiss (?:es|das)|laisse tomber|olv[ií]dalo)|\W*(?:算了|不用了)",
    re.IGNORECASE,
)
"""How a message begins that takes the request before it back."""
CLAIMS = re.compile(
    r"\b(?:done|finished|completed?|fixed|added|created|implemented|updated|removed|renamed|merged|committed|pushed|"
    r"published|pass(?:es|ed)?|works|wrote|written|refactored|deployed|verified|resolved|closed|moved|replaced|"
    r"changed|erledigt|fertig|termin[ée]|listo|hecho)\b|[✅✓☑]|完成|已|できました|완료",
    re.IGNORECASE,
)
"""How an assistant says that something is done."""
FIRST_CHARS = 80
OPEN_THEN = "open at that time: "
"""How the extractive summariser begins a line under Pending."""
How = Literal["confirmed", "replaced"]


@dataclass(frozen=True, slots=True)
class Settled:
    """How a request ended, and the log position of the message that says so."""

    how: How
    by: int


def settled(messages: Sequence[Material], earlier: Summary | None = None) -> Mapping[int, Settled]:
    """The requests that are over, by their log positions; the last one of the ``earlier`` summary among them.

    Of that one, what was reported last stands under its State.
    """
    out: dict[int, Settled] = {}
    before = max((place for item in earlier.of("goal") for place in tags(item)), default=None) if earlier else None
    asked: list[int] = [] if before is None else [before]
    answer = untagged(earlier.of("state")[-1]) if earlier and earlier.of("state") else ""
    answered = before is not None
    for message in messages:
        if message.role == "assistant" and message.said.strip():
            answer, answered = message.said, True
        elif message.role == "user" and message.said.strip():
            how = _ends(message.said, answer)
            if how is not None:
                out.update((position, Settled(how, message.position)) for position in asked)
                asked = []
            if only_cancels(message.said) and how is None:
                continue  # it asks for nothing of its own: what was asked before is still what is waited for
            asked = [message.position] if answered or how is not None else [*asked, message.position]
            answer, answered = "", False
    return out


def _ends(said: str, answer: str) -> How | None:
    opening = re.split(r"(?<=[.!?。！？])\s|\n", said.strip()[: 4 * FIRST_CHARS], maxsplit=1)[0][:FIRST_CHARS]
    if REPLACES.match(opening):
        return "replaced"
    if answer.rstrip().endswith(("?", "？")) or not CLAIMS.search(answer):
        return None  # nothing was reported that could be confirmed
    return "confirmed" if CONFIRMS.match(opening) and not OBJECTS.search(opening) else None


# --- what must not read as pending ---------------------------------------------------------------------------

_CHECKED = re.compile(r"[ \t]*(?:[-*][ \t]+|\d{1,3}[.)][ \t]+)?\[[xX✓]\][ \t]*(.{3,200})")
_FIGURE = re.compile(r"\w{0,20}\d\w{0,20}")
SAME_SHARE = 0.8
_TAKEN_BACK = re.compile(
    r"\b(?:please|cancel(?:led|ed|s)?|abort|forget|about|drop|skip|never ?mind|no longer need(?:ed)?|stop|"
    r"working|doing|abandon(?:ed)?|actually)\b|取消|不用了|中止|취소",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done or is over, for comparison: its telling words, and its words with figures (step 7, W2)."""

    told: frozenset[str]
    figures: frozenset[str]

    def is_in(self, other: Task) -> bool:
        """True when ``other`` holds nearly all words of this one, and no other figures."""
        figures = not self.figures or not other.figures or self.figures <= other.figures
        return len(self.told) >= 2 and figures and share(list(self.told), other.told) >= SAME_SHARE


def task(text: str) -> Task:
    bare = untagged(text)
    return Task(frozenset(words(bare)), frozenset(_FIGURE.findall(bare.casefold())))


def taken_back(sentence: str) -> Task:
    """What ``sentence`` cancels, up to its first comma: not why, nor what to do instead."""
    parts = re.split(r"[,;:.!?—。，；]|\b(?:because|since|we|i|as|and)\b", sentence.strip())
    return task(_TAKEN_BACK.sub(" ", parts[0]))


def over(messages: Sequence[Material], required: Sequence[Segment]) -> list[Task]:
    """What is cancelled, ticked off, confirmed or replaced, and was not asked for again."""
    out: list[tuple[int, Task]] = []
    for segment in required:
        told = untagged(segment.text).removeprefix("cancelled: ")
        if segment.kind == "cancelled" or (segment.section == "decisions" and CANCELS.search(told)):
            out.append((segment.position or 0, taken_back(told)))
    requests = {s.position: s for s in required if s.kind == "request" and s.position is not None}
    ends = settled(messages)
    out += [(end.by, task(requests[position].text)) for position, end in ends.items() if position in requests]
    later = [(m.position, task(m.said)) for m in messages if m.role == "user" and m.said]
    again = [each for at, each in out if any(place > at and each.is_in(said) for place, said in later)]
    return [each for _, each in out if each not in again] + _ticked(messages)


def _ticked(messages: Sequence[Material]) -> list[Task]:
    lines = (line for m in messages if m.role == "assistant" and "]" in m.said for line in m.said.split("\n"))
    return [task(found.group(1)) for line in lines if (found := _CHECKED.match(line))]


def is_over(item: str, ended: Sequence[Task]) -> bool:
    """True when ``item``, a line under Pending, is one of those: one holds nearly all of the other's words."""
    if CANCELS.search(item):
        return False  # it says itself that nobody waits for it
    waits = task(item.removeprefix(OPEN_THEN))
    return any(each.is_in(waits) or waits.is_in(each) for each in ended)
