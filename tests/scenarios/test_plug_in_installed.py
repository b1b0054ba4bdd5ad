"""The worked example of docs/examples, built and installed beside minutebook in an environment of its own (E5)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "token-cost-per-day"
NAME = "token_cost_per_day"

MESSAGES = [
    {"role": "user", "content": "Which files are there?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "list", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Makefile README.md"},
    {"role": "assistant", "content": "Two."},
]

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a fresh environment with minutebook and the example; no network is asked.

    What both rest on is lent from the environment of the tests; the two packages themselves are built and installed.
    """
    place = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    bin_ = place / "bin"
    asked = [str(bin_ / "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    library = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    (library / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(bin_ / "python"), "--disable-pip-version-check", "--quiet",
         "install", "--no-index", "--no-deps", "--no-build-isolation", str(ROOT), str(EXAMPLE)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return bin_


CHILD = """
import contextlib, io, json, sys
from minutebook.infrastructure.edges.cli import main

for line in sys.stdin:
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(json.loads(line))
        except SystemExit as left:
            status = left.code
    out.flush()
    print(json.dumps([status, out.buffer.getvalue().decode(), err.getvalue()]), flush=True)
"""
"""The installed program, command after command: to start it anew for each takes longer than all of them."""


@pytest.fixture
def run(installed: Path, place: Path) -> Iterator[Run]:
    """``run("projections", "list")`` with the installed program; answers its JSON, or what it refused."""
    named = {key: value for key, value in os.environ.items() if key == "MINUTEBOOK_DATABASE"}
    child = subprocess.Popen(
        [str(installed / "python"), "-c", CHILD],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PATH": str(installed), **named},
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    to, back = child.stdin, child.stdout

    def call(*words: str, status: int = 0) -> Any:
        to.write(json.dumps(["--workspace", str(place), "--json", *words]) + "\n")
        to.flush()
        code, out, err = json.loads(back.readline())
        assert code == status, out + err
        return json.loads(err if status == 1 and not out else out)

    yield call
    to.close()
    assert child.wait(60) == 0
    back.close()


def state(run: Run) -> dict[str, Any] | None:
    return next((row for row in run("projections", "list") if row["name"] == NAME), None)


def test_a_package_of_somebody_else_goes_from_available_to_dropped(run: Run, place: Path) -> None:
    # given a session from before anybody thought of the plug-in
    transcript = place / "talk.json"
    transcript.write_text(json.dumps(MESSAGES))
    run("import", str(transcript), "--session", "talk")

    # then it is listed and not loaded
    offer = run("projections", "available")[0]
    assert offer == {
        "name": NAME, "package": "token-cost-per-day", "version": "1.0", "target": f"{NAME}:TokenCostPerDay",
        "status": "available", "error": None,
    }  # fmt: skip
    assert state(run) is None

    # when the settings name it, a look does not run what no event enables
    (place / "minutebook.toml").write_text(f'projections = ["{NAME}"]\n')
    assert run("projections", "available")[0]["status"] == "named"
    row = state(run)
    assert row is not None
    assert (row["status"], row["cursor"], "not enabled yet" in row["note"]) == ("building", 0, True)

    # and the next command that writes enables it, by an event, and fills it from the first event on
    run("projections", "rebuild", NAME)
    enabled = run("log", "--type", "ProjectionEnabled")
    assert (enabled["actor"], enabled["body"]["package"], enabled["body"]["release"]) == (
        "settings", "token-cost-per-day", "1.0",
    )  # fmt: skip
    assert run("projections", "available")[0]["status"] == "enabled"
    row = state(run)
    assert row is not None
    assert (row["status"], row["lag"]) == ("live", 0)

    # then its rows are there, now and as of the first message
    costs = run("projections", "show", NAME, "--table", NAME)["tables"][0]
    by_tool = {each[2]: each[3] for each in costs["rows"]}
    assert by_tool == {"-": 2, "list": 2}
    first = run("session", "messages", "talk")[0]["position"]
    past = run("projections", "show", NAME, "--table", NAME, "--at", str(first))["tables"][0]
    assert [(each[2], each[3]) for each in past["rows"]] == [("-", 1)]
    turn = run("context", "talk", "--at", "turn:2")
    assert [message["role"] for message in turn["messages"]] == ["user", "assistant", "tool"]
    found = {check["name"]: check["ok"] for check in run("verify")["checks"]}
    assert found[f"projection {NAME}"]

    # when a person retires it, it is no longer loaded, by an event, though the settings still name it
    run("projections", "retire", NAME, "--reason", "too dear")
    assert run("projections", "available")[0]["status"] == "retired"
    assert run("log", "--type", "ProjectionRetired")["body"]["payload"] == {"reason": "too dear"}
    row = state(run)
    assert row is not None
    assert row["status"] == "retired"

    # and it goes on when it is resumed
    run("projections", "resume", NAME)
    row = state(run)
    assert row is not None
    assert (row["status"], row["lag"]) == ("live", 0)

    # when the settings name it no longer, that is an event too, and its rows can be dropped
    (place / "minutebook.toml").unlink()
    run("projections", "drop", NAME)
    assert run("log", "--type", "ProjectionDisabled")["body"]["projection"] == NAME
    assert state(run) is None
    assert run("projections", "show", NAME, status=1)["error"] == "unknown_projection"
    assert run("verify")["ok"]


@pytest.mark.sqlite_only("the example's own tests, which make their own books")
def test_the_tests_of_the_example_pass_where_it_is_installed(installed: Path, tmp_path: Path) -> None:
    # given the program as a person starts it
    listed = subprocess.run(
        [str(installed / "minutebook"), "--workspace", str(tmp_path), "projections", "available"],
        capture_output=True, text=True, check=True, env={"PATH": str(installed)},
    )  # fmt: skip
    assert NAME in listed.stdout

    # when the example's own tests are run there
    done = subprocess.run(
        [str(installed / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(EXAMPLE),
         "--basetemp", str(tmp_path / "t"), str(EXAMPLE / "tests")],
        cwd=tmp_path, capture_output=True, text=True, check=False, env={"PATH": str(installed)},
    )  # fmt: skip

    # then they pass
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
