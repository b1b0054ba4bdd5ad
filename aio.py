"""Await-able twins of the public object, with the same names: threads over the one synchronous core.

::

    from minutebook.aio import Minutebook

    async with Minutebook.open("workspace") as book:
        session = await book.session("build-42")
        async with session.run() as run:
            await run.append({"role": "user", "content": "Why does the build fail?"})
            context = await run.context()

Each call runs in a worker thread, so the event loop never waits for a disk. A cancelled call is not torn: what it
was about to append is appended whole or not at all, and a summary that comes after its caller gave up is thrown
away. A summariser or curator may be a coroutine function here; it runs on the loop that opened the book, and is
cancelled when nobody waits for it any more.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from .infrastructure import book as core
from .infrastructure.book import Answer, Context, RecordedMessage
from .infrastructure.work.calling import until_cancelled
from .infrastructure.work.moments import Moment

T = TypeVar("T")
H = TypeVar("H", bound="_Handle")

__all__ = ["Erasures", "Evidence", "Memory", "Minutebook", "Projections", "Run", "Session"]


async def _call(function: Callable[..., T], *arguments: Any, **named: Any) -> T:
    cancelled = threading.Event()
    try:
        return await asyncio.to_thread(until_cancelled, cancelled, partial(function, *arguments, **named))
    except asyncio.CancelledError:
        cancelled.set()
        raise


class _Handle(Protocol):
    """What can stand in an ``async with``: it is left as its synchronous twin is."""

    async def _leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class _Opening(Generic[H]):
    """The answer of ``Minutebook.open`` and ``Session.run``: await it, or enter it."""

    def __init__(self, make: Callable[[], Awaitable[H]]) -> None:
        self._make = make
        self._made: H | None = None

    def __await__(self) -> Generator[Any, None, H]:
        return self._make().__await__()

    async def __aenter__(self) -> H:
        self._made = await self._make()
        return self._made

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._made is not None
        # Shielded: a cancelled task must still leave a run ended and a book closed.
        await asyncio.shield(self._made._leave(kind, error, trace))


class Run:
    """One run; see ``minutebook.Run``."""

    def __init__(self, run: core.Run) -> None:
        self._run = run
        self.id = run.id

    @property
    def usage(self) -> Any:
        return self._run.usage

    @property
    def open(self) -> bool:
        return self._run.open

    async def append(
        self, message: Any, id: str | Sequence[str] | None = None, *, usage: Any = None
    ) -> int | list[int]:
        return await _call(self._run.append, message, id, usage=usage)

    async def context(self, system: str | None = None, tools: Sequence[Any] | None = None) -> Context:
        return await _call(self._run.context, system, tools)

    async def memory(self, operation: Any, source: Any = None, *, call_id: str | None = None) -> Answer:
        return await _call(self._run.memory, operation, source, call_id=call_id)

    async def recall(self, arguments: Any) -> Answer:
        return await _call(self._run.recall, arguments)

    async def succeed(self, usage: Any = None) -> None:
        await _call(self._run.succeed, usage)

    async def fail(self, error: BaseException | str) -> None:
        await _call(self._run.fail, error)

    async def _leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await _call(self._run.__exit__, kind, error, trace)


class Session:
    """One session; see ``minutebook.Session``."""

    def __init__(self, session: core.Session) -> None:
        self._session = session
        self.id = session.id

    def run(self, id: str | None = None) -> _Opening[Run]:
        """Await it, or use it in ``async with``."""

        async def make() -> Run:
            return Run(await _call(self._session.run, id))

        return _Opening(make)

    async def append(
        self, message: Any, id: str | Sequence[str] | None = None, *, usage: Any = None
    ) -> int | list[int]:
        return await _call(self._session.append, message, id, usage=usage)

    async def close(self) -> None:
        await _call(self._session.close)

    async def fork(self, at: Moment | None = None, id: str | None = None) -> Session:
        return Session(await _call(self._session.fork, at, id))

    async def messages(
        self, at: Moment | None = None, *, limit: int | None = None, before: int | None = None
    ) -> list[RecordedMessage]:
        return await _call(self._session.messages, at, limit=limit, before=before)

    async def context(self, at: Moment | None = None, **options: Any) -> Context:
        return await _call(self._session.context, at, **options)

    async def blame(self, message: int | str | None = None, *, at: Moment | None = None) -> Answer:
        return await _call(self._session.blame, message, at=at)

    async def diff(self, a: Moment, b: Moment) -> Answer:
        return await _call(self._session.diff, a, b)

    async def compact(
        self, dry_run: bool = False, window: int | None = None, *, from_originals: bool = False
    ) -> Answer:
        return await _call(self._session.compact, dry_run, window, from_originals=from_originals)

    async def backtest(self, **overrides: Any) -> Answer:
        return await _call(partial(self._session.backtest, **overrides))

    async def compactions(self) -> list[Answer]:
        return await _call(self._session.compactions)

    async def recall(self, position: int | None = None, **options: Any) -> Answer:
        return await _call(self._session.recall, position, **options)

    async def export(self, form: str = "original") -> AsyncIterator[bytes]:
        """Every message, a page at a time in a worker thread."""
        lines = await _call(self._session.export, form)
        while page := await _call(_take, lines, 500):
            for line in page:
                yield line

    async def timeline(self, buckets: int = 50) -> list[Answer]:
        return await _call(self._session.timeline, buckets)


class _Twin:
    """A face whose every public method is awaited: ``await book.memory.show()``."""

    def __init__(self, face: Any) -> None:
        self._face = face

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(_call, getattr(self._face, name))


class Memory(_Twin):
    """Durable memory; see ``minutebook.Minutebook.memory``."""


class Erasures(_Twin):
    """Erasures; see ``minutebook.Minutebook.erasures``."""


class Evidence(_Twin):
    """What completed runs left behind; see ``minutebook.Minutebook.evidence``."""


class Projections(_Twin):
    """The projections; see ``minutebook.Minutebook.projections``."""

    @asynccontextmanager
    async def at(self, name: str, position: Any = None) -> AsyncIterator[tuple[Any, Any]]:
        """As ``minutebook.Minutebook.projections.at``, for ``async with``; the replay runs in a worker thread."""
        opened = self._face.at(name, position)
        found = await _call(opened.__enter__)
        try:
            yield found
        finally:
            await asyncio.shield(_call(opened.__exit__, None, None, None))

    async def work(
        self, *names: str, once: bool = False, report: Callable[[dict[str, Any]], None] | None = None
    ) -> bool:
        """Follows the log until it is cancelled; then the worker ends as it should before the call does."""
        stop = threading.Event()
        working = asyncio.ensure_future(asyncio.to_thread(self._face.work, *names, once=once, stop=stop, report=report))
        try:
            return bool(await asyncio.shield(working))
        except asyncio.CancelledError:
            stop.set()
            await working
            raise


class Minutebook:
    """One open book; see ``minutebook.Minutebook``. Made by ``open``."""

    def __init__(self, book: core.Minutebook) -> None:
        self._book = book
        self.memory = Memory(book.memory)
        self.evidence = Evidence(book.evidence)
        self.projections = Projections(book.projections)
        self.erasures = Erasures(book.erasures)

    @classmethod
    def open(cls, workspace: Any = ".", **options: Any) -> _Opening[Minutebook]:
        """As ``minutebook.Minutebook.open``; await it, or use it in ``async with``."""

        async def make() -> Minutebook:
            loop = asyncio.get_running_loop()
            hooks = ("summarizer", "summarize"), ("curator", "curate"), ("extractor", "extract"), ("embed", "embed")
            for name, method in hooks:
                if options.get(name) is not None:
                    options[name] = _synchronous(options[name], method, loop)
            return cls(await _call(core.Minutebook.open, workspace, **options))

        return _Opening(make)

    async def close(self) -> None:
        await _call(self._book.close)

    @property
    def common(self) -> Memory:
        return Memory(self._book.common)

    async def session(self, id: str | None = None, resume: bool = False) -> Session:
        return Session(await _call(self._book.session, id, resume))

    async def find_session(self, id: str) -> Session:
        return Session(await _call(self._book.find_session, id))

    async def sessions(self) -> list[Answer]:
        return await _call(self._book.sessions)

    @classmethod
    async def upgrade(cls, workspace: Any = ".", **options: Any) -> Answer:
        return await _call(core.Minutebook.upgrade, workspace, **options)

    @classmethod
    async def restore(cls, workspace: Any, source: Any, **options: Any) -> Answer:
        return await _call(core.Minutebook.restore, workspace, source, **options)

    @classmethod
    async def doctor(cls, workspace: Any = ".", **options: Any) -> Answer:
        return await _call(core.Minutebook.doctor, workspace, **options)

    async def import_transcript(self, source: Any, **options: Any) -> Answer:
        return await _call(self._book.import_transcript, source, **options)

    async def import_transcripts(self, source: Any, **options: Any) -> list[Answer]:
        return await _call(self._book.import_transcripts, source, **options)

    async def undo_compaction(self, compaction: str, session: str | None = None) -> Answer:
        return await _call(self._book.undo_compaction, compaction, session)

    async def redo_compaction(self, compaction: str, session: str | None = None) -> Answer:
        return await _call(self._book.redo_compaction, compaction, session)

    async def curate(self) -> Answer:
        return await _call(self._book.curate)

    async def usage(self) -> Answer:
        return await _call(self._book.usage)

    async def head(self) -> int:
        """The last position; a coroutine here, since it asks the database."""
        return await _call(lambda: self._book.head)

    async def log(self, after: int = 0, before: int | None = None, **filters: Any) -> AsyncIterator[Answer]:
        """Iterates events in order, a page at a time in a worker thread."""
        events = await _call(self._book.log, after, before, **filters)
        while page := await _call(_take, events, 500):
            for event in page:
                yield event

    async def trace(self, position: int) -> list[Answer]:
        return await _call(self._book.trace, position)

    async def search(
        self, query: str, kind: str | Sequence[str] | None = None, limit: int = 10, session: str | None = None,
        **filters: Any,
    ) -> list[Answer]:  # fmt: skip
        return await _call(self._book.search, query, kind, limit, session, **filters)

    async def recall(self, position: int, around: int = 0) -> list[Answer]:
        return await _call(self._book.recall, position, around)

    async def export_log(self, target: Any, *, all_workspaces: bool = False) -> Answer:
        return await _call(self._book.export_log, target, all_workspaces=all_workspaces)

    async def import_log(self, source: Any) -> Answer:
        return await _call(self._book.import_log, source)

    async def backup(self, target: Any, *, all_workspaces: bool = False) -> Answer:
        return await _call(self._book.backup, target, all_workspaces=all_workspaces)

    async def erase(self, kind: str, id: str | int, **options: Any) -> Answer:
        return await _call(partial(self._book.erase, kind, id, **options))

    async def verify(self) -> Answer:
        return await _call(self._book.verify)

    async def status(self) -> Answer:
        return await _call(self._book.status)

    async def _leave(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _take(events: Iterator[T], count: int) -> list[T]:
    return [event for _, event in zip(range(count), events, strict=False)]


def _synchronous(plug_in: Any, method: str, loop: asyncio.AbstractEventLoop) -> Any:
    """A coroutine function as a plain one that waits, in its worker thread, for the loop."""
    function = getattr(plug_in, method, plug_in)
    if not inspect.iscoroutinefunction(function):
        return plug_in

    return _Waiting(function, loop, str(getattr(plug_in, "name", None) or getattr(function, "__name__", method)))


class _Waiting:
    """Runs a coroutine function on the loop and waits for it in a worker thread."""

    def __init__(self, function: Callable[[Any], Any], loop: asyncio.AbstractEventLoop, name: str) -> None:
        self._function = function
        self._loop = loop
        self._asked: Future[Any] | None = None
        self.name = name

    def __call__(self, request: Any) -> Any:
        self._asked = asyncio.run_coroutine_threadsafe(self._function(request), self._loop)
        return self._asked.result()

    def give_up(self) -> None:
        """Nobody waits for the last answer any more: its coroutine is cancelled."""
        if self._asked is not None:
            self._asked.cancel()
