"""Exact token counts by the vocabulary of a model family, offline, on bpe-openai (M5).

This file belongs to the extra ``tokens`` and is imported only where a setting names a vocabulary.
"""

from __future__ import annotations

import warnings

from ...domain.tokens import Counter

with warnings.catch_warnings():
    # It reads its data by a function that Python 3.11 and 3.12 call deprecated and 3.13 does not.
    warnings.simplefilter("ignore", DeprecationWarning)
    import bpe_openai  # type: ignore[import-untyped]

BLOCK = 32_768
"""Characters that are counted at once: the library refuses 200,000 tokens in one piece. A cut adds a token at most."""
SAMPLE_CHARS = 2_097_152
SAMPLE_STRIDE = 4
"""A text beyond ``SAMPLE_CHARS`` is counted on every fourth block: 64 MB would take some five seconds."""


def counter(name: str) -> Counter:
    """The counter ``bpe:NAME`` (o200k, cl100k, voyage3), recorded as ``bpe:NAME-1``."""
    encode = bpe_openai.get_encoding(f"{name}_base").encode_ordinary  # what reads like a special token is text

    def blocks(text: str, stride: int) -> tuple[int, int]:
        tokens = chars = 0
        for start in range(0, len(text), BLOCK * stride):
            block = text[start : start + BLOCK]
            tokens += len(encode(block))
            chars += len(block)
        return tokens, chars

    def count(text: str) -> int:
        if len(text) <= SAMPLE_CHARS:
            return blocks(text, 1)[0]
        tokens, chars = blocks(text, SAMPLE_STRIDE)
        return tokens * len(text) // chars

    return Counter(f"bpe:{name}-1", count)
