"""Every page of the documentation runs from top to bottom, and every link in it leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
GLOSSARY = ROOT / "docs" / "glossary.md"
PROSE = [page for page in PAGES if "adr" not in page.parts and "demo" not in page.parts]

_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def shown(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def without_blocks(text: str) -> str:
    """The prose of a page: no fenced blocks, no code in the line."""
    text = re.sub(r"^(`{3,}).*?^\1\s*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "", text)


def anchors(page: Path) -> set[str]:
    """The anchors that a renderer gives to the headings of a page."""
    headings = re.findall(r"^#{1,6} (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def on(page: Path) -> Any:
    """The page as a parameter; one that shows a server is run on PostgreSQL."""
    server = "postgresql+psycopg://" in page.read_text(encoding="utf-8")
    return pytest.param(page, id=shown(page), marks=[pytest.mark.postgres] if server else [])


@pytest.mark.parametrize("page", [on(page) for page in PAGES])
def test_a_page_runs_from_top_to_bottom(page: Path, read_page: Callable[[Path], Any], tmp_path: Path) -> None:
    shell = read_page(page)

    # A page that shows how a test is written shows one that passes.
    for name, value in shell.namespace.items():
        if name.startswith("test_"):
            value(tmp_path / name)


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_a_block_that_does_not_run_says_why(page: Path, page_blocks: Callable[[Path], list[Any]]) -> None:
    for block in page_blocks(page):
        if block.language == "python" and "no-run" in block.notes:
            assert block.text.startswith("# not run: "), f"{shown(page)}:{block.line} needs '# not run: <reason>'"
        languages = {"python", "sh", "console", "text", "json", "toml", "markdown"}
        assert block.language in languages, f"{shown(page)}:{block.line} has a block in {block.language!r}"


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(without_blocks(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        found = (page.parent / name).resolve() if name else page
        assert found.exists(), f"{shown(page)} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(found), f"{shown(page)} links to {target}, and {shown(found)} has no such heading"


def test_every_page_can_be_reached_from_the_map() -> None:
    reached, queue = {ROOT / "docs" / "index.md"}, [ROOT / "docs" / "index.md"]
    while queue:
        page = queue.pop()
        for target in _LINK.findall(without_blocks(page.read_text(encoding="utf-8"))):
            found = (page.parent / target.partition("#")[0]).resolve()
            if found.suffix == ".md" and found not in reached and found.exists():
                reached.add(found)
                queue.append(found)
    missing = [shown(page) for page in PROSE if page not in reached and page.parent != ROOT]
    assert not missing, f"docs/index.md does not lead to {missing}"


def test_words_in_italics_are_terms_of_the_glossary() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    terms = {term.strip() for row in rows for term in row.split(",")}
    for page in PROSE:
        text = without_blocks(page.read_text(encoding="utf-8"))
        for word in re.findall(r"(?<![*\w])\*([^*\s][^*\n]*)\*(?![*\w])", text):
            known = {word.lower(), word.lower().removesuffix("s"), re.sub("ies$", "y", word.lower())}
            assert known & terms, f"{shown(page)} has *{word}*, which docs/glossary.md does not explain"
