"""The summariser without a model keeps what a person would look for, says what it is, and passes every check (C12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook.domain.compaction import Accepted, Reduce, Refuse, Summarise, accept, decide, prepare
from minutebook.domain.context import Shown, SummaryShown, Visible
from minutebook.domain.extractive import ExtractiveSummarizer
from minutebook.domain.ledger import kind_of, names
from minutebook.domain.message import Message
from minutebook.domain.placeholder import clip
from minutebook.domain.policy import Policy
from minutebook.domain.relief import with_reductions
from minutebook.domain.summary import Summary, parse, untagged
from minutebook.domain.summary_checks import uncovered, validate
from minutebook.domain.summary_request import build, required

NewTalk: TypeAlias = Callable[[], Any]
NewPolicy: TypeAlias = Callable[..., Policy]
ReadHistory: TypeAlias = Callable[[str], list[Message]]

REAL = (
    "pi/before-compaction.jsonl",
    "claude-code/258c7280-ae70-4798-800f-63464d01a85d.jsonl",
    "claude-code/codemie-session-196820da.jsonl",
    "claude-code/tool_heavy.jsonl",
    "cline/session.messages.json",
    "openai-chat/fncall-llm-message.json",
)


def _summary(talk: Any, tokens_max: int = 1_500) -> Summary:
    must, unlisted = required(talk.messages, None, tokens_max)
    request = build(
        talk.messages,
        chunk=talk.messages,
        earlier=None,
        must=must,
        unlisted=unlisted,
        tokens_max=tokens_max,
        tokens_replaced=10 * tokens_max,
    )
    answer = ExtractiveSummarizer().summarize(request)
    assert validate(answer, request) == ()
    parsed = parse(answer.text)
    assert isinstance(parsed, Summary)
    return parsed


def _extract(plan: Summarise, policy: Policy) -> Accepted:
    prepared = prepare(plan, policy, whole=True)
    request = prepared.request(0)
    answer = ExtractiveSummarizer().summarize(request)
    assert answer == ExtractiveSummarizer().summarize(request)
    verdict = accept(prepared, request, answer, policy=policy, summarizer="extractive-1", extracted=True)
    assert isinstance(verdict, Accepted), verdict
    return verdict


def test_it_keeps_requests_constraints_decisions_failures_and_identifiers(new_talk: NewTalk) -> None:
    talk = new_talk()
    goal = talk.user("The importer in billing/importer.py refuses files with a byte order mark, see issue #482.")
    rule = talk.user("Never touch the folder `ledger`. Use port 8443 for the test server.")
    talk.tool(
        "bash", {"command": "pytest tests/test_importer.py"}, "E  UnicodeDecodeError: invalid start byte\nexit code: 1"
    )
    choice = talk.assistant("We decided to strip the mark in read_rows because the parser is shared.")
    talk.tool("edit", {"path": "billing/importer.py", "new": "x"}, "ok")
    done = talk.assistant("Fixed: read_rows strips the mark now, 41 tests pass. The sample has 1,204 rows.")
    talk.user("thanks")

    summary = _summary(talk)

    assert any("byte order mark" in item and f"@{goal.position}" in item for item in summary.of("completed"))
    assert summary.of("constraints") == (f"Never touch the folder `ledger`. [@{rule.position}]",)
    assert any(
        "strip the mark in read_rows" in item and f"[@{choice.position}]" in item for item in summary.of("decisions")
    )
    assert any("UnicodeDecodeError" in item for item in summary.of("state"))
    assert any("41 tests pass" in item and f"[@{done.position}]" in item for item in summary.of("completed"))
    everything = "\n".join(summary.lines)
    for name in ("billing/importer.py", "#482", "8443", "tests/test_importer.py", "1,204"):
        assert name in everything


def test_a_failure_that_was_mended_is_not_reported_as_one(new_talk: NewTalk) -> None:
    talk = new_talk()
    for number in range(3):
        talk.tool(
            "bash", {"command": f"make step{number}"}, f"make: *** [step{number}] Error {number + 1}\nexit code: 2"
        )
    talk.tool("bash", {"command": "make step1"}, "ok")

    state = "\n".join(_summary(talk).of("state"))

    assert "step0" in state
    assert "step2" in state
    assert "step1" not in state


def test_what_is_cancelled_or_checked_never_reads_as_pending(new_talk: NewTalk) -> None:
    talk = new_talk()
    talk.user("Please do W1 the parser rewrite and W2 the upload of all fixtures.")
    boxes = [f"- [{'x' if n <= 6 else ' '}] step {n}: handle case number {n}" for n in range(1, 11)]
    talk.assistant("Plan:\n" + "\n".join(boxes))
    talk.user("Cancel W2, the upload of all fixtures.")

    summary = _summary(talk)

    pending, completed = "\n".join(summary.of("pending")), "\n".join(summary.of("completed"))
    assert [n for n in range(1, 11) if f"step {n}:" in pending] == [7, 8, 9, 10]
    assert [n for n in range(1, 11) if f"step {n}:" in completed] == [1, 2, 3, 4, 5, 6]
    assert "upload" not in pending
    assert any(item.startswith("cancelled: Cancel W2") for item in summary.of("decisions"))


def test_raw_payloads_never_come_back(new_talk: NewTalk) -> None:
    rule = "always " + "keep this very long sentence of a rule exactly as it was written by its author " * 3
    talk = new_talk()
    talk.user(rule)
    talk.tool("read", {"path": "AGENTS.md"}, f"# Rules\n{rule}\n" * 3)

    assert _summary(talk).of("constraints")


@pytest.mark.parametrize("tokens_max", [160, 200, 300, 500, 1_000, 2_000])
def test_under_any_bound_constraints_come_first_and_what_had_no_room_is_named(
    new_talk: NewTalk, tokens_max: int
) -> None:
    talk = new_talk()
    for number in range(60):
        talk.user(f"Never remove the table customer_{number} from the schema, because report {number} depends on it.")
        talk.assistant(f"Noted, customer_{number} stays; I looked at src/schema/part_{number}.sql.")

    must, unlisted = required(talk.messages, None, tokens_max)
    kinds = [segment.kind for segment in must]
    assert kinds == sorted(kinds, key=lambda kind: kind != "constraint")
    assert tokens_max > 1_500 or unlisted
    _summary(talk, tokens_max)


@pytest.mark.parametrize("window", [128_000, 32_000, 16_000, 8_000])
@pytest.mark.parametrize("name", REAL)
def test_on_real_transcripts_its_own_output_passes_and_the_context_fits(
    read_history: ReadHistory, new_policy: NewPolicy, name: str, window: int
) -> None:
    visible: Visible = tuple(Shown(message, None, message.tokens) for message in read_history(name))
    policy = new_policy(window)
    match decide(visible, 400, policy):
        case Summarise() as plan:
            accepted = _extract(plan, policy)
            assert policy.fits(accepted.tokens_after)
            assert accepted.summary_tokens < plan.tokens_replaced
            assert "no model wrote it" in accepted.text
        case Reduce() as made:
            assert policy.fits(made.tokens_after)
        case Refuse() as refused:
            assert refused.protected_tokens > policy.limit
        case fits:
            assert policy.fits(fits.tokens)


@pytest.mark.slow
def test_a_long_real_session_is_compacted_again_and_again_and_loses_nothing_that_was_listed(
    read_history: ReadHistory, new_policy: NewPolicy
) -> None:
    messages = read_history("pi/before-compaction.jsonl")
    policy = new_policy(48_000)
    visible: Visible = ()
    commits: list[Accepted] = []
    for message in messages:
        visible = (*visible, Shown(message, None, message.tokens))
        match decide(visible, 400, policy):
            case Reduce() as made:
                visible = with_reductions(visible, made.reductions)
            case Summarise() as plan:
                accepted = _extract(plan, policy)
                if plan.earlier is not None:
                    _keeps(plan.earlier, accepted)
                visible = accepted.visible(f"c{len(commits)}")
                commits.append(accepted)
            case Refuse() as refused:
                assert refused.protected_tokens > policy.limit
            case _:
                pass
    assert 3 <= len(commits) <= len(messages) // 20
    shown = [item.message.id for item in visible if isinstance(item, Shown)]
    assert sorted([*shown, *commits[-1].plan.covers]) == sorted(message.id for message in messages)


def _keeps(earlier: SummaryShown, accepted: Accepted) -> None:
    before, after = parse(earlier.text), parse(accepted.text)
    assert isinstance(before, Summary)
    assert isinstance(after, Summary)
    listed = required((), before, accepted.plan.tokens_max)[0]
    binding = tuple(segment for segment in listed if segment.section in ("constraints", "decisions", "files"))
    assert uncovered(after, binding) == ()
    kept = {clip(untagged(item), 60) for item in after.of("constraints")}
    assert all(clip(untagged(item), 60) in kept for item in before.of("constraints"))


@pytest.mark.parametrize(
    ("word", "kind"),
    [("src/app.py", "path"), ("./run.sh", "path"), ("/etc/hosts", "path"), ("and/or", None), ("importer.py", "path"),
     ("https://example.org/a?b=1", "url"), ("#482", "id"), ("ABC-17", "id"), ("read_rows", "id"), ("readRows()", "id"),
     ("9f8e7d6c", "id"), ("550e8400-e29b-41d4-a716-446655440000", "id"), ("v1.2.3", "number"), ("1,204", "number"),
     ("8443", "number"), ("45%", "number"), ("--dry-run", "id"), ("module::name", "id"), ("word", None), ("The", None),
     ("a", None), ("Q3/Q4", None), ("Ann/Bob/Carol", None), ("file://", None), ("src/core/app", "path"),
     ("2>/dev/null", None), ("x" * 500, None)],
)  # fmt: skip
def test_words_are_told_apart(word: str, kind: str | None) -> None:
    assert kind_of(word) == kind


@pytest.mark.parametrize(
    ("text", "found"),
    [("see src/app.py:12: and main.ts(8,22), on localhost:8443", ["src/app.py", "main.ts"]),
     ("<v Ann>all of</v> it <br/> in `src/`", ["src/"]), ("http://localhost:5173/x", ["http://localhost:5173/x"])],
)  # fmt: skip
def test_places_in_files_name_the_file_and_markup_names_nothing(text: str, found: list[str]) -> None:
    assert [name for name, _ in names(text)] == found


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_names_of_any_text_are_bounded_words(text: str) -> None:
    assert all(len(name) <= 160 and " " not in name for name, _ in names(text))


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=300)), min_size=1, max_size=20),
    st.integers(200, 2_000),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_was_said_its_summary_passes(new_talk: NewTalk, said: Any, tokens_max: int) -> None:
    talk = new_talk()
    for kind, text in said:
        if kind == "tool":
            talk.tool("bash", {"command": text}, text * 5)
        else:
            getattr(talk, kind)(text)
    _summary(talk, tokens_max)
