"""What is read off a pattern, so that it runs only where it can match; and when two entries say the same (D4)."""

from __future__ import annotations

import re

import pytest

from minutebook.domain.checks.anchors import Anchors, Around, small_letters
from minutebook.domain.checks.likeness import contradicts, is_exact, is_near_duplicate, normal_form, words
from minutebook.domain.checks.needles import Needles, Sieve, beginnings_of, needles_of, sieve
from minutebook.domain.checks.token_shapes import finders, shapes


def several(number: int) -> str:
    return "(?:" + "|".join(f"w{each:03}" for each in range(number)) + ")"


# --- words that every match holds

PAIRS = "(?:aa|bb|cc|dd|ee|ff|gg)"
READ = [
    ("abc", [("abc",)]),
    ("ab", [("ab",)]),
    ("a", []),
    ("", []),
    ("ab?c", [("abc", "ac")]),
    ("ab{0,1}c", [("abc", "ac")]),
    ("(?:one|two) x", [("one x", "two x")]),
    ("[abc]de", [("ade", "bde", "cde")]),
    ("[a-c]de", [("de",)]),
    ("[abcdefgh]x", [tuple(f"{letter}x" for letter in "abcdefgh")]),
    ("[abcdefghi]xy", [("xy",)]),
    ("[ab-c]xy", [("xy",)]),
    ("[^a]xyz", [("xyz",)]),
    ("x.yz", [("yz",)]),
    ("yz.x", [("yz",)]),
    ("ab.cde.fghi.jk", [("fghi",), ("cde",), ("jk",)]),
    ("abcd.efghi.ijklmn.mnop", [("mnop",), ("ijklmn",), ("efghi",)]),
    ("abcd.(?:efgh|wxyz)", [("abcd",), ("efgh", "wxyz")]),
    ("a{2,3}bcd", [("bcd",)]),
    ("(?:foo){2,3}", [("foo",)]),
    ("(?:foo)+?", [("foo",)]),
    ("(?:foo){0,3}bar", [("bar",)]),
    ("(?:ab){0}cd", [("cd",)]),
    ("(?>abc)d", [("abcd",)]),
    ("(?P<n>abc)d", [("abcd",)]),
    ("^abc$", [("abc",)]),
    (r"a\bb", [("ab",)]),
    ("(?=zz)abc", [("abc",)]),
    ("abc(?!zz)d", [("abcd",)]),
    ("abc|d", []),
    ("abc|.", []),
    ("(?:abc|x.yz)q", [("abc", "yz")]),
    ("(?:abc|x.y)qrs", [("qrs",)]),
    ("(?:a|b)(?:c|d)e", [("ace", "ade", "bce", "bde")]),
    (f"{PAIRS}{PAIRS}", [("aa", "bb", "cc", "dd", "ee", "ff", "gg")]),
    ("(?:one|two)?three", [("onethree", "three", "twothree")]),
    ("(?:one.|two)?three", [("three",)]),
    ("x(?:one.){1,2}y", [("one",)]),
    (several(48), [tuple(f"w{each:03}" for each in range(48))]),
    (several(120), 120),
    (several(121), []),
    ("(?:aa|bb|cc|dd|ee|ff)(?:aa|bb|cc|dd|ee|ff|gg|hh)", 48),
    (f"{several(48)}x", [tuple(f"w{each:03}x" for each in range(48))]),
]


@pytest.mark.parametrize(("source", "read"), READ, ids=lambda value: str(value)[:30])
def test_the_words_that_every_match_holds_are_read_off_a_pattern(
    source: str, read: list[tuple[str, ...]] | int
) -> None:
    found = [needles.words for needles in needles_of(source)]
    assert ([len(words) for words in found] == [read]) if isinstance(read, int) else (found == read)


@pytest.mark.parametrize(
    ("source", "text", "may", "matches"),
    [
        ("abc.def", "x abc def", True, True),
        ("abc.def", "x abc", False, False),
        ("abc.def", "x def", False, False),
        ("abc.def", "abc x def", True, False),
        ("ab.def", "ab def", True, True),
        ("ab.def", "xb def", False, False),
        ("(?:abcd|efgh)x", "an efghx", True, True),
        ("(?:abcd|abce)x", "an abcf", False, False),
        ("(?:ab|cdef)", "cdef", True, True),
        ("(?:ab|cdef)", "cde", False, False),
        ("(?:ab|cdef)", "xab", True, True),
        (".", "x", True, True),
        ("x", "y", True, False),
    ],
)
def test_a_pattern_runs_where_its_words_stand(source: str, text: str, may: bool, matches: bool) -> None:
    for asked in range(2):  # the second time it knows its words
        fresh = sieve(source) if asked else Sieve(source)
        assert fresh.may_match(text) == may
        assert (fresh.search(text) is not None) == matches
        assert bool(list(fresh.finditer(text))) == matches


