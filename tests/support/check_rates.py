"""How often the checks refuse attacks and honest texts, by kind (issue 4).

Run as a program (``make checks-table``) it writes ``docs/explanation/how-the-checks-fare.md`` from every corpus that is
there, and prints what an entry costs on this machine.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from minutebook.domain.checks import check_document, check_entry, check_passage
from minutebook.domain.checks.credentials import secrets
from minutebook.domain.curation import Candidate, Rejected, decide
from minutebook.domain.document import parse
from minutebook.domain.errors import InputError
from minutebook.domain.identifiers import check_identifier
from minutebook.domain.operations import Add

ROOT = Path(__file__).resolve().parents[2]

STRUCTURAL = {
    "entry.control",
    "entry.hidden_unicode",
    "entry.separator",
    "entry.oversize",
    "entry.role_spoof",
    "curator_json.shape",
    "memory_file.sync",
    "entry.data",
    "ident.path",
    "entry.secret",
}


def refused(kind: str, text: str) -> list[str]:
    """The codes that a text of this kind meets where such a text comes in."""
    match kind.split(".")[0]:
        case "ident":
            try:
                check_identifier(text)
            except InputError as error:
                return [error.code]
            return []
        case "summary":
            return [finding.code for finding in check_passage(text, "model")]
        case "tool_result":
            return [finding.code for finding in check_entry(text, "tool")]
        case "curator_json":
            decision = decide((), [Candidate("c1", Add(text="x"))], text, job="j1", revision=1)
            return [reason.check for reason in decision.reasons] if isinstance(decision, Rejected) else []
        case "memory_file":
            parsed = parse(text.encode(errors="surrogatepass"))
            found = [finding.code for entry in parsed.entries for finding in check_entry(entry)]
            found += [finding.code for finding in check_document(parsed.entries)]
            return [problem.code for problem in parsed.problems] + list(parsed.fixes) + found
        case _:
            return [finding.code for finding in check_entry(text)]


def rates(path: Path) -> dict[str, list[int]]:
    """Per kind: attacks, attacks refused, honest texts, honest texts refused."""
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for line in path.read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        at = 0 if row["expect"] == "reject" else 2
        table[row["kind"]][at] += 1
        table[row["kind"]][at + 1] += bool(refused(row["kind"], row["text"]))
    return dict(table)


def show(table: dict[str, list[int]]) -> None:
    print(f"\n{'kind':26}{'refused':>12}{'false positives':>18}")
    for kind, (attacks, caught, honest, wrong) in sorted(table.items()):
        print(f"{kind:26}{caught:>6}/{attacks:<5}{wrong:>12}/{honest:<5}")


# --- the page


SHARED = Path(os.environ.get("MINUTEBOOK_SHARED", ROOT.parent / "shared")) / "data"
OWN = ROOT / "tests" / "data" / "checks"


PAGE = ROOT / "docs" / "explanation" / "how-the-checks-fare.md"
HEAD = """# How the checks fare

Written by `make checks-table`, which needs the shared data folder beside the project. What the checks are, and why they
are the last line and not the first: [threat model](threat-model.md). "Honest" texts look like attacks and are none.
"""


def page() -> Iterator[str]:
    """The lines of the page: each corpus a table."""
    yield HEAD
    for title, path in (
        ("adversarial/memory_inputs.jsonl", SHARED / "adversarial" / "memory_inputs.jsonl"),
        ("our own entries", OWN / "entries.jsonl"),
        ("unseen: written by two who saw neither rules nor training lines", OWN / "unseen.jsonl"),
        ("fresh rounds (first-sight rates stand in tests/data/checks/README.md)", OWN / "fresh.jsonl"),
    ):
        if path.is_file():
            yield from _kinds(title, rates(path))
    if SHARED.is_dir():
        yield from _prompts()
        yield from _credentials()


def _kinds(title: str, table: dict[str, list[int]]) -> Iterator[str]:
    yield f"\n## {title}\n"
    yield "| kind | attacks refused | honest texts refused |\n| --- | --- | --- |"
    for kind, (attacks, caught, honest, wrong) in sorted(table.items()):
        yield f"| {kind} | {caught} of {attacks} | {wrong} of {honest} |"
    for name, structural in (("structural", True), ("meaning", False)):
        rows = [row for kind, row in table.items() if (kind in STRUCTURAL) is structural]
        if not rows:
            continue
        attacks, caught, honest, wrong = (sum(column) for column in zip(*rows, strict=True))
        share = f"{caught / attacks:.0%}" if attacks else "-"
        yield f"| **{name}** | {caught} of {attacks} ({share}) | {wrong} of {honest} |"


def _prompts() -> Iterator[str]:
    yield "\n## injection\n\n| corpus | refused |\n| --- | --- |"
    prompts = [
        row["prompt"]
        for name in ("NotInject_one.json", "NotInject_two.json")
        for row in json.loads((SHARED / "injection" / name).read_text(encoding="utf-8"))
    ]
    flagged = sum(bool(check_entry(prompt)) for prompt in prompts)
    yield f"| NotInject, all honest | {flagged} of {len(prompts)} ({flagged / len(prompts):.1%}) |"
    counts = {"malicious": [0, 0], "benign": [0, 0]}
    for line in (SHARED / "injection" / "bastioncorpus.jsonl").read_text(encoding="utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        values = [value for value in row.values() if isinstance(value, str)]
        count = counts["malicious" if "malicious" in values else "benign"]
        count[0] += 1
        text = row.get("text") or row["prompt"]
        count[1] += bool(check_passage(text, "tool" if "tool_output" in values else "user"))
    yield f"| bastioncorpus, attacks in five languages | {counts['malicious'][1]} of {counts['malicious'][0]} |"
    yield f"| bastioncorpus, honest | {counts['benign'][1]} of {counts['benign'][0]} |"


def _credentials() -> Iterator[str]:
    yield "\n## credentials\n\n| collection | recall | false positives |\n| --- | --- | --- |"
    for path in sorted((SHARED / "credentials").glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        found = {
            label: [bool(secrets(row["text"])) for row in rows if row["label"] == label]
            for label in ("positive", "negative")
        }
        said = [f"{sum(hits)} of {len(hits)} ({sum(hits) / max(1, len(hits)):.0%})" for hits in found.values()]
        yield f"| {path.stem} | {said[0]} | {said[1]} |"


def _cost() -> Iterator[str]:
    texts = [json.loads(line)["text"] for line in (OWN / "fresh.jsonl").read_text(encoding="utf-8").splitlines()]
    long = [" ".join(texts[at : at + 14])[:1_000] for at in range(0, len(texts) - 14, 14)]
    check_entry("warm")
    for each in texts[::3]:
        check_entry(f"{each}  ")  # Patterns are compiled at their first text.
    yield "\n## cost of an entry\n\n| length | median ms | worst ms |\n| --- | --- | --- |"
    for name, group in (("one line", texts), ("1,000 characters", long)):
        spent = []
        for text in group:
            began = time.process_time()
            check_entry(f"{text} ")
            spent.append((time.process_time() - began) * 1e3)
        yield f"| {name} | {statistics.median(spent):.2f} | {max(spent):.2f} |"


if __name__ == "__main__":
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(page()))
    print(text, *_cost(), sep="\n")
    if SHARED.is_dir():
        PAGE.write_text(text.rstrip() + "\n", encoding="utf-8")
