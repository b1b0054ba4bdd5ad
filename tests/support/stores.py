"""Opening a store that may refuse, filling one, children that are killed, a look or a grip at one from outside."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, NullPool, create_engine

from minutebook.domain.catalogue import MessageRecorded
from minutebook.domain.errors import MinutebookError
from minutebook.infrastructure.store.database import Database
from minutebook.infrastructure.store.failpoints import armed
from minutebook.infrastructure.store.log import Log

Make = Callable[..., MessageRecorded]
PACKAGE = Path(__file__).resolve().parents[2] / ".package"


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


def killed_at(step: str, work: Callable[[], Any]) -> bool:
    """Whether a child made by fork, in which ``work`` goes on, was killed at a failpoint."""
    child = os.fork()
    if child == 0:
        try:
            with armed(step, "kill"):
                work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def at_once(number: int, work: Callable[[], Any]) -> list[Any]:
    """What ``work`` returns in each of so many children that begin together; an error is said in words."""
    ready, go = os.pipe(), os.pipe()
    pipes = []
    for _ in range(number):
        read, write = os.pipe()
        if os.fork() == 0:
            os.close(go[1])
            os.write(ready[1], b".")
            os.read(go[0], 1)
            try:
                answer = work()
            except BaseException as error:
                answer = f"{type(error).__name__}: {error}"
            os.write(write, pickle.dumps(answer))
            os._exit(0)
        os.close(write)
        pipes.append(read)
    for _ in range(number):
        os.read(ready[0], 1)
    os.close(go[1])  # nobody holds the other end any more: all go on
    answers = []
    for read in pipes:
        with os.fdopen(read, "rb") as pipe:
            answers.append(pickle.loads(pipe.read()))
    for _ in pipes:
        os.wait()
    for end in (*ready, go[0]):
        os.close(end)
    return answers


# --- the database of a workspace, seen by another program


def child_environment(**more: str) -> dict[str, str]:
    """What a process of its own needs to open the same book: the package, and the database of this test."""
    named = {name: value for name, value in os.environ.items() if name == "MINUTEBOOK_DATABASE"}
    return {"PYTHONPATH": str(PACKAGE), "PATH": "", **named, **more}


@contextmanager
def outside(root: Path) -> Iterator[Connection]:
    """A connection of another program to the database of a workspace; each statement is on its own."""
    url = os.environ.get("MINUTEBOOK_DATABASE") or f"sqlite:///{root / '.tinyagent' / 'minutebook.db'}"
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as plain:
        yield plain.execution_options(isolation_level="AUTOCOMMIT")
    engine.dispose()


@contextmanager
def held(root: Path) -> Iterator[None]:
    """Another program holds the log meanwhile: nobody can append."""
    with outside(root) as connection:
        sqlite = connection.dialect.name == "sqlite"
        connection.exec_driver_sql("BEGIN IMMEDIATE" if sqlite else "BEGIN")
        if not sqlite:
            connection.exec_driver_sql("SELECT * FROM log_head FOR UPDATE")
        try:
            yield
        finally:
            connection.exec_driver_sql("ROLLBACK")