def test_a_pattern_is_compiled_at_the_first_text_that_has_its_words() -> None:
    """Given texts without its words, then a pattern that is no pattern does no harm; with them it does."""
    broken = Sieve("abc(?P<n>x)(?P=n)")
    assert broken.search("nothing") is None
    assert broken.pattern is broken.pattern
    assert sieve("abc") is sieve("abc")
    assert sieve("abc") is not sieve("abd")


def test_needles_know_how_they_begin() -> None:
    assert Needles(["abcd", "abce", "xyz"]).beginnings == frozenset({"abc", "xyz"})
    assert Needles(["abcd", "xy"]).beginnings is None
    assert Needles(["xyz"]).beginnings == frozenset({"xyz"})
    assert Needles(["b", "a"]).words == ("a", "b")


@pytest.mark.parametrize(
    ("source", "begins"),
    [
        ("abc", {"abc"}),
        ("abcdefgh", {"abcdef"}),
        ("[ab]c", {"ac", "bc"}),
        ("[a-j]x", {f"{letter}x" for letter in "abcdefghij"}),
        ("[a-k]x", {""}),
        ("[abcdefghijk]x", {""}),
        ("[a-jk]x", {""}),
        ("[a-ij]x", {f"{letter}x" for letter in "abcdefghij"}),
        ("[^a]x", {""}),
        (r"[\da]x", {""}),
        ("(?P<n>ab)c", {"abc"}),
        ("a{2}b", {"a"}),
        ("a{0,2}b", {""}),
        ("a*b", {""}),
        ("(?:ab){0}c", {""}),
        ("(?:ab){1,1}c", {"abc"}),
        ("(?:ab){1,2}c", {"ab"}),
        ("(?:ab)?c", {"abc", "c"}),
        (r"\bab", {"ab"}),
        ("(?=x)ab", {"ab"}),
        (".a", {""}),
        ("a.b", {"a"}),
        ("(?:a|bc*)d", {"ad", "b"}),
        ("(?:abcdef|g)h", {"abcdef", "gh"}),
        ("", {""}),
    ],
)
def test_how_every_match_begins_is_read_off_a_pattern(source: str, begins: set[str]) -> None:
    assert beginnings_of(re.compile(source), 6) == begins


def test_a_pattern_of_more_than_two_hundred_beginnings_says_nothing_of_them() -> None:
    assert len(beginnings_of(re.compile(several(200)), 6)) == 200
    assert beginnings_of(re.compile(f"{several(200)}x"), 6) == {f"w{each:03}x" for each in range(200)}
    assert beginnings_of(re.compile(several(201)), 6) == frozenset()
    assert beginnings_of(re.compile("a b", re.VERBOSE), 6) == {"ab"}


# --- many patterns at once


def spans(found: object) -> list[tuple[str, tuple[int, int]]]:
    return [(name, match.span()) for name, match in found]  # type: ignore[attr-defined]


def test_patterns_that_begin_alike_are_found_place_by_place_in_their_order() -> None:
    patterns = [("long", re.compile("abcd")), ("any", re.compile("[a-z]{3}")), ("short", re.compile("ab"))]
    assert spans(Anchors(patterns).find("xxabcdab")) == [
        ("any", (0, 3)), ("any", (3, 6)), ("long", (2, 6)), ("short", (2, 4)), ("short", (6, 8)),
    ]  # fmt: skip
    assert spans(Anchors([("short", re.compile("ab")), ("long", re.compile("abcd"))]).find("abcd")) == [
        ("short", (0, 2)),
        ("long", (0, 4)),
    ]
    three = [("0", re.compile("abcd")), ("1", re.compile("abce")), ("2", re.compile("abcd|ab."))]
    assert spans(Anchors(three).find("abce")) == [("1", (0, 4)), ("2", (0, 3))]
    assert spans(Anchors([]).find("abc")) == []
    assert spans(Anchors([("any", re.compile("."))]).find("ab")) == [("any", (0, 1)), ("any", (1, 2))]


