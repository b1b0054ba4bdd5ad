"""Ids from outside: ordinary names pass, whatever a path, a URI or an eye could misread does not (section 5)."""

from __future__ import annotations

import pytest

from minutebook.domain.errors import InputError
from minutebook.domain.identifiers import check_identifier


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "build-42",
        "sess-2026-01-02T10:00:00Z",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "258c7280-ae70-4798-800f-63464d01a85d",
        "user_7",
        "@person",
        "jürgen.müller",
        "項目一",
        "v1.2.3",
        "team:alpha:7",
        "two words",
        "x" * 200,
    ],
)
def test_an_ordinary_id_passes(text: str) -> None:
    assert check_identifier(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "../../etc/passwd",
        "..",
        "a/../b",
        "/etc/passwd",
        "\\\\host\\share",
        "C:\\Windows",
        "c:",
        "file:secret",
        "https://example.com",
        "id\x00.txt",
        "a\nb",
        "a\x1bb",
        "%2e%2e%2fsecret",
        "a%00b",
        "．．／x",
        "a∕b",
        "~root",
        "-rf",
        "CON",
        "nul.txt",
        "name.",
        " a",
        "a\u202eb",
        "a\u200bb",
        "a\u2028b",
        "\ud800",
        "a|b",
        "$(id)",
        "x" * 201,
    ],
)
def test_an_id_that_could_be_misread_is_refused(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        check_identifier(text)
    assert refusal.value.code == "bad_identifier"


def test_the_refusal_shows_the_id_harmlessly() -> None:
    with pytest.raises(InputError) as refusal:
        check_identifier("a\x1b[2J")
    assert "\x1b" not in str(refusal.value)
    assert "session id" not in str(refusal.value)
    with pytest.raises(InputError, match="session id"):
        check_identifier("..", what="session id")
