"""The composition root and the public object: one open book of one workspace."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from ...domain.checks import checking
from ...domain.errors import MemoryFault, SessionError, StoreError
from ..settings import Settings
from ..store.database import Access, Database
from ..store.failpoints import failpoint
from ..store.keeping import sweep
from ..store.log import Log
from ..store.system import telling
from ..work import conversation, exporting, importing, looking, plugging, searching, tracing, undoing, verifying
from ..work.evidence import evidence_of
from ..work.exporting import Lines, Sink
from ..work.extras import counter_of, curator_of, extractor_of, meaning_of, redactor_of, summarizer_of
from ..work.file_owner import FileOwner
from ..work.forgetting import guarded
from ..work.identity import register, release
from ..work.memory_root import common_scope, keeping, root_of, scope
from ..work.publisher import Publisher
from ..work.runtime import Runtime, new_id
from ..work.schedule import Curating
from ..work.transcripts import Progress
from ..work.workspace import Workspace
from .answers import Answer
from .catalogue import projections_of
from .erasing import Erasing
from .evidence import Evidence
from .given import advancing, effective_settings, refuse_reserved, transcript_source, usable, utc, writable
from .memory import Memory
from .projections import ProjectionsFace
from .run import Run
from .session import Session
from .shared_memory import Common, Sharing
from .upkeep import Upkeep, place_of_book


class Minutebook(Upkeep, Erasing, Sharing):
    """The minutes of one workspace: its log, its sessions, its memory. Made by ``open``."""

    def __init__(
        self,
        runtime: Runtime,
        root: Path,
        workspace: Workspace,
        summarizer: Any,
        curator: Any,
        extractor: Any,
        *,
        automatic: bool,
        common: Common | None = None,
    ) -> None:
        self._runtime = runtime
        self._root = root
        self._common = common
        self._summarizer = summarizer
        self._publisher = Publisher(
            runtime.log,
            workspace,
            runtime.settings,
            runtime.now,
            advance=advancing(runtime),
            owner=FileOwner(runtime, workspace.root),
            check=runtime.check,
        )
        evidence = evidence_of(runtime, self._publisher, root, extractor)
        wanted = evidence if runtime.settings.evidence_enabled else None
        self._curating = Curating(runtime, self._publisher, curator, wanted, automatic=automatic)
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()
        self._closed = False
        self.memory = Memory(runtime, self._publisher, self._curating)
        self.evidence = Evidence(runtime, evidence)
        self.projections = ProjectionsFace(runtime, self._publisher)
        self._can_erase(runtime, self._publisher)

    # --- opening and closing

    @classmethod
    def open(
        cls,
        workspace: str | Path = ".",
        *,
        database: str | None = None,
        settings: Settings | None = None,
        summarizer: Any = None,
        curator: Any = None,
        extractor: Any = None,
        clock: Callable[[], datetime] | None = None,
        embed: Callable[[list[str]], Any] | None = None,
        read_only: bool = False,
        access: Access | None = None,
        automatic: bool | None = None,
    ) -> Minutebook:
        """Opens the book of a workspace; one open is one runtime (D7). Use it as a context manager.

        ``database`` is an SQLAlchemy URL (default: ``MINUTEBOOK_DATABASE``, else SQLite in the workspace); on a
        server a workspace that names no ``workspace_id`` gets one of its own. ``summarizer`` and ``curator`` are
        objects of the two protocols or plain functions of one argument (when given they win over the settings
        ``summarizer_model`` and ``curator_model``), ``extractor`` one of the third (``evidence_model``), which reads
        runs for evidence beside the rules; ``clock`` returns an aware datetime.
        ``embed`` gives texts vectors for a search by meaning; it wins over the setting ``embedder`` (extra vectors).
        ``read_only=True`` looks without recovering, freezing, interrupting or writing anything. ``access="look"``
        does the same but may bring projections up to date. ``automatic=False`` starts no curation in the background.
        Raises InputError (``bad_database_url``, ``driver_missing``, ``extra_missing`` and others), StoreError
        ``not_a_book``, ``schema_newer``, ``schema_older``, ``store_locked``, ``store_corrupt``, ``store_unreachable``.
        """
        usable(summarizer, "summarizer", "summarize")
        usable(curator, "curator", "curate")
        usable(extractor, "extractor", "extract")
        usable(embed, "embedder", "embed")
        access = access or ("read_only" if read_only else "write")
        root = Path(workspace)
        effective = effective_settings(root, settings)
        counter, redact = counter_of(effective), redactor_of(effective)
        check = checking(redact, effective.secret_scanner)
        if access == "write":  # a reader asks no model
            summarizer = summarizer_of(effective) if summarizer is None else summarizer
            curator = curator_of(effective) if curator is None else curator
            extractor = extractor_of(effective) if extractor is None else extractor
        apart = root_of(root, effective)
        place = here = Workspace.of(root, effective)
        if access == "write":
            with telling(f"the workspace {root} cannot be made"):
                root.mkdir(parents=True, exist_ok=True)
            place.prepare()
        where = place_of_book(root, database, effective)
        if access == "look" and isinstance(where, Path) and not writable(where):
            access = "read_only"
        store = Database(where, access=access, lock_timeout=effective.lock_timeout_seconds)
        if (apart is not None or not store.sqlite) and "workspace_id" not in effective.model_fields_set:
            # A server and a root are shared: folders that name no id must not meet in it (D17, D18).
            effective = effective.model_copy(update={"workspace_id": here.own_id(make=access == "write")})
        owner = register(new_id("r"))
        try:
            log = Log(store)
            meaning = meaning_of(effective, embed)
            projections = projections_of(log, effective, meaning)
            runtime = Runtime(log, projections, effective, clock or utc, owner, counter, redact, check, meaning=meaning)
            runtime = replace(runtime, check=guarded(runtime, check))
            common = None
            if apart is not None:
                place = scope(apart, runtime.workspace, effective, make=access == "write")
                if effective.memory_common != "none":
                    common = Common(*common_scope(runtime, apart, check, curator, advancing(runtime)))
            book = cls(
                runtime,
                here.root,
                place,
                summarizer,
                curator,
                extractor,
                automatic=effective.curation_automatic if automatic is None else automatic,
                common=common,
            )
            if access == "write":
                book._start()
        except BaseException:
            release(owner.runtime)
            store.close()
            raise
        return book

    def _start(self) -> None:
        # A start is a writer: what dead owners left open is ended, a half-done file write is finished (M2, D5).
        try:
            self._publisher.recover()
        except (MemoryFault, StoreError) as error:
            # A bad memory file or a busy lock is named by status; it never keeps a conversation from starting (S3).
            self._curating.last_error = f"{error.code}: {error.message}"
        sweep(keeping(self._root, self._runtime.settings).folder)
        failpoint("start.recovered")
        try:
            plugging.settle(self._runtime)
            for session in looking.sessions_with_open_run(self._runtime):
                conversation.interrupt_if_dead(self._runtime, session)
        except StoreError as error:
            # A damaged read model must not keep out the very rebuild that mends it; opening a session looks again.
            self._curating.last_error = f"{error.code}: {error.message}"
        self._erasures.start()
        self._curating.start()
        failpoint("start.ready")

    def close(self) -> None:
        """Ends this runtime: open runs are interrupted, a curation under way is waited for, a while (D6)."""
        if self._closed:
            return
        self._closed = True
        try:
            for run in list(self._runs):
                run._interrupt()
            self._curating.stop()
            if self._runtime.writes:
                self._runtime.projections.settle()
        finally:
            release(self._runtime.id)
            self._runtime.log.database.close()

    def __enter__(self) -> Minutebook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- sessions

    def session(self, id: str | None = None, resume: bool = False) -> Session:
        """Opens a session or goes on with it; ``resume=True`` reads the newest memory (D7).

        A book opened for reading raises SessionError ``unknown_session`` for one that is not there.
        """
        refuse_reserved(id)
        if self._runtime.writes:
            id = id or new_id("s")
            if conversation.open_session(self._runtime, id):
                self._wake_curator("session_created")
        else:
            id = id or self.latest_session()
            conversation.require_session(self._runtime, id)
        return Session(self, id, resume=resume)

    def find_session(self, id: str) -> Session:
        """The session of that id, neither made nor opened again. Raises SessionError ``unknown_session``."""
        conversation.require_session(self._runtime, id)
        return Session(self, id)

    def sessions(self) -> list[Answer]:
        """All sessions, the latest first: ``session``, ``messages``, ``runs``, ``tokens``, ``compactions``."""
        return [Answer(row) for row in looking.sessions(self._runtime)]

    def session_row(self, session: str) -> Answer:
        """The line that ``sessions`` has for one session. Raises SessionError ``unknown_session``."""
        conversation.require_session(self._runtime, session)
        return Answer(looking.session_row(self._runtime, session))

    def latest_session(self) -> str:
        """The session with the newest event. Raises SessionError ``unknown_session`` when there is none."""
        rows = looking.sessions(self._runtime)
        if not rows:
            raise SessionError("there are no sessions yet; import a transcript or open one", code="unknown_session")
        return str(rows[0]["session"])

    def import_transcript(
        self,
        source: str | Path | bytes,
        *,
        format: str = "auto",
        session: str | None = None,
        progress: Progress | None = None,
    ) -> Answer:
        """Records a transcript file; the same file again adds only its new tail. Raises ``bad_transcript``.

        A file of several conversations is refused with ``several_conversations``: see ``import_transcripts``.
        """
        refuse_reserved(session)
        data = transcript_source(source)
        done = importing.import_transcript(self._runtime, data, format=format, session=session, progress=progress)
        return Answer(importing.answer(done))

    def import_transcripts(
        self,
        source: str | Path | bytes,
        *,
        format: str = "auto",
        session: str | None = None,
        progress: Progress | None = None,
    ) -> list[Answer]:
        """Records every conversation of a file as a session of its own; most files hold one."""
        refuse_reserved(session)
        data = transcript_source(source)
        done = importing.import_transcripts(self._runtime, data, format=format, session=session, progress=progress)
        return [Answer(importing.answer(one)) for one in done]

    def undo_compaction(self, compaction: str, session: str | None = None) -> Answer:
        """Takes the live compaction back; last in, first out (C7). A fork that shares it is named by ``session``."""
        return Answer(undoing.undo(self._runtime, compaction, session))

    def redo_compaction(self, compaction: str, session: str | None = None) -> Answer:
        """Makes the last undone compaction live again (C7). A fork that shares it is named by ``session``."""
        return Answer(undoing.redo(self._runtime, compaction, session))

    # --- memory

    def curate(self) -> Answer:
        """Turns admitted candidates into the next revision: ``job``, ``status``, ``revision``, ``reasons`` (D4).

        Raises MemoryFault ``memory_drift`` while the file is not what the log says.
        """
        self._runtime.require_writing("a curation")
        return Answer(self._curating.curate())

    def usage(self) -> Answer:
        """Tokens of compressor and curator, apart from any run's own (D10)."""
        return Answer(looking.usage(self._runtime))

    # --- looking and proving

    @property
    def head(self) -> int:
        """The last position of the log; 0 when it is empty."""
        return self._runtime.log.head().position

    @property
    def settings(self) -> Settings:
        return self._runtime.settings

    @property
    def workspace(self) -> Path:
        return self._root

    def log(self, after: int = 0, before: int | None = None, **filters: Any) -> Iterator[Answer]:
        """Iterates events in order: ``position``, ``type``, ``stream``, ``version``, ``time``, ``body`` and more.

        Filters: ``type``, ``session``, ``run``, ``stream``, ``since``, ``until`` (ISO 8601), ``limit``.
        """
        return (Answer(event) for event in looking.log(self._runtime, after=after, before=before, **filters))

    def trace(self, position: int) -> list[Answer]:
        """The chain of events behind a position, and what came of it (E4)."""
        return [Answer(item) for item in tracing.trace(self._runtime, position)]

    def search(
        self, query: str, kind: str | Sequence[str] | None = None, limit: int = 10, session: str | None = None,
        **filters: Any,
    ) -> list[Answer]:  # fmt: skip
        """What was said and is remembered about something, best first, each hit with its exact source (D17).

        ``query``: words, and phrases in double quotes that a hit must hold. ``kind``: ``entries``, ``evidence``,
        ``messages``, several with ``/`` (default: all; of a session its messages). Filters: ``role``, ``run``,
        ``since``, ``until`` (ISO 8601), ``at`` (a position), ``around`` (neighbours shown with a hit).
        A hit has ``score`` and its ``factors``, ``kind``, ``id``, ``position``, ``text``, ``session`` and more; one of
        ``evidence`` (a claim) its packet, ``state`` and ``messages``. What was forgotten is found no more (D16).
        Raises InputError ``bad_value``, ``bad_option``, ``unknown_position``; SessionError ``unknown_session``.
        """
        asked = searching.wanted(self._runtime, query, kind=kind, limit=limit, session=session, **filters)
        return [Answer(hit) for hit in searching.search(self._runtime, asked)]

    def recall(self, position: int, around: int = 0) -> list[Answer]:
        """The original message at a position, with ``around`` neighbours on either side (D17)."""
        return [Answer(known) for known in looking.recall(self._runtime, position, around)]

    def export_log(self, target: str | Path | Sink, *, all_workspaces: bool = False) -> Answer:
        """Writes the whole log as JSON Lines to a path or a binary file: ``events``, ``head``, ``chain`` (E4)."""
        place = Path(target) if isinstance(target, str) else target
        return Answer(exporting.export_log(self._runtime, place, all_workspaces=all_workspaces))

    def import_log(self, source: str | Path | Lines) -> Answer:
        """Fills this empty book with an exported log: all of it or nothing (E4).

        Raises ``store_not_empty``, ``export_damaged``, ``export_newer``, ``not_an_export``.
        """
        place = Path(source) if isinstance(source, str) else source
        return Answer(exporting.import_log(self._runtime, self._publisher, place))

    def verify(self) -> Answer:
        """Replays the log and recomputes everything: ``ok``, ``events``, ``head``, ``checks`` (E1)."""
        return Answer(verifying.verify(self._runtime, self._publisher))

    def status(self) -> Answer:
        """One page: sessions, memory, projections, last failures."""
        answer = Answer(looking.status(self._runtime, self._root, self.memory.status()))
        answer["erasures"] = self._erasures.unfinished()
        if answer["latest"]:
            latest = str(answer["latest"][0]["session"])
            said = self.find_session(latest)._crowded()
            answer["compaction_note"] = "; ".join(filter(None, (answer["compaction_note"], said))) or None
        return answer

    # --- what the curator listens for

    def _wake_curator(self, reason: str) -> None:
        self._curating.wake(reason)

    def _after_run(self, proposed: int) -> None:
        if proposed:
            self._curating.wake_at_threshold()