def test_a_match_does_not_begin_inside_of_one_of_the_same_pattern() -> None:
    once = [("aa", re.compile("aab?"))]
    assert spans(Anchors(once).find("aaaaaab")) == [("aa", (0, 2)), ("aa", (2, 4)), ("aa", (4, 7))]
    other = [("aa", re.compile("aa")), ("ab", re.compile("ab"))]
    assert spans(Anchors(other).find("aaab")) == [("aa", (0, 2)), ("ab", (2, 4))]
    assert spans(Anchors(other).find("aab")) == [("aa", (0, 2)), ("ab", (1, 3))]


def test_what_stands_before_is_asked_of_every_beginning() -> None:
    before = Anchors([("a", re.compile("(?<!x)abc"))], before="(?<!x)")
    assert spans(before.find("xabc abc")) == [("a", (5, 8))]


def test_small_letters_are_looked_for_whatever_the_text_has() -> None:
    small = Anchors([("a", re.compile("abc", re.IGNORECASE)), ("s", re.compile("is", re.IGNORECASE))], small=True)
    assert spans(small.find("ABC aBc İſ")) == [("a", (0, 3)), ("a", (4, 7)), ("s", (8, 10))]
    assert spans(small.find("ABC", "abc")) == [("a", (0, 3))]
    assert spans(Anchors([("a", re.compile("abc"))]).find("ABC abc")) == [("a", (4, 7))]
    assert spans(Anchors([("a", re.compile("ABC"))]).find("ABC", None)) == [("a", (0, 3))]
    assert spans(Anchors([("a", re.compile("(?i)aBC"))], small=True).find("xAbc")) == [("a", (1, 4))]
    assert small_letters("AİBſ") == "aibs"


def test_a_pattern_with_telling_letters_in_its_middle_runs_around_them() -> None:
    """Given letters of the middle far apart and near each other, then every match is found once and no other."""
    around = Around("m", re.compile(r"\w{1,3}-\w{1,2}"), re.compile("-"), 3, 2)
    assert spans(around.find("ab-cd")) == [("m", (0, 5))]
    assert spans(around.find("-")) == []
    alone = Around("m", re.compile("-"), re.compile("-"), 0, 0)
    assert spans(alone.find("-")) == [("m", (0, 1))]
    assert spans(alone.find("-a--")) == [("m", (0, 1)), ("m", (2, 3)), ("m", (3, 4))]
    assert spans(around.find("")) == []
    assert spans(around.find("abcdef-ghijkl")) == [("m", (3, 9))]
    assert spans(around.find("ab-cd-ef abc-de          xyz-uv, a-b")) == [
        ("m", (0, 5)), ("m", (9, 15)), ("m", (25, 31)), ("m", (33, 36)),
    ]  # fmt: skip
    assert spans(around.find("a-b " * 5)) == [("m", (at, at + 3)) for at in range(0, 20, 4)]
    assert spans(around.find("A-B", "a-b")) == [("m", (0, 3))]
    assert spans(around.find("a+b", "a-b")) == []


DIGITS, LETTERS = "0123456789abcdef", "Ab9Cd8Ef7Gh6Ij5Kl4Mn3Op2Qr1"
MIDDLES = [
    f"{DIGITS * 2}-us12",
    f"{DIGITS * 2}-01234567-89abcdef",
    f"1234567890:AA{(LETTERS * 2)[:36]}",
    f"M{LETTERS}.abcdef.{(LETTERS * 2)[:40]}",
    f"abc1Q~{(LETTERS * 2)[:34]}",
    f"{(LETTERS * 3)[:80]}AZDOab12",
    *(f"{(LETTERS * 4)[:90]}{middle}abcd12==" for middle in ("+ASt", "+AMC", "+ARm", "AzFu", "AzCa", "ACDb", "AzSe")),
    f"{LETTERS[:14]}.atlasv1.{(LETTERS * 3)[:70]}",
    f"{(DIGITS * 3)[:36]}NRAL",
]


@pytest.mark.parametrize("token", MIDDLES, ids=lambda token: token[-12:])
@pytest.mark.parametrize("after", ["", " then", "0", "_x", "=", "-", ".a"])
def test_the_longest_token_that_is_told_by_its_middle_is_found_whole(token: str, after: str) -> None:
    """Given a token as long as it may be and something after it, then it is what its pattern alone finds."""
    text = f"see {token}{after} and {token}"
    alone = sorted((kind, match.span()) for kind, pattern in shapes() for match in pattern.finditer(text))
    assert sorted(spans(hit for finder in finders() for hit in finder.find(text))) == alone
    assert (len(f"see {token}{after} and "), len(text)) in [span for _, span in alone]


