"""A plug-in of pytest for the mutation drill: which test runs which line, and how long each takes.

``pytest -p covering`` with ``COVERED_LINES_OF_TESTS=FILE`` writes ``{"seconds": {test: s}, "lines": {file: {line:
[tests]}}}``. Lines that run when a module is imported belong to no test; a test that fails tells nothing and is left
out. Needs ``coverage``.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Covering:
    def __init__(self, out: Path, root: Path) -> None:
        coverage: Any = importlib.import_module("coverage")
        self._out, self._root = out, root
        self._seconds: dict[str, float] = {}
        self._failed: set[str] = set()
        places = [str(root / name / "*") for name in ("domain", "projections", "infrastructure")]
        self._coverage = coverage.Coverage(data_file=None, include=places, config_file=False)
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            self._coverage.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = {}
        for file in data.measured_files():
            name = Path(file).resolve().relative_to(self._root).as_posix()
            for line, tests in data.contexts_by_lineno(file).items():
                lines.setdefault(name, {})[line] = sorted(set(tests) - {""} - self._failed)
        self._out.write_text(json.dumps({"seconds": self._seconds, "lines": lines}), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    out = os.environ.get("COVERED_LINES_OF_TESTS")
    if out:
        config.pluginmanager.register(Covering(Path(out), Path(str(config.rootpath)).resolve()), "covering-lines")
