"""What in a stretch of history a summary must not lose: requests, constraints, decisions, failures (C5).

Found by rule, in linear time, so that the same history always demands the same. The rules err on the side of
the user: what looks like a standing order of theirs is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .message import Message, ToolCall, ToolResult
from .placeholder import clip_middle, important_arguments, one_line
from .summary import Segment
from .words import words

SENTENCE_CHARS_MAX = 320
REQUEST_CHARS_MAX = 240
REQUEST_WHOLE_CHARS_MAX = 2_000
"""Of a request this much is compared with a summary, however short it is listed."""
FAILURE_CHARS_MAX = 160
CANCEL_WORDS_MAX = 8
FAILED = " failed: "
"""Stands in the text of a failure between the call and what went wrong."""
TEXT_CHARS_MAX = 60_000
"""Longer user text is searched at its beginning and end only."""

_CONSTRAINT = re.compile(
    r"\b(?:never|always|must(?:n.t)?|(?:i|we) (?:do not|don.?t) want|"
    r"(?<!\bwe )(?<!\bi )(?<!\bthey )(?<!\byou )(?:do not|don.?t)|"
    r"no longer|you can(?:not|.?t)|prefer|"
    r"only (?:ever|use|if|when|after|with|the)|under no circumstances|at all times|from now on|make sure|be sure|"
    r"ensure|require[ds]?|mandatory|forbidden|avoid|without (?:\w+ing|any|my)|instead of|rather than|"
    r"at most|at least|no more than|no (?:new|other|more|external|third)|important|remember|shall|should(?: not|n.?t)|"
    r"keep (?:it|the|all|in mind)|stick (?:to|with)|leave (?:\w+ )?(?:alone|as is|untouched)|"
    r"niemals|immer|nicht|bitte kein\w*|jamais|toujours|nunca|siempre|никогда|всегда|нельзя|обязательно)\b"
    r"|不要|不得|不能|不可|必须|務必|务必|禁止|请勿|別|别|只能|一定要|しないで|必ず|ないで|반드시|하지 ?마|금지",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:i|we)(?:.(?:ll|m|ve|d)| will| am| have| do)?(?: (?:still|just|also|really|definitely|simply))? "
    r"(?:don.?t|do not|can(?:not|.?t)|make sure|be sure|remember)\b(?! want)",
    re.IGNORECASE,
)
"""What users say of themselves is no order: I'll make sure to ..., I still don't have ..."""
_PLEASANT = re.compile(
    r"(?:(?:ok(?:ay)?|alright|well|oh|got it|sure)[,. ]+)?(?:i (?:understand|see)\b|thank(?:s| you)\b|no worries|"
    r"i(?:.ll| will) (?:try|make sure|be sure|get back|find|look for|let you know|wait)\b|i apologi[sz]e\b|"
    r"(?:i.?m )?sorry\b|i.?m not (?:entirely |really |quite )?sure)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"[?？]|\b(?:please|want|need|(?:can|could|would|will) (?:you|we)|let.?s|but (?!i\b))\b", re.IGNORECASE
)
"""What makes a polite sentence more than one."""
_APPROVAL = re.compile(
    r"\b(?:approved?|agreed|confirmed|go with|let.?s use|use exactly|exactly|call it|the title is|i choose|"
    r"we chose|sounds good|decided|decision|settled on|einverstanden|d.accord|de acuerdo)\b|同意|决定|確定|确定|批准",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“«「『`]([^\"”»」』`\n]{3,200})[\"”»」』`]")
_DECISION = re.compile(
    r"\b(?:decided (?:to|on|against|that)|decision(?: is|:| was)|we(?:.ll| will) go with|settled on|"
    r"agreed (?:to|on|that)|chose \w+|the (?:best|right) (?:approach|fix|option) is|root cause(?: is| was|:))"
    r"|决定|結論|结论",
    re.IGNORECASE,
)
CANCELS = re.compile(
    r"\b(?:cancel(?:led|ed|s)?|abort|forget (?:about|it|the)|drop (?:the|that|this)|skip (?:the|that|this|it)|"
    r"never ?mind|no longer need(?:ed)?|stop (?:working|doing)|abandon(?:ed)?)\b|取消|不用了|中止|취소",
    re.IGNORECASE,
)
_FAILED_TEXT = re.compile(
    r"(?:exit(?:ed with)? (?:code|status):? ?[1-9]|Traceback \(most recent|^(?:\w{1,40}\.){0,4}\w{0,40}Error\b|"
    r"^error(?:\[\w+\])?:|^fatal:|command not found|FAILED|No such file)",
    re.MULTILINE,
)
_ERROR_LINE = re.compile(
    r"error|exception|fail|fatal|denied|not found|no such|refused|invalid|cannot|timed? ?out|exit", re.IGNORECASE
)
_BARE_FAILURE = frozenset(words("exit code exited status command error failed failure output"))
_NOT_A_REQUEST = re.compile(
    r"\s*(?:\[Request interrupted|<(?:command|local-command|system|bash)-|Caveat: The messages below|"
    r"EXECUTION RESULT of \[|OBSERVATION:\s)"
)
"""What a program wrote in the user's place: its marks, and tool output where a model has no tool role."""
_PROGRAM_BLOCKS = (
    ("<system-reminder>", "</system-reminder>"),
    ("<ide_opened_file>", "</ide_opened_file>"),
    ("<ide_selection>", "</ide_selection>"),
    ("--- START OF EXAMPLE ---", "--- END OF EXAMPLE ---"),
)
_REJECTED = re.compile(
    r"user (?:doesn.t want to proceed|(?:has )?(?:rejected|denied|declined|cancell?ed|interrupted))|"
    r"(?:rejected|denied|declined|cancell?ed|interrupted|aborted) by (?:the )?user",
    re.IGNORECASE,
)
REJECTED = "the user declined, rejected or interrupted it"
"""How a call is told that was not let through: no tool failed there, and each program has its own phrase for it."""
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])(?<!\be\.g\.)(?<!\bi\.e\.)[ \t]+|(?<=[。！？])|\n")
_LIST_MARK = re.compile(r"[ \t>]*(?:(?:[-*•+]|\d{1,3}[.)])[ \t]+)?")
_CODE_LINE = ("{", "}", "[{", "<", "|", "$ ", "//", "/*", "#!", "import ", "const ", "at ", "+ ", "diff ", '"')


