"""How much of what later turns use again can still be read after a compaction: one measure for bench and tests.

A *fact* is a path, url, identifier or number that stands in the hidden range - said, called with, or in a tool's
output - and that a later turn names again, and a constraint of the user whose words a later turn uses again. What the
messages that stay visible show anyway is no fact: nothing has to be kept for it. A fact is *kept* when it can be read
in the text that stands for the range. The rivals get as many tokens as the summary took, of the same material that a
summariser is given (payloads shortened already, which favours them): its last tokens, and its first lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from minutebook.domain.errors import MinutebookError
from minutebook.domain.extractive import ExtractiveSummarizer
from minutebook.domain.forms import view
from minutebook.domain.ledger import names
from minutebook.domain.message import Message
from minutebook.domain.segments import segments
from minutebook.domain.summary import untagged
from minutebook.domain.summary_checks import validate
from minutebook.domain.summary_request import build, material, required
from minutebook.domain.tokens import count_message, estimate
from minutebook.domain.words import share, words
from minutebook.infrastructure.work.transcripts import Transcript, read_all

HEAD, RECENT = 3, 8
"""What stays visible at a first compaction (C2)."""
CUTS = tuple(part / 20 for part in range(4, 18, 2))
RESULT_CHARS = 20_000
"""Of one tool output, searched for facts."""


@dataclass(frozen=True)
class Measure:
    """One transcript: facts over all cuts, how many each way keeps, and the tokens that they were given."""

    transcript: str
    messages: int
    facts: int
    tokens: int
    extractive: int
    last_tokens: int
    first_lines: int

    def per_thousand(self, kept: int) -> float:
        return 1_000 * kept / self.tokens if self.tokens else 0.0


def transcripts(folder: Path) -> list[tuple[str, list[list[Message]]]]:
    """Every file below ``folder`` that can be imported, by name, with its conversations; of equal files the first."""
    found: list[tuple[str, list[list[Message]]]] = []
    seen: set[str] = set()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        try:
            imported = read_all(path)
        except MinutebookError:
            continue
        if imported[0].digest not in seen:
            seen.add(imported[0].digest)
            found.append((path.relative_to(folder).as_posix(), [_messages(each) for each in imported]))
    return found


def _messages(transcript: Transcript) -> list[Message]:
    out = []
    for number, item in enumerate(transcript.messages, 1):
        seen_as = view(item.form, item.source)
        tokens = count_message(seen_as.parts)
        out.append(Message(number * 2, item.id, seen_as, item.form, item.source, tokens, item.run, item.trust))
    return out


def measure(name: str, conversations: Sequence[Sequence[Message]], cuts: Sequence[float] = CUTS) -> Measure:
    """Over all cuts of all conversations of one file."""
    sums = [0, 0, 0, 0, 0]
    for messages in conversations:
        for cut in sorted({int(len(messages) * part) for part in cuts}):
            if cut - HEAD >= 3 and len(messages) - cut > RECENT:
                sums = [total + part for total, part in zip(sums, _at(messages, cut), strict=True)]
    return Measure(name, sum(len(messages) for messages in conversations), *sums)


def _at(messages: Sequence[Message], cut: int) -> tuple[int, int, int, int, int]:
    hidden, visible = messages[HEAD:cut], [*messages[:HEAD], *messages[cut : cut + RECENT]]
    facts, constraints = facts_of(hidden, visible, messages[cut + RECENT :])
    if not facts and not constraints:
        return (0, 0, 0, 0, 0)
    summary = summarised(hidden)
    tokens = estimate(summary)
    lines = [first for message in hidden if (first := material(message).text.strip().split("\n")[0][:200])]
    whole = "\n".join(material(message).text for message in hidden)
    rivals = (summary, _last(whole, tokens), _first("\n".join(lines), tokens))
    kept = [kept_in(text, facts, constraints) for text in rivals]
    return (len(facts) + len(constraints), tokens, kept[0], kept[1], kept[2])


def summarised(hidden: Sequence[Message]) -> str:
    """The extractive summary of ``hidden`` under a bound of an eighth of it: a valid one, or an error."""
    size = sum(message.tokens for message in hidden)
    bound = min(4_000, max(300, size // 8))
    must, unlisted = required(hidden, None, bound)
    request = build(
        hidden, chunk=hidden, earlier=None, must=must, unlisted=unlisted, tokens_max=bound, tokens_replaced=10**6
    )
    text = ExtractiveSummarizer().summarize(request).text
    assert validate(text, request) == ()
    return text


def facts_of(
    hidden: Sequence[Message], visible: Sequence[Message], later: Sequence[Message]
) -> tuple[set[str], list[list[str]]]:
    """Names, and constraints as their telling words, that only the hidden range shows and later turns use again."""
    shown, again = named(visible, results=True), named(later, results=False)
    facts = {name for name in named(hidden, results=True) if name in again and name not in shown}
    spoken = [frozenset(words(untagged(m.text))) for m in later if m.role in ("user", "assistant")]
    standing = [frozenset(words(m.text)) for m in visible]
    constraints = []
    for segment in segments(hidden):
        wanted = words(segment.text)
        if segment.kind == "constraint" and len(wanted) >= 3:
            used = any(share(wanted, said) >= 0.6 for said in spoken)
            if used and not any(share(wanted, said) >= 0.6 for said in standing):
                constraints.append(wanted)
    return facts, constraints


def named(messages: Sequence[Message], *, results: bool) -> set[str]:
    """Names in what was said and called with, and, where asked for, in tool outputs; short numbers tell nothing."""
    texts = [m.text for m in messages] + [argument for m in messages for _, argument in material(m).calls]
    if results:
        texts += [result.text[:RESULT_CHARS] for m in messages for result in m.results]
    return {name for text in texts for name, kind in names(text) if kind != "number" or len(name) > 3}


def kept_in(text: str, facts: set[str], constraints: Sequence[list[str]]) -> int:
    """How many can be read in ``text``: a name as it is, a constraint by most of its words in one line."""
    lines = [frozenset(words(untagged(line))) for line in text.split("\n")]
    told = sum(any(share(wanted, line) >= 0.6 for line in lines) for wanted in constraints)
    return sum(fact in text for fact in facts) + told


def _first(text: str, tokens: int) -> str:
    length = len(text)
    while estimate(text[:length]) > tokens:
        length = length * 19 // 20
    return text[:length]


def _last(text: str, tokens: int) -> str:
    length = len(text)
    while length and estimate(text[-length:]) > tokens:
        length = length * 19 // 20
    return text[-length:] if length else ""
