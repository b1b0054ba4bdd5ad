"""What a meaning rule is and how a set of rules reads one view of a text.

Rules are patterns over folded text, with bounded gaps only, so that reading stays linear. A rule looks for
an order with an effect, not for a word: most trigger words occur in honest notes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from .fold import folded_source
from .needles import Sieve, sieve

GAP = r"[\W_]{1,4}"
"""Between two words of a phrase: spaces, but also the underscores, dots or dashes of a disguise."""
MAYBE = r"[\W_]{0,4}"
"""The same, or nothing."""
NEAR = r"(?:[^.!?\n]|\.(?=\w)){0,60}"
"""Anything inside the same sentence, not far away; a full stop inside a name (of a host, a file) ends no sentence."""
FAR = r"[^!?\n]{0,140}"
"""Anything nearby, also past a full stop (which URLs and file names hold)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern with the code and the words for a person; ``guarded`` rules do not count after a negation."""

    code: str
    says: str
    source: str
    guarded: bool = True
    accept: Callable[[re.Match[str]], bool] | None = None
    loud: bool = True
    """Also looked for in disguised readings; rules that rest on single letters or signs are not."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled at the first text that has its words: a start that checks no text pays nothing."""
        return self.sieve.pattern

    @property
    def sieve(self) -> Sieve:
        return _sieve(self.source)


@cache
def _sieve(source: str) -> Sieve:
    return sieve(folded_source(_SPACE.sub(_gap, within_sentence(source))))


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that matched, with the stretch of the view."""

    rule: Rule
    start: int
    stop: int


def rule(
    code: str,
    says: str,
    source: str,
    *,
    guarded: bool = True,
    accept: Callable[[re.Match[str]], bool] | None = None,
    loud: bool = True,
) -> Rule:
    """A rule from a pattern source; a space in it stands for a gap between words, ``" ?"`` for a gap or none."""
    return Rule(code, says, source, guarded, accept, loud)


def not_after(source: str, chars: int) -> Callable[[re.Match[str]], bool]:
    """A condition for ``accept``: the pattern does not stand in the ``chars`` characters before the match."""
    return lambda match: re.search(source, match.string[max(0, match.start() - chars) : match.start()]) is None


def within_sentence(source: str) -> str:
    """Lets ``[^.!?\\n]{0,n}`` run over a full stop inside a name, as NEAR does."""
    return source.replace(r"[^.!?\n]{0,", r"(?:[^.!?\n]|\.(?=\w)){0,")


_SPACE = re.compile(r"\[\^?\\?.[^\]]{0,200}\]| \??")


def _gap(match: re.Match[str]) -> str:
    """A character class stays as it is; a space becomes a gap."""
    return match[0] if match[0][0] == "[" else MAYBE if match[0] == " ?" else GAP


_NEGATION = re.compile(
    r"(?:\bnever|\bnot|n't|\bcannot|\bavoid|\brefuse\w{0,3} to|\bforbid\w{0,5}|\bmay no|\bnobody|\bno one"
    r"|\bimportance of|\bprotects? against|\bprevents?|\bblocks?|\brejects?)"
    r"(?: (?!hesitat|fail|worry|wait|just|only|simply|matter|forget)[\w'-]{1,20}){0,2} ?$"
)


def negated(text: str, start: int) -> bool:
    """True when the words directly before say that it is not to be done: a protective rule, not an attack."""
    return _NEGATION.search(text, max(0, start - 60), start) is not None


def read(text: str, rules: Iterable[Rule], *, disguised: bool = False) -> Iterator[Hit]:
    """The first counting match of every rule in a folded text."""
    for candidate in rules:
        if disguised and not candidate.loud:
            continue
        for match in candidate.sieve.finditer(text):
            if candidate.guarded and negated(text, match.start()):
                continue
            if candidate.accept is not None and not candidate.accept(match):
                continue
            yield Hit(candidate, match.start(), match.end())
            break
