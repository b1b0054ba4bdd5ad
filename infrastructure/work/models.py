"""A model of any provider as summariser or curator, on pydantic-ai (C12, D10).

This file belongs to the extra ``models`` and is imported only where a setting or a caller names a model.

A model is named ``provider:name`` (``openai:gpt-5-mini``, ``anthropic:claude-haiku-4-5``, ...); its key and base
URL come from the environment variables of that provider (``OPENAI_API_KEY``, ``OPENAI_BASE_URL``, ...).
``openai:`` is the chat completions API, which every compatible server speaks; ``openai-responses:`` the other.

What is sent is ``request.prompt`` as one user message. Where the model's profile says that it takes a JSON schema, or
tools, the schema of the answer goes beside it (``domain.structured``). The typed answer is written out as the text
that the prompt asks for, and what comes of it is parsed and checked as strictly as any text (C5, D4).
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol, get_args

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from ...domain.catalogue import Usage
from ...domain.errors import InputError
from ...domain.structured import CLAIMS_FORM, MEMORY_FORM, SUMMARY_FORM, Form, Mismatch, Output
from ...domain.summary import Completion
from .calling import TimedOut

ATTEMPTS_MAX = 4
"""Requests for one answer: the first, and three more after what may pass."""
BACK_OFF_SECONDS = 1.0
BACK_OFF_SECONDS_MAX = 30.0
PASSING = frozenset({408, 425, 429})
"""Refusals of the moment; so is every status from 500 on."""
SCHEMA_REFUSED = frozenset({400, 404, 422})
"""What servers answer to a schema that they do not know; 404 is OpenRouter's, when no endpoint takes tools.

Each can mean something else. So nobody reads the words: the same prompt is sent as text, and its answer tells.
"""
TEXT = ModelRequestParameters()
SECRETS = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
"""Ends of the names of environment variables whose values are never repeated."""
SAID_CHARS_MAX = 2_000
"""What is kept of a provider's words about a failure."""


class ModelUnavailable(Exception):
    """The provider was busy, broken or out of reach, also after waiting: 429, 5xx, no connection, a cut answer."""


class ModelRefused(Exception):
    """The provider will not take the request, whenever it is sent: a bad key or name, no credit, too long."""


class ModelAnswerUnreadable(Exception):
    """What came is no answer of this API: no JSON, another content type, fields missing."""


class Prompted(Protocol):
    """A request of either protocol: ``prompt`` is the whole text to send."""

    @property
    def prompt(self) -> str: ...


class _Named:
    """What summariser and curator share: one model, one deadline, one way of asking."""

    _form: ClassVar[Form]

    def __init__(
        self,
        model: str,
        *,
        seconds: float = 120.0,
        attempts_max: int = ATTEMPTS_MAX,
        back_off_seconds: float = BACK_OFF_SECONDS,
        settings: Mapping[str, Any] | None = None,
        output: Output = "auto",
    ) -> None:
        self.name = model
        self.output = output
        self._seconds = seconds
        self._attempts_max = attempts_max
        self._back_off = back_off_seconds
        self._settings = {"max_retries": 0, **(settings or {})}  # the client of the provider would retry on its own
        self._declined = ""  # why this model is asked for text from now on, once its server has refused a schema
        if output not in get_args(Output):
            raise InputError(
                f"{output!r} is no way to ask a model; choose one of {', '.join(get_args(Output))}", code="bad_setting"
            )
        made = _made(model)  # told now, not when the window is full
        if output == "structured" and _beside(made, self._form) is TEXT:
            raise InputError(
                f"the model {model!r} takes neither a schema nor tools; set its output to auto or text",
                code="model_unusable",
                model=model,
            )

    def _ask(self, request: Prompted) -> Completion:
        return asyncio.run(self._answer(request.prompt))

    async def _answer(self, prompt: str) -> Completion:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                # A model of its own for each answer: its connections belong to this event loop and end with it.
                async with _made(self.name) as model:
                    return await self._answered(model, prompt, began + self._seconds)
        except TimeoutError as error:
            raise TimedOut(f"{self.name} gave no answer within {self._seconds:g} seconds") from error

    async def _answered(self, model: Model, prompt: str, deadline: float) -> Completion:
        beside = TEXT if self.output == "text" or self._declined else _beside(model, self._form)
        note = self._declined
        if beside is TEXT and self.output == "auto" and not note:
            note = "the profile of the model takes neither a schema nor tools"
        try:
            response = await self._attempts(model, prompt, beside, deadline)
        except ModelRefused as error:
            if beside is TEXT or not _may_be_the_schema(error.__cause__):
                raise
            if self.output == "structured":
                raise ModelRefused(
                    f"{error}; a schema went beside the prompt: if that is what was refused, set the output to auto "
                    "or text"
                ) from error.__cause__
            # When the text is refused too, it was not the schema: that refusal is told, and nothing is remembered.
            response = await self._attempts(model, prompt, TEXT, deadline)
            self._declined = note = f"the schema was refused: {error}"
            beside = TEXT
        return self._completion(response, beside, note)

    async def _attempts(
        self, model: Model, prompt: str, beside: ModelRequestParameters, deadline: float
    ) -> ModelResponse:
        attempt = 1
        while True:
            try:
                return await self._request(model, prompt, beside)
            except ModelUnavailable as error:
                wait = self._wait(attempt, error.__cause__)
                if attempt >= self._attempts_max or time.monotonic() + wait >= deadline:
                    raise ModelUnavailable(f"{error} (attempt {attempt})") from error.__cause__
            await asyncio.sleep(wait)
            attempt += 1

    async def _request(self, model: Model, prompt: str, beside: ModelRequestParameters) -> ModelResponse:
        message = ModelRequest(parts=[UserPromptPart(content=prompt)])
        settings = ModelSettings(**self._settings)  # type: ignore[typeddict-item]
        if "max_retries" in model.unsupported_settings:
            settings.pop("max_retries", None)
        try:
            return await model_request(model, [message], model_settings=settings, model_request_parameters=beside)
        except exceptions.ModelHTTPError as error:
            raise _of_status(error) from error
        except exceptions.UserError as error:
            raise ModelRefused(_said(error)) from error  # the library's word, before anything is sent
        except exceptions.ModelConnectionError as error:
            raise ModelUnavailable(_said(error)) from error
        except (exceptions.ModelAPIError, exceptions.UnexpectedModelBehavior) as error:
            raise ModelAnswerUnreadable(_said(error)) from error
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            # Tried: an answer without choices is an IndexError of the adapter.
            raise ModelAnswerUnreadable(f"{type(error).__name__}: {_said(error)}") from error

    def _completion(self, response: ModelResponse, beside: ModelRequestParameters, note: str) -> Completion:
        text, calls = _text(response), _calls(response)
        plain = Completion(text, _usage(response), response.finish_reason, output=beside.output_mode, note=note)
        if beside is TEXT:
            return plain
        if len(calls) > 1:
            return replace(plain, text="\n".join(calls), mismatch=f"{len(calls)} calls instead of one")
        typed = calls[0] if calls else text
        if calls or text.lstrip().startswith("{"):
            try:
                return replace(plain, text=self._form.text(typed))
            except Mismatch as error:
                return replace(plain, text=typed, mismatch=str(error))
        if self.output == "structured" and text.strip():
            return replace(plain, mismatch="it is no JSON object")
        # A server that passes over a schema that it does not know: the text is judged as the text it is.
        return replace(plain, note="a schema went beside the prompt, and the answer came as text") if text else plain

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
    ``output`` is ``auto`` (a schema where the model takes one; text, from then on, once its server has refused one),
    ``structured`` (a schema always, and no other answer is taken) or ``text`` (no schema).
    Raises InputError ``extra_missing``, ``bad_setting`` or ``model_unusable`` at once; ``summarize`` raises one of the
    exceptions of this module, and then nothing changes (C5).
    """

    _form = SUMMARY_FORM

    def summarize(self, request: Prompted) -> Completion:
        """The answer as text, its usage, and the provider's reason for ending (``length``: it was cut off)."""
        return self._ask(request)


