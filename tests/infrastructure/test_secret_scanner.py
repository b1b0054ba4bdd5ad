"""The extra ``secrets``: a kept library beside our rules, only when a setting says so (issue 4, D4)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from minutebook import Minutebook, MinutebookError, Settings
from minutebook.domain.checks import redact_credentials

ROOT = Path(__file__).resolve().parents[2]
CLOUDANT = "cloudant_password = " + "0a1b2c3d" * 8
"""A secret of a vendor whose shape our own rules do not know."""
WITH_LIBRARY = Settings(secret_scanner="detect-secrets")


def test_the_library_takes_out_what_our_rules_leave() -> None:
    from minutebook.infrastructure.work.secret_scanner import redact_with_library

    text = "https://0a1b2c3d:pw@localhost and SoftLayer api_key softlayer_api_key='" + "ab" * 32 + "'"
    ours, both = redact_credentials(text)[1], redact_with_library(text)[1]
    assert both >= ours
    assert redact_with_library("The build needs make 4.3 or newer.") == ("The build needs make 4.3 or newer.", 0)
    once, count = redact_with_library(CLOUDANT)
    assert count >= 1
    assert redact_with_library(once) == (once, 0)


def test_a_proposal_and_a_message_are_read_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minutebook.infrastructure.work import secret_scanner

    found = [("vendor_token", "wobble-wobble-wobble")]
    monkeypatch.setattr(secret_scanner, "_found", lambda text: [pair for pair in found if pair[1] in text])
    settings = Settings(secret_scanner="detect-secrets", redact_messages=True)
    with Minutebook.open(tmp_path, settings=settings, automatic=False) as book:
        with book.session("s").run() as run:
            run.append({"role": "user", "content": "Use wobble-wobble-wobble today."})
            answer = run.memory({"operation": "add", "text": "The key is wobble-wobble-wobble"})
        assert answer.status == "flagged"
        assert [finding["code"] for finding in answer.findings] == ["credential"]
        assert book.curate().status == "rejected"
        assert book.session("s").messages()[0].source["content"] == "Use [redacted:vendor_token] today."
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if b"wobble-wobble" in path.read_bytes()]


@pytest.fixture
def wobbles(monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a scanner that knows one secret, of a shape that our own rules do not know."""
    from minutebook.infrastructure.work import secret_scanner

    found = [("vendor_token", "wobble-wobble-wobble")]
    monkeypatch.setattr(secret_scanner, "_found", lambda text: [pair for pair in found if pair[1] in text])
    return WITH_LIBRARY


def problems(refusal: pytest.ExceptionInfo[MinutebookError]) -> list[str]:
    return [problem["code"] for problem in refusal.value.details["problems"]]


def test_a_hand_edit_is_read_by_it(tmp_path: Path, wobbles: Settings) -> None:
    with Minutebook.open(tmp_path, settings=wobbles, automatic=False) as book:
        memory = tmp_path / book.settings.memory_path
        memory.parent.mkdir(parents=True, exist_ok=True)
        memory.write_text("The build needs make.\n§\nThe key is wobble-wobble-wobble\n")
        with pytest.raises(MinutebookError) as refusal:
            book.memory.sync(fix=True)
        assert (refusal.value.code, problems(refusal)) == ("memory_invalid", ["credential"])
        assert "wobble-wobble" not in str(refusal.value)
        taken = book.memory.sync(fix=True, allow=["credential"])
        assert taken.changed
        assert book.memory.revisions()[-1].overrides == ["credential"]


def test_an_import_is_read_by_it(tmp_path: Path, wobbles: Settings) -> None:
    notes = b"- The build needs make.\n- The key is wobble-wobble-wobble\n"
    with Minutebook.open(tmp_path, settings=wobbles, automatic=False) as book:
        assert [problem["code"] for problem in book.memory.preview(notes).refused] == ["credential"]
        with pytest.raises(MinutebookError) as refusal:
            book.memory.import_notes(notes)
        assert problems(refusal) == ["credential"]
        assert [entry["text"] for entry in book.memory.import_notes(notes, skip=True).entries] == [
            "The build needs make."
        ]


def test_an_old_revision_and_what_a_curator_writes_are_read_by_it(tmp_path: Path, wobbles: Settings) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book:
        memory = tmp_path / book.settings.memory_path
        memory.parent.mkdir(parents=True, exist_ok=True)
        for text in ("The key is wobble-wobble-wobble\n", "The build needs make.\n"):
            memory.write_text(text)
            book.memory.sync(fix=True)
        with book.session("s").run() as run:
            run.memory({"operation": "add", "text": "Tests run with pytest."})
    leaks = lambda request: '["The build needs make.", "Tests run with pytest, wobble-wobble-wobble."]'  # noqa: E731
    with Minutebook.open(tmp_path, settings=wobbles, curator=leaks, automatic=False) as book:
        with pytest.raises(MinutebookError) as refusal:
            book.memory.restore(1)
        assert problems(refusal) == ["credential"]
        curated = book.curate()
        assert curated.status == "rejected"
        assert "credential" in str(curated.reasons)


def test_a_candidate_from_before_the_setting_is_left_out_alone(tmp_path: Path, wobbles: Settings) -> None:
    with Minutebook.open(tmp_path, automatic=False) as book, book.session("s").run() as run:
        run.memory({"operation": "add", "text": "The key is wobble-wobble-wobble"})
        run.memory({"operation": "add", "text": "Tests run with pytest."})
    with Minutebook.open(tmp_path, settings=wobbles, automatic=False) as book:
        assert book.curate().status == "committed"
        assert [entry["text"] for entry in book.memory.show().entries] == ["Tests run with pytest."]


def test_without_the_extra_the_setting_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "minutebook.infrastructure.work.secret_scanner", None)
    with pytest.raises(MinutebookError) as refusal:
        Minutebook.open(tmp_path, settings=WITH_LIBRARY)
    assert refusal.value.code == "extra_missing"
    assert "minutebook[secrets]" in str(refusal.value)


def test_nothing_of_it_is_imported_when_no_setting_asks() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / '.package')!r})\n"
        "import tempfile, minutebook\n"
        "with minutebook.Minutebook.open(tempfile.mkdtemp(), automatic=False) as book: book.session('s')\n"
        "print([name for name in ('detect_secrets', 'requests', 'yaml') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
