"""The form of an entry in detail: size, lines, letters that look alike, and the places that findings name (D4)."""

from __future__ import annotations

import pytest

from minutebook.domain.catalogue import Finding
from minutebook.domain.checks import check_document, check_entry, check_passage
from minutebook.domain.checks.homoglyphs import find_homoglyphs
from minutebook.domain.checks.lines import find_controls, find_line_breaks, find_separator, structure, trim
from minutebook.domain.checks.size import find_document_size, find_floods, find_size, measure
from minutebook.domain.limits import MemoryLimits

LETTERS = "ÀÈÌÒÙ"


def said(findings: tuple[Finding, ...]) -> list[tuple[str, str, tuple[int, int] | None]]:
    return [(finding.code, finding.message, finding.span) for finding in findings]


# --- size


def test_an_entry_over_its_limit_says_by_how_much_and_where_it_goes_over() -> None:
    assert measure("x" * 1_234, 1_000) == "the entry has 1,234 characters, at most 1,000 are kept; shorten or split it"
    assert said(find_size("abcd", entry_chars_max=3)) == [
        ("entry_too_long", "the entry has 4 characters, at most 3 are kept; shorten or split it", (3, 4))
    ]
    assert find_size("abc", entry_chars_max=3) == ()
    assert find_size("ab", entry_chars_max=3) == ()


@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u3000"])
def test_an_entry_of_nothing_but_space_is_empty(text: str) -> None:
    assert said(find_size(text, entry_chars_max=1)) == [("entry_empty", "the entry is empty; write one fact", None)]


def test_four_marks_on_a_letter_pass_and_a_fifth_does_not() -> None:
    marks = "\u0301\u0302\u0303\u0308\u0323"
    assert find_floods(f"ab{marks[:4]}c{marks[:4]}") == ()
    assert said(find_floods(f"ab{marks}c")) == [
        ("mark_flood", "more than 4 combining marks on one character; write plain text", (1, 7))
    ]
    assert [finding.span for finding in find_floods(f"abc{marks}d")] == [(2, 8)]
    assert [finding.code for finding in find_floods("a" + "\u20dd" * 5)] == ["mark_flood"]  # marks that enclose


@pytest.mark.parametrize("space", [" ", "\t", "\u00a0", "\u3000"])
def test_sixty_four_spaces_pass_and_one_more_hides_the_rest(space: str) -> None:
    assert find_floods(f"ab{space * 64}c{space * 64}d") == ()
    assert said(find_floods(f"ab{space * 65}c")) == [
        ("hidden_character", "more than 64 spaces in a row push text out of sight; remove them", (2, 67))
    ]


def test_only_spaces_and_tabs_in_a_row_are_a_row_of_spaces() -> None:
    assert find_floods("a" + " \t" * 32 + "b" + " " * 10) == ()
    assert [finding.span for finding in find_floods(f"abc{' ' * 65}d")] == [(3, 68)]
    assert find_floods("\n" * 100 + "x" * 100) == ()
    assert find_floods(f"{' ' * 64}a") == find_floods("\u0301" * 4) == ()
    assert [finding.span for finding in find_floods(" " * 65)] == [(0, 65)]
    assert [finding.code for finding in find_floods("\u0301" * 5)] == ["mark_flood"]
    assert len(find_floods("a" + " \t" * 33 + "b")) == 1


def test_a_document_is_measured_in_entries_characters_and_tokens() -> None:
    """Given a document that is just within each limit, then nothing is said; and one more goes over each."""
    entries = ["abcd", "efgh"]  # "abcd\n§\nefgh\n"
    fine = MemoryLimits(memory_entries_max=2, memory_chars_max=12, memory_tokens_max=12)
    assert find_document_size(entries, fine, len) == ()
    assert find_document_size(entries, fine) == ()
    tight = MemoryLimits(memory_entries_max=1, memory_chars_max=11, memory_tokens_max=11)
    assert said(find_document_size(entries, tight, len)) == [
        ("too_many_entries", "2 entries, at most 1 are kept; remove some first", None),
        (
            "document_too_long",
            "12 characters with delimiters, at most 11 are kept; remove or shorten entries first",
            None,
        ),
        ("document_too_long", "12 tokens with delimiters, at most 11 are kept; remove or shorten entries first", None),
    ]
    assert [finding.code for finding in find_document_size(entries, tight)] == ["too_many_entries", "document_too_long"]