# --- the same in other words


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ('  "Hello,  WORLD!" ', "hello world"),
        ("c++ c# -1 .5 a/b", "c++ c# -1 .5 a/b"),
        ('".5", (.25)', ".5 .25"),
        ("... see. 5.", "... see 5"),
        ("（ｘ） Ｆｏｏ", "x foo"),
    ],
)
def test_what_changes_no_meaning_is_taken_off(text: str, folded: str) -> None:
    assert normal_form(text) == folded


def test_words_that_carry_no_meaning_do_not_count() -> None:
    assert words("The cat and the Cat") == {"cat": 2}


@pytest.mark.parametrize(
    ("word", "exact"), [("seven", True), ("not", True), ("a1", True), ("plain", False), ("", False)]
)
def test_a_word_that_counts_dates_or_turns_round_is_exact(word: str, exact: bool) -> None:
    assert is_exact(word) is exact


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("bird runs fast", "birds runs fast", True),
        ("cat runs fast", "cats runs fast", False),  # three letters may be another word
        ("walk to town daily", "walked to town daily", True),
        ("walk to town daily", "walking to town daily", True),
        ("walk to town daily", "walker to town daily", False),
        ("bird sings today", "bird singing today", False),
        ("love house cat", "loved house cat", True),
        ("aa bb", "aa bb cc", False),
        ("aa bb", "aa bb.", True),
        ("aa bb cc", "aa bb cc dd", True),
        ("aa bb cc", "aa bb cc dd ee", False),
        ("aa bb cc dd", "aa bb cc dd ee ff", False),
        ("aa bb cc dd ee", "aa bb cc dd ee ff gg", True),
        ("aa bb cc dd ee ff gg", "aa bb cc dd ee ff gg hh ii jj", True),
        ("aa bb cc dd ee ff gg", "aa bb cc dd ee ff gg hh ii jj kk", False),
        ("bb aa cc", "aa bb cc", False),
        ("aa bb cc", "aa xx bb yy cc", False),
        ("aa bb cc", "aa bb xx cc", True),
        ("one way up", "one way up high", True),
        ("the ratio is .5", "the ratio is 5", False),
        ("run src/a.py right now", "run src/b.py right now", False),
        ("start with --fast right now", "start with -fast right now", False),
        ("a three-way merge is used", "a four-way merge is used", False),
        ("the two-way merge is used here", "the way merge is used here", False),
        ("a non-blocking call is used here", "a blocking call is used here", False),
        ("it is 50% full today", "it is 50 full today", False),
        ("Bob saw the cat run", "bob saw the cat run", True),
        ("we saw Bob run home", "we saw Eve run home", False),
        ("the work is done now", "the work is not done now", False),
        ("the work is on today", "the work is today", False),
    ],
)
def test_only_what_is_added_or_dropped_or_has_another_ending_is_near(one: str, other: str, near: bool) -> None:
    assert (is_near_duplicate(one, other), is_near_duplicate(other, one)) == (near, near)


@pytest.mark.parametrize(
    ("old", "new", "another"),
    [
        ("a=1", "a=2", True),
        ("X is 1", "x is 2", True),
        ("x was 1 y", "x was 2 y", True),
        ("x is 1 y", "x is 2 Y.", True),
        ("x equals 1", "x equals 2", True),
        ("x == 1", "x == 2", True),
        ("the port: 1", "the port: 2", True),
        ("the port = 1.", "the port = 2", True),
        ("is 1 x", "is 2 x", True),
        ("port: 1", "port: 2", False),  # two words are too few
        ("x has 1", "x has 2", False),
        ("x this 1", "x this 2", False),
        ("x.is 1 y", "x.is 2 y", False),
        ("x is 1 is 1", "x is 2 is 2", False),
        ("1 is x", "2 is x", False),
        ("x is a", "x is b", False),
        ("x is a1", "x is b", False),
        ("x is b", "x is a1", False),
        ("x is 1 y", "x is 2 y z", False),
        ("x is 1 y z", "x is 2 y", False),
        ("y is 1", "x is 2", False),
        ("x y is 1", "x z is 1", False),
        ("x is 1 y", "x is 1 z", False),
        ("x is 1", "x is 1", False),
    ],
)
def test_one_value_in_the_place_of_another_contradicts(old: str, new: str, another: bool) -> None:
    assert contradicts(old, new) is another
    assert contradicts(new, old) is another
