"""The limits of durable memory as one value, with the same names as the settings have (surface.md)."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class MemoryLimits:
    """What an entry, the document, a batch and a curator's answer may measure; defaults are those of the settings."""

    entry_chars_max: int = 1_000
    memory_chars_max: int = 16_000
    memory_entries_max: int = 200
    memory_tokens_max: int = 8_000
    memory_file_bytes_max: int = 1_000_000
    operations_per_batch_max: int = 100
    curator_answer_bytes_max: int = 256_000

    @classmethod
    def of(cls, settings: object) -> MemoryLimits:
        """Takes the limits out of anything that has attributes of these names, such as the settings."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})
