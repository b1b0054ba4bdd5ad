"""A model of any provider as summariser or curator, on pydantic-ai (C12, D10).

This file belongs to the extra ``models`` and is imported only where a setting or a caller names a model.

A model is named ``provider:name`` (``openai:gpt-5-mini``, ``anthropic:claude-haiku-4-5``, ...); its key and base
URL come from the environment variables of that provider (``OPENAI_API_KEY``, ``OPENAI_BASE_URL``, ...).
``openai:`` is the chat completions API, which every compatible server speaks; ``openai-responses:`` the other.

What is sent is ``request.prompt`` as one user message and nothing else: no system prompt, no schema, no tools. The
answer is taken as plain text, because the summariser's form is Markdown with fixed headings, small and local
servers have no structured output, and what comes back is parsed and checked strictly in any case (C5, D4).
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections.abc import Mapping
from typing import Any, Protocol

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model, infer_model
from pydantic_ai.settings import ModelSettings

from ...domain.catalogue import Usage
from ...domain.errors import InputError
from ...domain.summary import Completion

ATTEMPTS_MAX = 4
"""Requests for one answer: the first, and three more after what may pass."""
BACK_OFF_SECONDS = 1.0
BACK_OFF_SECONDS_MAX = 30.0
PASSING = frozenset({408, 425, 429})
"""Refusals of the moment; so is every status from 500 on."""
SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Ends of the names of environment variables whose values are never repeated."""
SAID_CHARS_MAX = 2_000
"""What is kept of a provider's words about a failure."""


class ModelUnavailable(Exception):
    """The provider was busy, broken or out of reach, also after waiting: 429, 5xx, no connection, a cut answer."""


class ModelRefused(Exception):
    """The provider will not take the request, whenever it is sent: a bad key or name, no credit, too long."""


class ModelTimedOut(Exception):
    """No answer came in time, all attempts and waits counted."""


class ModelAnswerUnreadable(Exception):
    """What came is no answer of this API: no JSON, another content type, fields missing."""


class Prompted(Protocol):
    """A request of either protocol: ``prompt`` is the whole text to send."""

    @property
    def prompt(self) -> str: ...


