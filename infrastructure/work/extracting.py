"""A model reads a run for evidence beside the rules; when it fails, the rules alone have read it (D14, C12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...domain.catalogue import Usage
from ...domain.evidence.extraction import build_extraction, judge_extraction
from ...domain.evidence.reading import Earlier
from ...domain.evidence.values import EXTRACTOR, Packet
from ...domain.message import Message
from ...domain.summary import Completion
from ...domain.summary_checks import CUT_OFF
from .calling import call, kind, label, method
from .runtime import Runtime

RUNS_MAX = 5
"""Runs that one collection gives to a model; the rest waits for the next (D15)."""
_NONE = Usage()


class Extracting:
    """Asks an extractor about one run after the other."""

    def __init__(self, runtime: Runtime, extractor: Any) -> None:
        self._runtime = runtime
        self._extractor = extractor
        self.name = f"{EXTRACTOR}+{label(extractor)}"[:200]
        self.last_error: str | None = None

    def read(self, packet: Packet, messages: Sequence[Message], earlier: Earlier) -> tuple[Packet, Usage]:
        """The packet with what the model found besides, under its name; the packet itself when it gave no answer."""
        request = build_extraction(packet, messages, self._runtime.redact)
        try:
            seconds = self._runtime.settings.curator_timeout_seconds
            answer = call(method(self._extractor, "extract"), request, seconds=seconds)
        except Exception as error:
            # The rules have read the run; that a model did not is for the status, and keeps nothing from being learnt.
            self.last_error = f"{self.name}: {kind(error)}"
            return packet, _NONE
        completion = answer if isinstance(answer, Completion) else Completion(answer if isinstance(answer, str) else "")
        if (completion.finish_reason or "").lower() in CUT_OFF or completion.mismatch:
            self.last_error = f"{self.name}: the answer was cut off or does not keep to its schema"
            return packet, completion.usage
        found, refused = judge_extraction(completion.text, request, self._runtime.redact, earlier)
        self.last_error = f"{self.name}: refused {', '.join(dict.fromkeys(refused))}" if refused else None
        return replace(found, extractor=self.name), completion.usage
