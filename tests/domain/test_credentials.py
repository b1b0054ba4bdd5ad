"""Credentials: measured on four public rule collections, look-alikes pass, redaction names only the kind (D4, C5)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from minutebook.domain.checks import redact_credentials
from minutebook.domain.checks.credentials import secrets

SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", Path(__file__).parents[2].parent / "shared")) / "data"
BARS = {
    # recall at least, false positives at most; many rows of these collections are ids, hashes or vendor-specific
    "gitleaks": (0.84, 0.18),
    "noseyparker": (0.70, 0.28),
    "kingfisher": (0.74, 0.01),
    "secretlint": (0.67, 0.26),
}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data folder is absent")
def test_recall_and_false_positives_on_four_public_collections() -> None:
    print(f"\n{'collection':14}{'recall':>18}{'false positives':>20}")
    for name, (recall, wrong) in BARS.items():
        rows = [
            json.loads(line)
            for line in (SHARED / "credentials" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        hits = [bool(secrets(row["text"])) for row in rows if row["label"] == "positive"]
        false = [bool(secrets(row["text"])) for row in rows if row["label"] == "negative"]
        found, errors = sum(hits) / len(hits), sum(false) / len(false)
        print(f"{name:14}{sum(hits):>6}/{len(hits):<4}{found:>7.1%}{sum(false):>8}/{len(false):<4}{errors:>7.1%}")
        assert found >= recall, name
        assert errors <= wrong, name


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE is in the AWS manual",
        "Docs show wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "password: <your-password>",
        "api_key = $API_KEY",
        "token: ${{ secrets.DEPLOY_TOKEN }}",
        "GITHUB_TOKEN=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "password = ********",
        "api_key: YOUR_API_KEY",
        "postgres://user:password@localhost/db",
        "postgres://postgres:postgres@localhost:5432/app",
        "token ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "Authorization: Bearer $TOKEN",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "Primary key of orders is order_id",
        "The password is hashed with argon2id",
        'secret_scanner = "detect-secrets"',
        'password_policy: "at-least-twelve"',
        "token: xoxp-572370529330-573807301142-572331691188-################",
    ],
)
def test_a_placeholder_or_published_sample_is_no_secret(text: str) -> None:
    assert secrets(text) == ()
    assert redact_credentials(text) == (text, 0)


def test_a_shape_that_merely_contains_example_is_judged_like_any_other() -> None:
    assert secrets("AKIA" + "QZ7EXAMPLE4K2M3N")


@pytest.mark.parametrize(
    "command",
    [
        "curl -X POST \\\n  -u developer:yqDVtkqPECriaLRi https://example.org",
        'curl -u ":d2LkV78zLx" https://example.org',
        "curl --user kevin:'pRf7vG2h1L8nQkW9' https://example.org",
    ],
)
def test_a_password_of_a_command_is_found_however_it_is_quoted_and_broken(command: str) -> None:
    assert [secret.kind for secret in secrets(command)] == ["basic_auth"]


def test_a_secret_is_replaced_by_its_kind() -> None:
    token = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    text, number = redact_credentials(f"use {token} and postgres://app:S3cr3t99x@db.internal/app")
    assert text == "use [redacted:github_token] and postgres://app:[redacted:url_password]@db.internal/app"
    assert number == 2


@pytest.mark.parametrize("length", [99, 100, 500, 1_999, 2_000, 2_001, 9_000])
def test_of_a_long_secret_no_end_is_left(length: int) -> None:
    """Found by fuzzing: the pattern read 2,000 characters, and the rest of the value was left beside the mark."""
    value = "hunter2" + ("9q7Zk3xV" * length)[: length - 7]
    for text in (f"password = '{value}'", f"password = {value} and more", f"Authorization: Bearer {value}"):
        redacted, count = redact_credentials(text)
        assert count == 1
        assert "9q7Zk3xV" not in redacted
        assert redact_credentials(redacted) == (redacted, 0)


def test_redacting_twice_changes_nothing_more() -> None:
    once, _ = redact_credentials("password = Tr0ub4dor&3xyz; api_key = f3b1c9d27a6e4850b2c4d6e8f0a1b3c5")
    assert redact_credentials(once) == (once, 0)