def is_users(message: Message) -> bool:
    """True for words of the user or operator themselves; tool results in a user message are not theirs."""
    return message.role == "user" and message.trust in ("user", "operator") and bool(message.text.strip())


def user_text(message: Message) -> str:
    """What the user wrote in ``message``, without what their program put around it; '' when nothing is theirs."""
    if not is_users(message):
        return ""
    text = message.text
    if len(text) > TEXT_CHARS_MAX:
        text = f"{text[: TEXT_CHARS_MAX // 2]}\n{text[-TEXT_CHARS_MAX // 2 :]}"
    for opening, closing in _PROGRAM_BLOCKS:
        text = _without_blocks(text, opening, closing)
    return "" if _NOT_A_REQUEST.match(text) else text.strip()


def _without_blocks(text: str, opening: str, closing: str) -> str:
    kept: list[str] = []
    rest = text
    while opening in rest:
        before, _, after = rest.partition(opening)
        kept.append(before)
        _, closed, rest = after.partition(closing)
        if not closed:
            rest = after  # an opening alone is the user's own text
    return "".join(kept) + rest


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of ``text``, on one line each, list marks dropped."""
    for piece in _SENTENCE_END.split(text):
        piece = " ".join(_LIST_MARK.sub("", piece, count=1).split())
        if piece:
            yield piece


def prose(text: str) -> str:
    """``text`` without its fenced code."""
    pieces = text.split("```")
    return text if len(pieces) < 3 else "\n".join(pieces[::2])


def segments(messages: Sequence[Message]) -> tuple[Segment, ...]:
    """All segments of ``messages`` in order, without repetition; the caller bounds them."""
    found: dict[tuple[str, str], Segment] = {}
    for message in messages:
        for segment in _of_message(message):
            found.setdefault((segment.kind, " ".join(words(segment.text)) or segment.text), segment)
    for segment in failures(messages):
        found.setdefault((segment.kind, segment.text), segment)
    return tuple(sorted(found.values(), key=lambda segment: segment.position or 0))


def _of_message(message: Message) -> Iterator[Segment]:
    if text := user_text(message):
        yield from _of_user(message, text)
    elif message.role == "assistant":
        for sentence in sentences(prose(message.text[:TEXT_CHARS_MAX])):
            if 20 <= len(sentence) <= SENTENCE_CHARS_MAX and _DECISION.search(sentence):
                yield Segment("decision", sentence, "decisions", message.position, message.id)


def _of_user(message: Message, text: str) -> Iterator[Segment]:
    asked = "\n".join(line for line in prose(text).split("\n") if not line.lstrip().startswith(_CODE_LINE))
    whole = " ".join((asked.strip() or text).split())
    request = clip_middle(whole, REQUEST_CHARS_MAX)
    asks = not all(_is_pleasant(sentence) for sentence in sentences(whole)) and not only_cancels(whole)
    if len(words(request)) >= 2 and asks:
        more = clip_middle(whole, REQUEST_WHOLE_CHARS_MAX) if request != whole else ""
        yield Segment("request", request, "goal", message.position, message.id, more)
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith(_CODE_LINE) and '":' not in line:
            for sentence in sentences(line):
                yield from _of_sentence(message, sentence)


def only_cancels(text: str) -> bool:
    """True for a short message that takes something back and asks for nothing: it is told as a decision."""
    return len(words(text)) <= CANCEL_WORDS_MAX and all(CANCELS.search(sentence) for sentence in sentences(text))


def _is_pleasant(sentence: str) -> bool:
    """True for thanks, regrets and promises of the user: nothing is asked for, and nobody retells them."""
    return _PLEASANT.match(sentence) is not None and _ASKS.search(sentence) is None


def _of_sentence(message: Message, sentence: str) -> Iterator[Segment]:
    told = len(words(sentence))
    if told < 1 or len(sentence) < 6 or (told < 3 and sentence.endswith(":")):
        return  # a heading binds nobody
    quoted = _APPROVAL.search(sentence) and _QUOTED.search(sentence)
    text = one_line(sentence, SENTENCE_CHARS_MAX)
    if CANCELS.search(sentence):
        yield Segment("cancelled", text, "decisions", message.position, message.id)
    elif quoted or (_CONSTRAINT.search(_OWN.sub(" ", sentence)) and not sentence.endswith(("?", "？"))):
        yield Segment("constraint", text, "constraints", message.position, message.id)
    elif _APPROVAL.search(sentence) and len(words(sentence)) >= 2:
        yield Segment("decision", text, "decisions", message.position, message.id)


def failures(messages: Sequence[Message]) -> Iterator[Segment]:
    """Tool calls that failed and whose like (same tool, same key argument) did not succeed later, in order."""
    calls: dict[str, ToolCall] = {}
    open_failures: dict[str, Segment] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                calls[part.id] = part
            elif isinstance(part, ToolResult):
                call = calls.get(part.call_id)
                name = part.name or (call.name if call else "") or "tool"
                about = important_arguments(call, 90) if call else ""
                key = f"{name} {about}" if about else f"{name} {part.call_id}"
                if failed(part):
                    if not _tells(part.text):
                        continue  # "exit code 1" alone: a search that found nothing, most of the time
                    why = REJECTED if _REJECTED.search(part.text[:400]) else error_line(part.text)
                    text = one_line(f"{name} ({about}){FAILED}{why}", FAILURE_CHARS_MAX)
                    open_failures[key] = Segment("failure", text, "state", message.position, message.id)
                else:
                    open_failures.pop(key, None)
    yield from open_failures.values()


def failed(result: ToolResult) -> bool:
    """True when a result says that its call failed: by its flag, or by its first and last words."""
    return result.is_error or (
        len(result.text) < 20_000 and _FAILED_TEXT.search(f"{result.text[:200]}\n{result.text[-200:]}") is not None
    )


def _tells(text: str) -> bool:
    return _says(error_line(text))


def _says(line: str) -> bool:
    return any(word not in _BARE_FAILURE and not word.isdigit() for word in words(line))


def error_line(text: str) -> str:
    """The line of an output that tells best what went wrong: a reason before a bare exit status."""
    lines = [line.strip() for line in f"{text[:2_000]}\n{text[-2_000:]}".split("\n") if line.strip()]
    telling = [line for line in lines if _ERROR_LINE.search(line) and len(line) < 400]
    found = telling or lines or ["no output"]
    return one_line(next((line for line in found if _says(line)), found[0]), 110)
