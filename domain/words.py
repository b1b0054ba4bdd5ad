"""Which words of a text are telling, and how much of them another text carries: the measure of coverage (C5).

Deliberately simple, so that a refusal can be understood: telling words are compared by their first letters
without the usual endings (so that *builds* meets *building*), Chinese, Japanese and Korean by pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_STEM_CHARS = 6
_ENDINGS = ("ings", "ing", "ed", "es", "s")

_COMMON_WORDS = """
    a about above after again all also am an and any are as at back be because been before being both but by can
    cannot could did do does doing done down each else even few for from further get give go going good got had has
    have having he her here hers him his how however i if in into is it its itself just keep know let like look lot
    made make makes many may maybe me might mine more most much my need needs new no nor not now of off ok okay on
    once one only or other our ours out over own please put really right said same say see she should show since so
    some something still such sure take tell than thank thanks that the their them then there these they thing things
    think this those though through to too two try under until up us use used using very want wants was way we well
    were what when where which while who why will with would yes yet you your yours
    ill ive lets thats theres heres youre youll youve weve theyre isnt arent wasnt werent didnt havent hasnt hadnt
    couldnt wouldnt shouldnt
    must never always dont don doesnt doesn cant won wont shall prefer avoid without ensure
"""
_COMMON = frozenset(_COMMON_WORDS.split())

_NEGATION_WORDS = """
    no not never none nothing without avoid avoids dont don doesn doesnt cannot cant won wont isn aren neither nor
    forbid forbidden forbids prohibit prohibited refuse except instead unless stop skip
    nicht nie niemals kein keine ohne ne pas jamais sans aucun nunca sin ningun não nunca sem никогда не нельзя без
"""
_NEGATIONS = frozenset(_NEGATION_WORDS.split())
_CJK_NEGATIONS = ("不", "别", "勿", "禁", "没", "無", "无", "ない", "ません", "禁止", "마", "않", "금지")


def folded(text: str) -> str:
    """``text`` in one spelling: compatibility form, case folded, apostrophes dropped."""
    return unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")


def words(text: str) -> list[str]:
    """The telling words of ``text`` in order, without repetition, each cut to its stem."""
    out: dict[str, None] = {}
    for match in _WORD.finditer(folded(text)):
        for piece in _pieces(match.group().strip("_")):
            out.setdefault(piece)
    return list(out)


def _pieces(word: str) -> list[str]:
    if _CJK.search(word) is None:
        short = len(word) < 3 and not (word.isdigit() and len(word) > 1)
        return [] if short or word in _COMMON else [_stem(word)]
    pieces: list[str] = []
    for run in _CJK.findall(word):
        pieces.extend(run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else pieces.append(run)
    for rest in _CJK.split(word):
        pieces.extend(_pieces(rest) if rest else [])
    return pieces


def _stem(word: str) -> str:
    """The beginning of ``word`` without a usual English ending: build for builds and building, us for use and used."""
    if word.isascii() and word.isalpha():
        ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 3), "")
        word = word.removesuffix(ending)
        if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
            word = word[:-1]  # dropped, drop
        word = word.removesuffix("e") if len(word) > 3 else word
    return word[:_STEM_CHARS]


def negated(text: str) -> bool:
    """True when ``text`` denies or forbids something."""
    low = folded(text)
    return any(word in _NEGATIONS for word in _WORD.findall(low)) or any(mark in low for mark in _CJK_NEGATIONS)


def share(wanted: list[str], carried: frozenset[str] | set[str]) -> float:
    """Which part (0 to 1) of the ``wanted`` words is ``carried``; 1 when nothing is wanted."""
    return sum(word in carried for word in wanted) / len(wanted) if wanted else 1.0
