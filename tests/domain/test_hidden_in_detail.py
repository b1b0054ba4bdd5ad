"""What nobody sees, character by character: the first and the last of every kind, and their neighbours (D4)."""

from __future__ import annotations

import pytest

from minutebook.domain.checks.hidden import find_hidden

TAG, SELECTOR, JOINER = "a tag character", "a stray variation selector", "a joiner without a use"
FILLER, DIRECTION = "an invisible filler", "a text direction control"
INVISIBLE, PRIVATE = "an invisible character", "a private or undefined character"

KINDS = [
    (0x00AD, 0x00AD, INVISIBLE),
    (0x034F, 0x034F, FILLER),
    (0x061C, 0x061C, DIRECTION),
    (0x115F, 0x1160, FILLER),
    (0x17B4, 0x17B5, FILLER),
    (0x180B, 0x180F, SELECTOR),
    (0x200B, 0x200B, INVISIBLE),
    (0x200C, 0x200D, JOINER),
    (0x200E, 0x200F, DIRECTION),
    (0x202A, 0x202E, DIRECTION),
    (0x2060, 0x2064, INVISIBLE),
    (0x2066, 0x206F, DIRECTION),
    (0x2800, 0x2800, FILLER),
    (0x3164, 0x3164, FILLER),
    (0xE000, 0xF8FF, PRIVATE),
    (0xFDD0, 0xFDEF, PRIVATE),
    (0xFE00, 0xFE0F, SELECTOR),
    (0xFEFF, 0xFEFF, INVISIBLE),
    (0xFFA0, 0xFFA0, FILLER),
    (0xFFF9, 0xFFFB, INVISIBLE),
    (0xFFFC, 0xFFFC, FILLER),
    (0xFFFE, 0xFFFF, PRIVATE),
    (0x1D173, 0x1D17A, INVISIBLE),
    (0x1FFFE, 0x1FFFF, PRIVATE),
    (0x6FFFE, 0x6FFFF, PRIVATE),
    (0xDFFFE, 0xDFFFF, PRIVATE),
    (0xE0000, 0xE007F, TAG),
    (0xE0100, 0xE01EF, SELECTOR),
    (0xEFFFE, 0x10FFFF, PRIVATE),
]
SEEN = [0x0600, 0x0601, 0x0602, 0x0603, 0x0604, 0x0605, 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD]
FLAGS = [
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
]


def kind(text: str) -> str | None:
    found = find_hidden(text)
    return found[0].message.partition(" (")[0] if found else None


