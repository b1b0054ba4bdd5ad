"""A drill replaces its own section of the page of results and no byte of another's."""

from __future__ import annotations

from pathlib import Path

from results import stamp, write_section


def test_a_section_is_added_once_and_replaced_after_that(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Drills\n\nWords.\n", encoding="utf-8")

    write_section("one", "The first", ["1 of 1.", "", "| a |"], page=page)
    write_section("two", "The second", ["2 of 2."], page=page)
    before = page.read_text(encoding="utf-8")
    write_section("one", "The first", [r"3 \1 of 3."], page=page)

    after = page.read_text(encoding="utf-8")
    assert before.startswith(
        "# Drills\n\nWords.\n\n<!-- drill one: begin -->\n\n## The first\n\n1 of 1.\n\n| a |\n\n<!--"
    )
    assert after == before.replace("1 of 1.\n\n| a |", r"3 \1 of 3.")
    assert after.endswith("<!-- drill two: begin -->\n\n## The second\n\n2 of 2.\n\n<!-- drill two: end -->\n")
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


def test_a_stamp_says_when_and_with_which_code() -> None:
    assert stamp().startswith("Run on 20")
    assert ", commit " in stamp()