class _Named:
    """What summariser and curator share: one model, one deadline, one way of asking."""

    def __init__(
        self,
        model: str,
        *,
        seconds: float = 120.0,
        attempts_max: int = ATTEMPTS_MAX,
        back_off_seconds: float = BACK_OFF_SECONDS,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = model
        self._seconds = seconds
        self._attempts_max = attempts_max
        self._back_off = back_off_seconds
        self._settings = {"max_retries": 0, **(settings or {})}  # the client of the provider would retry on its own
        _made(model)  # told now, not when the window is full

    def _ask(self, request: Prompted) -> Completion:
        return asyncio.run(self._answer(request.prompt))

    async def _answer(self, prompt: str) -> Completion:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                return await self._attempts(prompt, began + self._seconds)
        except TimeoutError as error:
            raise ModelTimedOut(f"{self.name} gave no answer within {self._seconds:g} seconds") from error

    async def _attempts(self, prompt: str, deadline: float) -> Completion:
        # A model of its own for each answer: its connections belong to this event loop and end with it.
        async with _made(self.name) as model:
            attempt = 1
            while True:
                try:
                    return _completion(await self._request(model, prompt))
                except ModelUnavailable as error:
                    wait = self._wait(attempt, error.__cause__)
                    if attempt >= self._attempts_max or time.monotonic() + wait >= deadline:
                        raise ModelUnavailable(f"{error} (attempt {attempt})") from error.__cause__
                await asyncio.sleep(wait)
                attempt += 1

    async def _request(self, model: Model, prompt: str) -> ModelResponse:
        message = ModelRequest(parts=[UserPromptPart(content=prompt)])
        settings = ModelSettings(**self._settings)  # type: ignore[typeddict-item]
        if "max_retries" in model.unsupported_settings:
            settings.pop("max_retries", None)
        try:
            return await model_request(model, [message], model_settings=settings)
        except exceptions.ModelHTTPError as error:
            raise _of_status(error) from error
        except exceptions.ModelConnectionError as error:
            raise ModelUnavailable(_said(error)) from error
        except (exceptions.ModelAPIError, exceptions.UnexpectedModelBehavior) as error:
            raise ModelAnswerUnreadable(_said(error)) from error
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            # Tried: an answer without choices is an IndexError of the adapter.
            raise ModelAnswerUnreadable(f"{type(error).__name__}: {_said(error)}") from error

    def _wait(self, attempt: int, error: BaseException | None) -> float:
        """Seconds before the next attempt: what the provider asked for, or twice as long each time, jittered."""
        asked = getattr(error, "retry_after", None)
        if isinstance(asked, int | float) and asked >= 0:
            return float(asked)
        most = min(self._back_off * 2.0 ** (attempt - 1), BACK_OFF_SECONDS_MAX)
        return most * random.uniform(0.5, 1.0)


class ModelSummarizer(_Named):
    """Summarises with a model (C12): ``ModelSummarizer("openai:gpt-5-mini")``; the events name the model.

    ``seconds`` bounds an answer with all its attempts; ``settings`` go to the provider as they are
    (``{"max_tokens": 16_000}``; by default no bound is sent, because models that think count their thoughts in it).
    Raises InputError ``extra_missing``, ``bad_setting`` or ``model_unusable`` at once; ``summarize`` raises one of the
    exceptions of this module, and then nothing changes (C5).
    """

    def summarize(self, request: Prompted) -> Completion:
        """The answer as it came, its usage, and the provider's reason for ending (``length``: it was cut off)."""
        return self._ask(request)


class ModelCurator(_Named):
    """Curates with a model (D4); as ``ModelSummarizer``. The answer is not mended: the parser is strict."""

    def curate(self, request: Prompted) -> Completion:
        """The answer as it came, its usage, and the provider's reason for ending."""
        return self._ask(request)


def _made(name: str) -> Model:
    """The model behind a name. Raises InputError ``bad_setting``, ``extra_missing``, ``model_unusable``."""
    provider, _, rest = name.partition(":")
    if not provider or not rest:
        raise InputError(
            f"{name!r} names no model; write provider:model, for instance openai:gpt-5-mini", code="bad_setting"
        )
    try:
        return infer_model(f"openai-chat:{rest}" if provider == "openai" else name)
    except ImportError as error:
        raise InputError(
            f"the model {name!r} needs a package that is not installed: pip install 'pydantic-ai-slim[{provider}]' "
            f"({_said(error)})",
            code="extra_missing",
            model=name,
        ) from error
    except Exception as error:  # a provider's client says in its own classes what it lacks
        raise InputError(
            f"the model {name!r} cannot be used: {_said(error)}; correct its name, or set what its provider needs",
            code="model_unusable",
            model=name,
        ) from error


def _of_status(error: exceptions.ModelHTTPError) -> Exception:
    passing = error.status_code in PASSING or error.status_code >= 500
    spent = isinstance(error, exceptions.ModelQuotaExceededError)
    return ModelUnavailable(_said(error)) if passing and not spent else ModelRefused(_said(error))


def _said(error: BaseException) -> str:
    """What an error says, without the keys of this environment: a provider may quote the one it refuses."""
    text = (str(error) or type(error).__name__)[: 4 * SAID_CHARS_MAX]
    for name, value in os.environ.items():
        if name.endswith(SECRETS) and len(value) >= 8:
            text = text.replace(value, f"[{name}]")
    return text[:SAID_CHARS_MAX]


def _completion(response: ModelResponse) -> Completion:
    details = response.provider_details or {}
    usage = Usage(
        input_tokens=max(response.usage.input_tokens or 0, 0), output_tokens=max(response.usage.output_tokens or 0, 0)
    )
    # A refusal has no text but says why; with its finish reason it is never taken for an answer.
    return Completion(response.text or str(details.get("refusal") or ""), usage, response.finish_reason)
