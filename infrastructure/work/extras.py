"""Optional parts that a setting asks for: imported here and nowhere else, refused by name when they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...domain.checks import redact_credentials
from ...domain.errors import InputError
from ...domain.redaction import Redact
from ...domain.tokens import ESTIMATE, Counter
from ..settings import Settings

if TYPE_CHECKING:
    from .meaning import Embed, Meaning
    from .models import ModelCurator, ModelExtractor, ModelSummarizer

OF_THE_TIMEOUT = 0.95
"""A model's own deadline, as a share of the time it is waited for: it ends and says why before it is given up."""


def summarizer_of(settings: Settings) -> ModelSummarizer | None:
    """The summariser that ``summarizer_model`` names; None: the built-in one.

    Raises InputError ``extra_missing``, ``bad_setting``, ``model_unusable``.
    """
    if not settings.summarizer_model:
        return None
    try:
        from .models import ModelSummarizer
    except ImportError as error:
        raise _missing("summarizer_model", settings.summarizer_model, error) from error
    seconds = settings.summarizer_timeout_seconds * OF_THE_TIMEOUT
    return ModelSummarizer(settings.summarizer_model, seconds=seconds, output=settings.summarizer_output)


def curator_of(settings: Settings) -> ModelCurator | None:
    """The curator that ``curator_model`` names; None: the built-in one. Raises as ``summarizer_of``."""
    if not settings.curator_model:
        return None
    try:
        from .models import ModelCurator
    except ImportError as error:
        raise _missing("curator_model", settings.curator_model, error) from error
    seconds = settings.curator_timeout_seconds * OF_THE_TIMEOUT
    return ModelCurator(settings.curator_model, seconds=seconds, output=settings.curator_output)


def extractor_of(settings: Settings) -> ModelExtractor | None:
    """The extractor that ``evidence_model`` names; None: the rules alone. Raises as ``summarizer_of``."""
    if not settings.evidence_model:
        return None
    try:
        from .models import ModelExtractor
    except ImportError as error:
        raise _missing("evidence_model", settings.evidence_model, error) from error
    seconds = settings.curator_timeout_seconds * OF_THE_TIMEOUT
    return ModelExtractor(settings.evidence_model, seconds=seconds, output=settings.curator_output)


def counter_of(settings: Settings) -> Counter:
    """The counter that ``token_counter`` names. Raises InputError ``extra_missing``."""
    kind, _, vocabulary = settings.token_counter.partition(":")
    if kind == "estimate":
        return ESTIMATE
    try:
        from .vocabulary import counter
    except ImportError as error:
        raise _missing("token_counter", settings.token_counter, error, extra="tokens") from error
    return counter(vocabulary)


def redactor_of(settings: Settings) -> Redact:
    """What takes credentials out of a text: our rules, or the library besides. Raises InputError ``extra_missing``."""
    if settings.secret_scanner == "rules":
        return redact_credentials
    try:
        from .secret_scanner import redact_with_library
    except ImportError as error:
        raise _missing("secret_scanner", settings.secret_scanner, error, extra="secrets") from error
    return redact_with_library


def meaning_of(settings: Settings, embed: Embed | None) -> Meaning | None:
    """Who ranks by likeness of meaning: with the function that is given, else what ``embedder`` names; None: nobody.

    Raises InputError ``extra_missing``.
    """
    if embed is None and settings.embedder == "none":
        return None
    try:
        from .meaning import GivenEmbedder, Meaning, wordllama

        embedder = wordllama() if embed is None else GivenEmbedder(embed)
    except ImportError as error:
        if embed is not None:
            raise InputError(
                f"embed= needs numpy, which comes with an extra: pip install 'minutebook[vectors]' ({error})",
                code="extra_missing",
            ) from error
        raise _missing("embedder", settings.embedder, error, extra="vectors") from error
    return Meaning(embedder, settings.workspace_id)


def _missing(setting: str, value: str, error: ImportError, *, extra: str = "models") -> InputError:
    return InputError(
        f"the setting {setting} is {value!r}, which needs an extra: pip install 'minutebook[{extra}]' ({error})",
        code="extra_missing",
        setting=setting,
    )
