"""Exchanging two names: each system's own call, and what says that there is none (M24)."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.work import exchange


class Library:
    """A C library with one function, which notes how it is called."""

    def __init__(self, name: str, result: int = 0) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.loads = 0

        def function(*arguments: Any) -> int:
            self.calls.append(arguments)
            return result

        setattr(self, name, function)

    def load(self, *_arguments: Any, **_options: Any) -> Library:
        self.loads += 1
        return self


@pytest.fixture
def fresh() -> Iterator[None]:
    exchange._call.cache_clear()
    yield
    exchange._call.cache_clear()


@pytest.mark.parametrize(("platform", "name", "flag"), [("linux", "renameat2", 2), ("darwin", "renameatx_np", 2)])
def test_each_system_has_its_own_call_and_it_is_looked_up_once(
    fresh: None, platform: str, name: str, flag: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(name)
    with monkeypatch.context() as other:
        other.setattr(sys, "platform", platform)
        other.setattr(ctypes, "CDLL", library.load)
        exchange.exchange(5, "one", "é")
        exchange.exchange(5, "one", "é")
    assert library.calls == [(5, b"one", 5, "é".encode(), flag)] * 2
    assert library.loads == 1


def test_a_library_that_is_too_old_for_the_call_exchanges_no_names(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        other.setattr(sys, "platform", "linux")
        other.setattr(ctypes, "CDLL", Library("renameat").load)
        with pytest.raises(exchange.ExchangeUnsupported):
            exchange.exchange(5, "one", "other")


@pytest.mark.parametrize("result", [-1, 1])
def test_whatever_is_not_zero_is_a_failure(fresh: None, result: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(sys, "platform", "linux")
        other.setattr(ctypes, "CDLL", Library("renameat2", result).load)
        other.setattr(ctypes, "get_errno", lambda: errno.EIO)
        with pytest.raises(OSError, match=os.strerror(errno.EIO)) as caught:
            exchange.exchange(5, "one", "other")
    assert caught.value.errno == errno.EIO


@pytest.mark.skipif(sys.platform != "linux", reason="its own call")
def test_two_names_are_exchanged_in_one_step(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1")
    (tmp_path / "other").write_text("2")
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        exchange.exchange(folder, "one", "other")
    finally:
        os.close(folder)
    assert ((tmp_path / "one").read_text(), (tmp_path / "other").read_text()) == ("2", "1")


@pytest.mark.parametrize("name", ["ENOSYS", "EINVAL", "EOPNOTSUPP", "ENOTSUP", "EPERM"])
def test_a_system_or_a_sandbox_that_forbids_it_is_told_from_an_error(tmp_path: Path, name: str) -> None:
    with armed("file.exchange", f"raise({name})"), pytest.raises(exchange.ExchangeUnsupported) as caught:
        exchange.exchange(0, "one", "other")
    assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize("name", ["EIO", "ENOENT", "EACCES", "ENOSPC", "EXDEV", "EROFS"])
def test_an_error_of_the_call_is_told_as_it_is(name: str) -> None:
    with armed("file.exchange", f"raise({name})"), pytest.raises(OSError, match=r"Errno") as caught:
        exchange.exchange(0, "one", "other")
    assert caught.value.errno == getattr(errno, name)
