"""What the public object answers: plain dictionaries, as the command line prints them, readable as attributes."""

from __future__ import annotations

from typing import Any, TypeAlias


class Answer(dict[str, Any]):
    """A dictionary whose keys are attributes too: ``answer["status"]`` and ``answer.status`` are the same."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this answer has {', '.join(self)}, and no {name!r}") from None


Answers: TypeAlias = list[Answer]


class RecordedMessage(dict[str, Any]):
    """A message as it was given (it equals the original dictionary), with what the book knows of it beside it.

    What the book knows is there as attribute and, where the original has no such key, as item: ``position``, ``id``,
    ``role``, ``state`` (``original``, ``reduced``, ``compacted`` or ``erased``), ``reason``, ``covered_by`` (the live
    compaction), ``run``, ``trust``, ``form``, ``tokens``, ``total`` (tokens up to and with it), ``time``, ``source``.
    """

    __slots__ = ("known",)

    def __init__(self, original: Any, known: dict[str, Any]) -> None:
        super().__init__(original if isinstance(original, dict) else {"role": known["role"], "content": original})
        self.known = known

    def __missing__(self, key: str) -> Any:
        return self.known[key]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.known[name]
        except KeyError:
            raise AttributeError(f"a message has {', '.join(self.known)}, and no {name!r}") from None

    def answer(self) -> Answer:
        """The form that the command line prints: what the book knows, the original under ``source``."""
        return Answer(self.known)