def test_an_empty_document_has_no_delimiters_and_is_not_counted() -> None:
    nothing = MemoryLimits(memory_entries_max=0, memory_chars_max=0, memory_tokens_max=0)
    assert find_document_size([], nothing, lambda _: 1 // 0) == ()
    assert len(find_document_size(["a"], nothing, len)) == 3
    assert len(find_document_size(["a"], nothing)) == 2


def test_thousands_are_set_apart_in_what_is_said_of_a_document() -> None:
    entries = ["x" * 1_000] * 17
    (long, tokens, *repeats) = check_document(entries, MemoryLimits(), len)
    assert long.message.startswith("17,049 characters with delimiters, at most 16,000 are kept")
    assert tokens.message.startswith("17,049 tokens with delimiters, at most 8,000 are kept")
    assert [repeat.code for repeat in repeats] == ["duplicate"] * 16
    assert len(check_document(["ab" * number for number in range(1, 202)])) == 2


def test_a_document_of_two_hundred_entries_is_within_the_limits_that_are_given_by_default() -> None:
    assert check_document([f"Fact number {number}" for number in range(200)]) == ()
    over = check_document([f"Fact number {number}" for number in range(201)])
    assert [finding.code for finding in over] == ["too_many_entries"]


def test_a_repeat_names_both_entries_by_number() -> None:
    found = check_document(["One fact", "another", "one fact.", "Another", "ONE FACT"])
    assert [finding.message for finding in found] == [
        "entry 3 says the same as entry 1; keep one of them",
        "entry 4 says the same as entry 2; keep one of them",
        "entry 5 says the same as entry 1; keep one of them",
    ]


# --- lines

BREAKS = {
    "\n": "line feed",
    "\r": "carriage return",
    "\x0b": "vertical tab",
    "\x0c": "form feed",
    "\x1c": "file separator",
    "\x1d": "group separator",
    "\x1e": "record separator",
    "\x85": "next line (NEL)",
    "\u2028": "line separator",
    "\u2029": "paragraph separator",
}


@pytest.mark.parametrize("char", BREAKS)
def test_a_line_break_is_named_with_its_place(char: str) -> None:
    assert said(find_line_breaks(f"abc{char}d{char}")) == [
        (
            "line_break",
            f"a line break ({BREAKS[char]}, U+{ord(char):04X}) at character 4; write the entry on one line",
            (3, 4),
        )
    ]
    assert find_controls(f"abc{char}d") == ()
    assert next(finding.code for finding in check_entry(f"abc{char}d")) == "line_break"
    assert find_line_breaks("abc d") == ()


@pytest.mark.parametrize("char", ["\x00", "\x08", "\x1b", "\x1f", "\x7f", "\x80", "\x84", "\x86", "\x9f"])
def test_a_control_character_is_named_with_its_place(char: str) -> None:
    """Given one after a tab and a line break, which other checks judge, then it is found all the same."""
    message = f"the control character U+{ord(char):04X} at character 5; remove it"
    assert said(find_controls(f"a\t\nb{char}c{char}")) == [("control_character", message, (4, 5))]
    assert "control_character" in [finding.code for finding in check_passage(f"a\nb{char}c")]


@pytest.mark.parametrize("code", [0xD800, 0xD801, 0xDBFF, 0xDFFE, 0xDFFF])
def test_half_of_a_pair_is_no_text(code: int) -> None:
    message = "half of a surrogate pair at character 3; the text is not valid Unicode"
    assert said(find_controls(f"ab{chr(code)}")) == [("control_character", message, (2, 3))]


@pytest.mark.parametrize("char", ["\ud7fb", "\ue000", "\uffff", "\U0010ffff", "\t", " ", "~", "\u00a0"])
def test_what_is_no_control_character_passes_as_one(char: str) -> None:
    assert find_controls(f"ab{char}c") == ()


@pytest.mark.parametrize(
    ("text", "separates"),
    [
        ("§", True),
        ("§§", True),
        ("  §\t", True),
        ("\u200b§\u0301", True),
        ("a fact\n§\nanother", True),
        ("a fact\x85 § \u2028another", True),
        ("a fact\x1c§", True),
        ("§ 4", False),
        ("a §", False),
        ("", False),
        (" ", False),
        ("\n\n", False),
    ],
)
def test_a_line_of_nothing_but_the_separator_is_one(text: str, separates: bool) -> None:
    message = "a line that holds only the separator § would end the entry; write it inside a sentence"
    assert said(find_separator(text)) == ([("separator", message, (0, len(text)))] if separates else [])
    assert ("separator" in {finding.code for finding in structure(text)}) == separates


def test_what_breaks_the_form_is_told_in_one_order() -> None:
    found = structure("a\n§\x00")
    assert [finding.code for finding in found] == ["line_break", "control_character", "separator"]
    assert structure("A fact about § 4.") == ()


@pytest.mark.parametrize(
    "space", [" ", "\t", "\u00a0", "\u1680", *map(chr, range(0x2000, 0x200B)), "\u202f", "\u205f", "\u3000"]
)
def test_spaces_at_both_ends_are_taken_off_and_those_inside_stay(space: str) -> None:
    assert trim(f"{space}a{space}b{space}") == f"a{space}b"
    assert trim(space) == trim(space * 3) == trim("") == ""


@pytest.mark.parametrize("char", ["\n", "\r", "\x00", "\u200b", "\u2028", "\u180e", "\u2060", "."])
def test_what_is_no_space_stays_at_the_ends(char: str) -> None:
    """Given a control or an unseen character at an end, then it stays, for a check has to find it."""
    assert trim(f" {char}a{char} ") == f"{char}a{char}"


# --- letters that look alike


def homoglyph(reason: str, start: int, stop: int) -> list[tuple[str, str, tuple[int, int]]]:
    return [("homoglyph", f"the word at character {start + 1} {reason}; write it in plain letters", (start, stop))]


MIXED = "mixes scripts with letters that look alike"
STYLED = "is set in a styled alphabet that hides it from a search"
ENCLOSED = "is set in enclosed letters"


@pytest.mark.parametrize(
    "word",
    ["p\u0430ypal", "\u0430b", "a\u03bf", "\u0405ecret", "\u0555k", "w\u03bfrd", "na\u00efv\u0435"],
)
def test_a_word_of_two_scripts_that_look_alike_is_told_with_its_place(word: str) -> None:
    assert said(find_homoglyphs(f"See {word} there {word}")) == homoglyph(MIXED, 4, 4 + len(word))


@pytest.mark.parametrize(
    "text",
    [
        "\u043f\u0430\u0440\u043e\u043b\u044c",  # one script, though its letters look like others
        "p\u0436a",  # a letter that looks like none
        "a\u0436\u0430",  # one that does, beside one that does not
        "a\u2177",  # looks like four letters
        "5 \u00b5s and 3 k\u03a9, \u0394t and \u03c0r",
        "naïve café Łódź Ægir straße ÀÉÎõü",
        "ab \u0430\u0431",
        "\uff71\uff72\uff73",  # narrow katakana is no wide Latin
        "\u00e9\u00e9\u00e9\u00e9",
        "\u3042\u3044\u3046 abc \u6f22\u5b57",
        "abc\u6f22",
        "plain words",
        "",
    ],
)
def test_words_of_one_script_and_signs_of_units_pass(text: str) -> None:
    assert find_homoglyphs(text) == ()


@pytest.mark.parametrize(
    "letters",
    [
        "\U0001d400\U0001d401\U0001d402",
        "\U0001d400\U0001d401\U0001d402\U0001d403",
        "\U0001d400\U0001d400\U0001d400",
        "\U0001d7cb\U0001d7cb\U0001d7cb",
        "\u1d00\u0299\u1d04",
        "\u1d43\u1d47\u1d9c",
        "\uff21\uff21\uff21",
        "\uff5a\uff5a\uff5a",
        "\uff22\uff4d\uff59\uff45",
        "ab\u1d00\u1d00\u1d00",
    ],
)
def test_three_letters_of_a_styled_alphabet_hide_a_word(letters: str) -> None:
    assert said(find_homoglyphs(f"a {letters}")) == homoglyph(STYLED, 2, 2 + len(letters))


@pytest.mark.parametrize(
    "letters", ["\U0001d400\U0001d401", "\u1d43\u1d47", "\uff21\uff22", "\U0001d400\U0001d401 \U0001d402\U0001d403"]
)
def test_two_letters_of_a_styled_alphabet_are_a_sign(letters: str) -> None:
    assert find_homoglyphs(f"a {letters}") == ()


@pytest.mark.parametrize(
    ("char", "usual"),
    [
        ("\u303f", False),
        ("\u3041", True),
        ("\u3040", True),
        ("\u6f22", True),
        ("\u9fff", True),
        ("\ua000", False),
        ("\uabff", False),
        ("\uac00", True),
        ("\ud55c", True),
        ("\ud7af", True),
        ("\ud7b0", False),
        ("a", False),
        ("\u00e9", False),
    ],
)
def test_wide_letters_are_usual_where_the_text_is_east_asian(char: str, usual: bool) -> None:
    assert (find_homoglyphs(f"\uff21\uff22\uff23 {char}") == ()) == usual


def test_small_capitals_hide_a_word_beside_east_asian_text_too() -> None:
    assert said(find_homoglyphs("\u6f22 \u1d00\u0299\u1d04")) == homoglyph(STYLED, 2, 5)


@pytest.mark.parametrize("letters", ["\u24b6\u24b7\u24b8", "\u24e9\u24e9\u24e9", "\U0001f130\U0001f131\U0001f189"])
def test_three_letters_in_circles_or_squares_hide_a_word(letters: str) -> None:
    assert said(find_homoglyphs(f"ab {letters}")) == homoglyph(ENCLOSED, 3, 6)
    assert find_homoglyphs(f"ab {letters[:2]}") == ()
