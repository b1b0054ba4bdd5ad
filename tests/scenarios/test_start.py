"""The program starts: nothing is loaded that nobody asked for, and Ctrl-C meanwhile ends it without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from stores import child_environment

import minutebook

INTERRUPTED_WHILE_LOADING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "sqlalchemy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["minutebook", "verify"]
from minutebook.__main__ import main
main()
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=child_environment()
    )


def test_ctrl_c_while_the_program_is_loaded_ends_it_without_a_traceback() -> None:
    done = python(INTERRUPTED_WHILE_LOADING)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_every_public_name_is_there_and_loaded_when_it_is_asked_for() -> None:
    assert set(minutebook._WHERE) == set(minutebook.__all__)
    assert set(minutebook.__all__) <= set(dir(minutebook))
    for name in minutebook.__all__:
        assert getattr(minutebook, name).__class__ is not None
    with pytest.raises(AttributeError, match="no attribute 'Minutbook'"):
        _ = minutebook.Minutbook
    done = python("import minutebook, sys; print('sqlalchemy' in sys.modules)")
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_what_cannot_be_imported_leaves_no_book_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "minutebook", "--workspace", str(tmp_path), "import", str(tmp_path / "nothere.jsonl")],
        capture_output=True, text=True, check=False, env=child_environment(),
    )  # fmt: skip
    assert (done.returncode, done.stderr.split(":")[0]) == (1, "transcript_unreadable")
    assert list(tmp_path.iterdir()) == []
