"""Which claims become candidates: borne out by the user's word, by a tool, or by independent runs (D14).

What a model says of its own certainty is nowhere in here. Contradictory claims stand side by side until one of them is
superseded: by a newer one that is borne out and no less trusted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..checks.likeness import contradicts, is_near_duplicate
from ..message import TRUST_ORDER, Trust
from ..operations import Line
from ..words import words
from .signals import speaks_of_self

Ground: TypeAlias = Literal["user", "tool", "repeated"]
FORGET_SHARE = 0.8
"""Share of the telling words of what the user wants forgotten that an entry must hold to be the one that is meant."""
LEAST_FOR_REPEATED = 4
"""Telling words of a claim that two runs can be said to have made alike: fewer are said by chance."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A claim as the catalogue has it; ``root`` names the conversation that its session began as, forks included.

    ``sound`` is false when a workspace file that a tool looked at is not what it was then.
    """

    claim: str
    packet: str
    kind: str
    basis: str
    trust: Trust
    text: str
    position: int
    run: str
    root: str
    open: bool = True
    sound: bool = True


@dataclass(frozen=True, slots=True)
class Promote:
    """The claim becomes a candidate, on these grounds; ``supports`` say the same."""

    claim: str
    grounds: tuple[Ground, ...]
    supports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forget:
    """The user asked to forget this; ``entry`` is the one that says it, None: none does, and it is only blocked."""

    claim: str
    entry: str | None


@dataclass(frozen=True, slots=True)
class Settle:
    """The claim needs no promotion any more."""

    claim: str
    outcome: Literal["known", "superseded", "unmatched"]
    by: str | None = None


Outcome: TypeAlias = Promote | Forget | Settle


def promotions(
    claims: Sequence[Standing], entries: Sequence[Line], pending: Mapping[str, Collection[str]], limit: int
) -> list[Outcome]:
    """What is due now, in the order in which the claims were read, at most ``limit``; pure.

    ``pending`` are the texts that candidates propose already, by candidate.
    """
    grounds = {claim.claim: _grounds(claim, claims) for claim in claims}
    superseded = _superseded(claims, grounds)
    due: list[Outcome] = []
    taken: list[Standing] = []
    for claim in sorted((one for one in claims if one.open), key=lambda one: one.position):
        if len(due) >= limit:
            break
        if claim.claim in superseded:
            due.append(Settle(claim.claim, "superseded", superseded[claim.claim]))
            continue
        found, supports = grounds[claim.claim]
        if not found:
            continue
        if claim.kind == "forget":
            due.append(_forget(claim, entries))
        elif (known := _known(claim, entries, pending, taken)) is not None:
            due.append(Settle(claim.claim, "known", known))
        else:
            due.append(Promote(claim.claim, found, supports))
            taken.append(claim)
    due += [
        Settle(claim.claim, "superseded", superseded[claim.claim])
        for claim in claims
        if not claim.open and claim.claim in superseded
    ]
    return due[:limit]


def contradictions(claims: Sequence[Standing]) -> dict[str, list[str]]:
    """For each claim those that give the same thing another value; they stand side by side."""
    found: dict[str, list[str]] = {}
    for claim in claims:
        against = [other.claim for other in claims if other.claim != claim.claim and _against(claim, other)]
        if against:
            found[claim.claim] = against
    return found


def candidate_text(kind: str, text: str) -> str:
    """The claim as an entry: the user's words, told as theirs where they speak of themselves."""
    said = text.rstrip()
    return f"In the user's words: {said}" if kind != "summary" and speaks_of_self(said) else said


def _grounds(claim: Standing, claims: Sequence[Standing]) -> tuple[tuple[Ground, ...], tuple[str, ...]]:
    found: list[Ground] = []
    if claim.basis == "user":
        found.append("user")
    if claim.basis == "tool" and claim.sound:
        found.append("tool")
    supports = tuple(
        other.claim
        for other in claims
        if other.root != claim.root and other.kind != "forget" and is_near_duplicate(other.text, claim.text)
    )
    if supports and claim.kind != "forget" and len(words(claim.text)) >= LEAST_FOR_REPEATED:
        found.append("repeated")
    return tuple(found), supports


def _superseded(
    claims: Sequence[Standing], grounds: Mapping[str, tuple[tuple[Ground, ...], tuple[str, ...]]]
) -> dict[str, str]:
    """Claims that a newer one corrects, and which: it is verified, of another run, and no less trusted."""
    found: dict[str, str] = {}
    for newer in sorted(claims, key=lambda one: one.position):
        if not grounds[newer.claim][0]:
            continue
        for older in claims:
            earlier = older.position < newer.position or (
                older.position == newer.position and older.claim != newer.claim and newer.kind == "correction"
            )
            if earlier and _against(older, newer) and _level(newer.trust) <= _level(older.trust):
                found[older.claim] = newer.claim
    return found


def _against(one: Standing, other: Standing) -> bool:
    return "forget" not in (one.kind, other.kind) and contradicts(one.text, other.text)


def _level(trust: Trust) -> int:
    return TRUST_ORDER.index(trust)


def _known(
    claim: Standing, entries: Sequence[Line], pending: Mapping[str, Collection[str]], taken: Sequence[Standing]
) -> str | None:
    """Who says it already: an entry, a candidate on its way, an earlier claim of the same round."""
    for entry in entries:
        if _same(entry.text, claim):
            return entry.id
    for candidate, texts in pending.items():
        if any(_same(text, claim) for text in texts):
            return candidate
    return next((other.claim for other in taken if is_near_duplicate(other.text, claim.text)), None)


def _same(text: str, claim: Standing) -> bool:
    return is_near_duplicate(text, claim.text) or is_near_duplicate(text, candidate_text(claim.kind, claim.text))


def _forget(claim: Standing, entries: Sequence[Line]) -> Outcome:
    """The one entry that holds the words of what is to be forgotten; of several nobody can say which was meant."""
    wanted = words(claim.text)
    if len(wanted) < 2:
        return Settle(claim.claim, "unmatched")
    found = []
    for entry in entries:
        held = set(words(entry.text))
        if sum(word in held for word in wanted) >= FORGET_SHARE * len(wanted):
            found.append(entry.id)
    return Forget(claim.claim, found[0] if found else None) if len(found) < 2 else Settle(claim.claim, "unmatched")