class ModelCurator(_Named):
    """Curates with a model (D4); as ``ModelSummarizer``. The answer is not mended: the parser is strict."""

    _form = MEMORY_FORM

    def curate(self, request: Prompted) -> Completion:
        """The answer as text, its usage, and the provider's reason for ending."""
        return self._ask(request)


class ModelExtractor(_Named):
    """Reads completed runs for evidence with a model (D14); as ``ModelSummarizer``. The engine judges every claim."""

    _form = CLAIMS_FORM

    def extract(self, request: Prompted) -> Completion:
        """The answer as text, its usage, and the provider's reason for ending."""
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


def _may_be_the_schema(error: BaseException | None) -> bool:
    # The library refuses some settings beside a schema by itself: on Bedrock thinking, with a tool that must be called.
    return isinstance(error, exceptions.UserError) or getattr(error, "status_code", None) in SCHEMA_REFUSED


def _said(error: BaseException) -> str:
    """What an error says, without the keys of this environment: a provider may quote the one it refuses."""
    text = (str(error) or type(error).__name__)[: 4 * SAID_CHARS_MAX]
    for name, value in os.environ.items():
        if name.endswith(SECRETS) and len(value) >= 8:
            text = text.replace(value, f"[{name}]")
    return text[:SAID_CHARS_MAX]


def _beside(model: Model, form: Form) -> ModelRequestParameters:
    """What goes beside the prompt, by the profile of the model: the schema, a tool that takes it, or nothing."""
    if model.profile.get("supports_json_schema_output", False):
        answer = OutputObjectDefinition(form.schema, name=form.name, description=form.description)
        return ModelRequestParameters(output_mode="native", output_object=answer)
    if model.profile.get("supports_tools", True):
        tool = ToolDefinition(
            name=form.name, parameters_json_schema=form.schema, description=form.description, kind="output"
        )
        return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
    return TEXT


def _text(response: ModelResponse) -> str:
    # A refusal has no text but says why; with its finish reason it is never taken for an answer.
    return response.text or str((response.provider_details or {}).get("refusal") or "")


def _calls(response: ModelResponse) -> list[str]:
    """The arguments of the calls as they came; the library's own JSON of them would have mended what is broken."""
    found = [part.args for part in response.parts if isinstance(part, ToolCallPart)]
    return [args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False) for args in found]


def _usage(response: ModelResponse) -> Usage:
    used = response.usage
    return Usage(input_tokens=max(used.input_tokens or 0, 0), output_tokens=max(used.output_tokens or 0, 0))
