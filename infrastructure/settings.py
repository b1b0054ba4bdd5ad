"""Every limit and switch, with its unit last and its reason; from code, environment or file (surface.md).

Precedence, strongest first: what is passed in Python, ``MINUTEBOOK_<FIELD>`` in the environment,
``minutebook.toml`` in the workspace, ``[tool.minutebook]`` in its ``pyproject.toml``, the default here.
"""

from __future__ import annotations

import difflib
import errno
import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ..domain.errors import InputError
from ..domain.policy import ToolHint
from ..domain.structured import Output

PREFIX = "MINUTEBOOK_"
NUMBER_MAX = 1_000_000_000
"""No setting is larger: a thousand million tokens, bytes or seconds."""


class Settings(BaseModel):
    """The settings of one book: frozen, validated, every field with its default and reason."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    if not TYPE_CHECKING:  # editors and mypy know the fields by name

        def __init__(self, **values: Any) -> None:
            """Raises InputError ``bad_setting`` for a value, or a name, that is none."""
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise _refused(error, {}) from error

    # --- context
    context_window: int = Field(default=200_000, ge=1, description="Tokens that the model takes in one request.")
    answer_reserve: int | None = Field(
        default=None,
        ge=0,
        description="Tokens kept free for the answer; unset: an eighth of the window, at most 16,384.",
    )
    token_counter: Literal["estimate", "bpe:o200k", "bpe:cl100k", "bpe:voyage3"] = Field(
        default="estimate",
        description="Who counts tokens: the estimate, or the exact vocabulary of a model family (extra tokens) (M5).",
    )
    compaction_enabled: bool = Field(default=True, description="Off: context() reduces and summarises nothing.")
    compaction_threshold: float = Field(
        default=0.5, gt=0, le=1, description="Share of the window at which the compressor runs (C1)."
    )
    compaction_threshold_tokens: int | None = Field(
        default=None, ge=1, description="The same as an absolute number of tokens; when set it wins (C1)."
    )
    protect_first: int = Field(default=3, ge=0, description="First messages that are never summarised (C2).")
    protect_recent: int = Field(default=8, ge=0, description="Recent messages that are never summarised (C2).")
    summary_tokens_max: int = Field(default=4_000, ge=200, description="A longer summary is refused (C4).")
    summarizer_model: str | None = Field(
        default=None,
        description="Model that summarises, as provider:name (extra models); unset: extractive, without a model.",
    )
    summarizer_output: Output = Field(
        default="auto",
        description="How that model is asked: structured (a JSON schema goes beside the prompt), text (none does), "
        "auto (a schema where the model takes one) (C12).",
    )
    summarizer_input_tokens: int = Field(
        default=60_000, ge=1_000, description="Material of one call of the summariser; more is folded in chunks (C2)."
    )
    tool_hints: tuple[ToolHint, ...] = Field(
        default=(),
        description="What a reduction should know about single tools: tables with tool (a name, * stands for any text) "
        "and keep, result_chars_long or arguments; as JSON in the environment (C3).",
    )
    summarizer_timeout_seconds: float = Field(default=120.0, gt=0, description="A later answer is refused (C5).")

    # --- memory
    memory_enabled: bool = Field(default=True, description="Off: no memory block, no candidates, no curation.")
    memory_path: str = Field(
        default=".tinyagent/memory/MEMORY.md", description="The memory file, inside the workspace (D1)."
    )
    memory_root: str | None = Field(
        default=None,
        description="Folder outside the workspace that holds database and memory files, of each workspace apart; "
        "several workspaces may share it. Unset: all lies in the workspace (D18).",
    )
    memory_common: Literal["none", "read", "write"] = Field(
        default="none",
        description="The memory in common of a memory_root: not seen, shown beside one's own, or changed too (D18).",
    )
    memory_chars_max: int = Field(
        default=16_000, ge=1, description="Characters of the document, delimiters included (D4)."
    )
    memory_entries_max: int = Field(default=200, ge=1, description="Entries of the document.")
    memory_tokens_max: int = Field(default=8_000, ge=1, description="Tokens of the document (D4).")
    memory_file_bytes_max: int = Field(default=1_000_000, ge=1, description="A larger MEMORY.md is not read (D12).")
    entry_chars_max: int = Field(default=1_000, ge=1, description="Characters of one entry (D4).")
    candidates_per_run_max: int = Field(default=50, ge=1, description="Proposals of one run.")
    operations_per_batch_max: int = Field(default=100, ge=1, description="Operations in one batch (D2).")
    curate_after_events: int = Field(
        default=8, ge=1, description="Pending candidates at which the curator starts in the background (D6)."
    )
    curation_automatic: bool = Field(
        default=True, description="Off: only an explicit curate or sync starts the curator."
    )
    curator_model: str | None = Field(
        default=None,
        description="Model that curates, as provider:name (extra models); unset: by rules, without a model.",
    )
    curator_output: Output = Field(
        default="auto", description="How that model is asked: auto, structured or text, as summarizer_output (D4)."
    )
    curator_timeout_seconds: float = Field(default=120.0, gt=0, description="A later answer is refused (D6).")
    curator_answer_bytes_max: int = Field(default=256_000, ge=1, description="A longer answer is refused unread.")
    curation_attempts_max: int = Field(default=5, ge=1, description="Failures after which a batch is set aside (D4).")
    evidence_enabled: bool = Field(
        default=True,
        description="Off: completed runs are not read for evidence; only what was proposed becomes memory (D14).",
    )
    evidence_model: str | None = Field(
        default=None,
        description="Model that reads completed runs for evidence beside the rules, as provider:name (extra models); "
        "unset: by rules alone (D14).",
    )
    quarantine_tool_candidates: bool = Field(
        default=True, description="Candidates of tool or external trust wait for a person's approval (D13)."
    )

    secret_scanner: Literal["rules", "detect-secrets"] = Field(
        "rules",
        description="Who looks for credentials in messages and in every entry that comes in: our rules, or also the "
        "detectors of the detect-secrets library (extra secrets) (D4).",
    )

    # --- search
    embedder: Literal["none", "wordllama"] = Field(
        default="none",
        description="Who gives a search likeness of meaning besides words: nobody, or wordllama, which works offline "
        "(extra vectors); another one makes the vectors again (D17).",
    )

    # --- messages, runs, store
    redact_messages: bool = Field(
        default=False,
        description="On: credentials are taken out of messages before they are stored, for good; the original text "
        "of such a message is then kept nowhere (M1).",
    )
    message_bytes_max: int = Field(default=64_000_000, ge=1, description="A larger message is refused.")
    lease_seconds: float = Field(
        default=300.0, gt=0, description="An open run on another host is dead when it was silent for so long (M2)."
    )
    lock_timeout_seconds: float = Field(
        default=5.0, ge=0, description="How long a writer waits for another, or for a server that went away."
    )
    workspace_id: str = Field(
        default="local",
        min_length=1,
        max_length=200,
        description="Names this workspace in a database that several share; unset on a server: an id of its own, in "
        "`.tinyagent/workspace-id`.",
    )
    projections: tuple[str, ...] = Field(
        default=(), description="Plug-in projections to load, by entry-point name (E5)."
    )
    worker_lease_seconds: float = Field(
        default=15.0, gt=0, description="After so long another worker takes over what a silent one followed."
    )
    worker_poll_seconds_max: float = Field(
        default=2.0, gt=0, description="How rarely an idle worker looks at the log; what a lost hint costs."
    )
    projection_seconds_max: float = Field(
        default=2.0,
        gt=0,
        description="How long a plug-in projection may take for one event before it counts as halted (E6); on SQLite "
        "keep it below lock_timeout_seconds, for nobody appends meanwhile.",
    )

    @field_validator("memory_path")
    @classmethod
    def _inside(cls, value: str) -> str:
        path = Path(value)
        if path.is_absolute() or ".." in path.parts or not path.name or "\0" in value:
            raise ValueError("must be a relative path inside the workspace, without '..'")
        if path.parts[0] == ".tinyagent" and len(path.parts) == 2 and not path.name.endswith(".md"):
            # The database, its companions, the lock and the ignore file live there.
            raise ValueError("must not be one of minutebook's own files; in .tinyagent itself, name a .md file")
        if path.as_posix().casefold() in ("minutebook.toml", "pyproject.toml"):
            raise ValueError("must not be the file that holds the settings; name a .md file")
        return value

    @field_validator("memory_root")
    @classmethod
    def _apart(cls, value: str | None) -> str | None:
        if value is not None and ("\0" in value or ".." in Path(value).parts or not value.startswith(("/", "~"))):
            raise ValueError("must be the whole path of a folder, without '..'")
        return value

    @field_validator("workspace_id")
    @classmethod
    def _own(cls, value: str) -> str:
        if value.startswith("@"):
            raise ValueError("must not begin with '@': such names are minutebook's own")
        return value

    @field_validator("tool_hints", mode="before")
    @classmethod
    def _hints(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError('must be a JSON array such as [{"tool": "read_*", "keep": true}]') from error

    @field_validator("projections", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value

    @field_validator("*")
    @classmethod
    def _within_reason(cls, value: Any) -> Any:
        # Beyond this nothing is meant by a number, and clocks, databases and JSON begin to disagree about it.
        if isinstance(value, int | float) and not isinstance(value, bool) and value > NUMBER_MAX:
            raise ValueError(f"must be at most {NUMBER_MAX:,}")
        if any("\ud800" <= char <= "\udfff" for text in _texts(value) for char in text):
            # Bytes of the environment that are not UTF-8 arrive like this; no event could hold them.
            raise ValueError("must be text in UTF-8")
        return value

    @model_validator(mode="after")
    def _sizes(self) -> Settings:
        if self.answer_reserve is not None and self.answer_reserve >= self.context_window:
            raise ValueError("answer_reserve must be smaller than context_window")
        if self.memory_common != "none" and self.memory_root is None:
            raise ValueError("memory_common needs memory_root: the folder that the workspaces share")
        return self

    @property
    def reserve(self) -> int:
        """Tokens kept free for the answer."""
        if self.answer_reserve is not None:
            return self.answer_reserve
        return min(16_384, self.context_window // 8)

    @property
    def trigger(self) -> int:
        """Tokens of the whole request, reserve included, at which the compressor runs (C1)."""
        if self.compaction_threshold_tokens is not None:
            return self.compaction_threshold_tokens
        return int(self.context_window * self.compaction_threshold)

    @classmethod
    def load(cls, workspace: Path | None = None, *, environ: Mapping[str, str] | None = None, **given: Any) -> Settings:
        """Settings for a workspace from every source. Raises InputError ``bad_setting``."""
        values, origins = cls._sources(workspace, os.environ if environ is None else environ)
        values.update(given)
        origins.update(dict.fromkeys(given, "argument"))
        return _settings(values, origins)

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> Settings:
        """Settings from values alone, whatever files and environment say. Raises InputError ``bad_setting``."""
        return _settings(values, dict.fromkeys(values, "argument"))

    @classmethod
    def explain(
        cls, workspace: Path | None = None, *, environ: Mapping[str, str] | None = None
    ) -> list[tuple[str, Any, str]]:
        """Every setting as (name, effective value, where it came from)."""
        values, origins = cls._sources(workspace, os.environ if environ is None else environ)
        settings = _settings(values, origins)
        return [(name, getattr(settings, name), origins.get(name, "default")) for name in cls.model_fields]

    @classmethod
    def _sources(cls, workspace: Path | None, environ: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}

        def take(found: Mapping[str, Any], origin: str) -> None:
            for name, value in found.items():
                if name not in cls.model_fields:
                    raise InputError(
                        f"{origin} sets {name!r}, which is no setting; 'minutebook init' lists them all",
                        code="bad_setting",
                        setting=name,
                    )
                values[name], origins[name] = value, origin

        if workspace is not None:
            for file, keys in (("pyproject.toml", ("tool", "minutebook")), ("minutebook.toml", ())):
                take(_toml(workspace / file, keys), file)
        # DATABASE, WORKSPACE and TEST_* belong to the command line and the tests, not to these settings.
        take(
            {
                key[len(PREFIX) :].lower(): value
                for key, value in environ.items()
                if key.startswith(PREFIX) and key[len(PREFIX) :].lower() in cls.model_fields
            },
            "environment",
        )
        return values, origins


def _texts(value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, tuple) else (value,)
    return tuple(one for one in values if isinstance(one, str))


def _settings(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    try:
        return Settings(**values)
    except InputError as error:
        cause = error.__cause__
        if not isinstance(cause, ValidationError):
            raise
        raise _refused(cause, origins) from error


def _refused(error: ValidationError, origins: Mapping[str, str]) -> InputError:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "settings"
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, Settings.model_fields, 1)
        meant = f"did you mean {near[0]!r}?" if near else "docs/reference/settings.md has all of them"
        return InputError(f"there is no setting {name!r}; {meant}", code="bad_setting", setting=name)
    origin = f" from {origins[name]}" if name in origins else ""
    # What is wrong between two settings is given all of them, which nobody wants to read.
    given = f" (given {ascii(first.get('input'))[:80]})" if first["loc"] else ""
    said = f"setting {name!r}{origin}" if first["loc"] else "the settings"
    mend = "correct it there" if origin or not first["loc"] else "correct it"
    return InputError(
        f"{said}: {first['msg'].removeprefix('Value error, ')}{given}; {mend}", code="bad_setting", setting=name
    )


def _toml(path: Path, keys: tuple[str, ...]) -> dict[str, Any]:
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            return {}
        raise InputError(
            f"{path.name} cannot be read: {error.strerror}; make it readable for you, or remove it", code="bad_setting"
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path.name} cannot be read: {error}; correct it or remove it", code="bad_setting") from error
    for key in keys:
        table = table.get(key, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise InputError(f"{path.name}: [{'.'.join(keys)}] must be a table", code="bad_setting")
    return table