@pytest.mark.parametrize(("first", "last", "expected"), KINDS)
def test_every_kind_of_hidden_character_begins_and_ends_where_it_does(first: int, last: int, expected: str) -> None:
    """Given a letter, the character and a letter, then each character of the kind is told and named."""
    for code in {first, first + 1, (first + last) // 2, last - 1, last} & set(range(first, last + 1)):
        (found,) = find_hidden(f"xy{chr(code)}z")
        assert (found.code, found.span) == ("hidden_character", (2, 3))
        assert found.message == f"{expected} (U+{code:04X}) at character 3; remove it"
    for code in {first - 1, min(last + 1, 0x10FFFF)} - set(range(first, last + 1)):
        other = next((said for low, high, said in KINDS if low <= code <= high), None)
        assert kind(f"a{chr(code)}b") == other, f"{code:04X}"


@pytest.mark.parametrize("code", SEEN)
def test_a_sign_that_encloses_digits_is_seen(code: int) -> None:
    assert find_hidden(f"a{chr(code)}b") == ()


@pytest.mark.parametrize("char", ["\x80", "\x9f", "\u00a0", "\u00ac", "\u00ae", "\ufffd", "\u00e9", "\u3042"])
def test_what_is_seen_or_another_checks_matter_passes(char: str) -> None:
    assert find_hidden(f"a{char}b") == ()


def test_each_kind_is_told_once_and_at_its_first_place() -> None:
    """Given a flood of two kinds, then there are two findings, each at the first of its kind."""
    found = find_hidden("ab\u200bc\u200b\u2060\u202e\u200b\u202e")
    assert [(each.message, each.span) for each in found] == [
        ("an invisible character (U+200B) at character 3; remove it", (2, 3)),
        ("a text direction control (U+202E) at character 7; remove it", (6, 7)),
    ]


# --- flags


@pytest.mark.parametrize("flag", FLAGS)
def test_the_flag_of_a_region_passes_and_what_follows_is_read(flag: str) -> None:
    assert find_hidden(flag) == ()
    assert find_hidden(f"We play in {flag}{flag} this year.") == ()
    (found,) = find_hidden(f"We play in {flag}\u200b this year.")
    assert found.span == (11 + len(flag), 12 + len(flag))


@pytest.mark.parametrize(
    "text",
    [
        FLAGS[0][:-1],  # nothing ends it
        FLAGS[0][0] + FLAGS[0][2:],
        FLAGS[0][:3] + FLAGS[0][2:],
        "\U0001f3f4\U000e007f",
        FLAGS[0][1:],  # no flag before it
        FLAGS[0].replace(chr(0xE0000 + ord("e")), chr(0xE0000 + ord("f"))),
        "\U0001f3f3" + FLAGS[0][1:],
    ],
)
def test_any_other_word_of_tags_is_hidden(text: str) -> None:
    assert kind(f"a {text} b") == TAG


def test_a_flag_alone_is_a_flag() -> None:
    assert find_hidden("\U0001f3f4 is black") == ()


# --- joiners


@pytest.mark.parametrize(
    ("low", "high"),
    [(0x0600, 0x0DFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xA840, 0xA8FF), (0xFB50, 0xFDFF), (0xFE70, 0xFEFF)],
)
@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
def test_a_joiner_is_of_use_after_a_letter_of_a_script_that_joins(low: int, high: int, joiner: str) -> None:
    for code in (low, low + 1, high - 1, high):
        assert JOINER not in {found.message.partition(" (")[0] for found in find_hidden(f"a{chr(code)}{joiner}b")}
    for code in (low - 1, high + 1):
        assert JOINER in {found.message.partition(" (")[0] for found in find_hidden(f"a{chr(code)}{joiner}b")}


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
def test_a_joiner_at_an_end_joins_nothing(joiner: str) -> None:
    assert kind(f"{joiner}\u0628\u0628") == JOINER
    assert kind(f"\u0628\u0628{joiner}") == JOINER
    assert kind(f"\u0628{joiner}\u0628") is None
    assert kind(f"b\u0628{joiner}\u0628") is None


@pytest.mark.parametrize(
    ("code", "joins"),
    [
        (0x218F, False),
        (0x2190, True),
        (0x2191, True),
        (0x2BFE, True),
        (0x2BFF, True),
        (0x2C00, False),
        (0x1EFFF, False),
        (0x1F000, True),
        (0x1F525, True),
        (0x1FAFF, True),
        (0x1FB00, False),
        (0xFE0E, False),
        (0xFE0F, True),
        (0xFE10, False),
        (0x61, False),
    ],
)
def test_only_pictures_are_joined_into_one(code: int, joins: bool) -> None:
    """Given a joiner between a picture and a character on either side, then it is of use where both are pictures."""
    for text in (f"\u2764{chr(code)}\u200d\U0001f525", f"\u2764\u200d{chr(code)}"):
        assert (JOINER not in {found.message.partition(" (")[0] for found in find_hidden(text)}) == joins


def test_what_keeps_letters_apart_has_no_use_between_pictures() -> None:
    assert kind("\U0001f468\u200d\U0001f469") is None
    assert kind("\U0001f468\u200c\U0001f469") == JOINER


# --- selectors


@pytest.mark.parametrize(
    ("text", "of_use"),
    [
        *((f"{base}{selector}", True) for base in "#*0123456789©®‼⁉™ℹ☀♥❤↔" for selector in "\ufe0e\ufe0f"),
        *((f"{base}{selector}", True) for base in "˄!" for selector in "\ufe0e\ufe0f"),  # category Sk and Po
        *((f"{base}{selector}", False) for base in "a é葛\u0660(" for selector in "\ufe0e\ufe0f"),
        *((f"{base}{selector}", True) for base in "葛≨☀\u0660\u00a6\u00ac" for selector in "\ufe00\ufe01\ufe0d"),
        *((f"{base}{selector}", False) for base in "a<~|+0é!(" for selector in "\ufe00\ufe01\ufe0d"),
        *((f"{base}{selector}", True) for base in "葛ね" for selector in "\U000e0100\U000e0101\U000e01ef"),
        *((f"{base}{selector}", False) for base in "aﾀ☀א≨0" for selector in "\U000e0100\U000e01ef" if base != "ﾀ"),
        *(
            (f"{base}{selector}", True)
            for base in "\u1800\u1801\u180a\u1810\u1820\u18ae\u18af"
            for selector in "\u180b\u180e\u180f"
        ),
        *((f"{base}{selector}", False) for base in "a\u17ff\u18b0☀葛" for selector in "\u180b\u180d\u180f"),
    ],
)
def test_a_selector_is_of_use_right_after_what_it_selects(text: str, of_use: bool) -> None:
    assert (SELECTOR not in {found.message.partition(" (")[0] for found in find_hidden(f"ab{text}c")}) == of_use


@pytest.mark.parametrize(
    ("selector", "base"), [("\ufe0f", "☀"), ("\ufe00", "≨"), ("\U000e0100", "葛"), ("\u180b", "\u1820")]
)
def test_a_selector_at_the_beginning_selects_nothing(selector: str, base: str) -> None:
    assert kind(f"{selector}ab{base}") == SELECTOR
    assert kind(f"{base}{selector}") is None
    assert kind(f"{base}a{selector}") == SELECTOR
    assert kind(f"{base}{selector}{selector}") == SELECTOR


def test_a_row_of_mongolian_selectors_is_hidden_text() -> None:
    """Given selectors one after the other, which carry two bits each and are seen by nobody, then they are told."""
    assert kind("\u1820" + "\u180b\u180c\u180d\u180f" * 8) == SELECTOR
    for row in ("\u180b\u180b", "\u180b\u180f", "\u180f\u180d", "\u180e\u180b", "\u180e\u180e", "\u180e\u180f"):
        assert kind(f"\u1820{row}\u1820") == SELECTOR
    for row in ("\u180b\u180e", "\u180d\u180e", "\u180f\u180e"):  # a form, and then the vowel set apart
        assert kind(f"\u1828{row}\u1820") is None


def test_a_joiner_at_the_end_of_a_long_text_joins_nothing() -> None:
    assert kind("ab " * 100 + "\u0628\u200c") == JOINER
