"""Opening a store that may refuse, and filling one: for the tests of the database."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import MinutebookError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.log import Log

Make = Callable[..., MessageRecorded]


def refused(path: Path, access: Any = "write", **options: Any) -> MinutebookError:
    """The error that opening the path gives; fails when it opens."""
    try:
        database = Database(path, access=access, **options)
    except MinutebookError as error:
        return error
    try:
        Log(database)
    except MinutebookError as error:
        return error
    finally:
        database.close()
    return MinutebookError("it opened", code="opened")


def filled(path: Path, message: Make, count: int = 3) -> None:
    database = Database(path)
    Log(database).append([message(number) for number in range(1, count + 1)])
    database.close()


def in_a_child(work: Callable[[], Any]) -> Any:
    """What ``work`` returns in a child made by fork."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = work()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(write, pickle.dumps(answer))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        answer = pickle.loads(pipe.read())
    os.waitpid(child, 0)
    return answer
