"""The extra ``secrets``: the detectors of the detect-secrets library beside our own rules (issue 4, D4).

Imported only when the setting ``secret_scanner`` asks for it. The detectors that look at entropy alone are left out: in
an agent's notes every digest and id is random. Nothing is verified over the network.
"""

from __future__ import annotations

from collections.abc import Iterator

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.core.scan import scan_line
from detect_secrets.settings import transient_settings

from ...domain.checks import redact_credentials
from ..store.forking import ForkLock

_LEFT_OUT = ("Entropy", "IPPublic", "Keyword")
"""Random by itself, an address, and words beside values: our own rules know the placeholders, this does not."""
_LINE_CHARS_MAX = 5_000
"""A longer line is a payload; our own rules read it all the same."""

_one_at_a_time = ForkLock()
"""The library keeps its settings in the module."""


def redact_with_library(text: str) -> tuple[str, int]:
    """``redact_credentials``, and then what the library finds besides: ``[redacted:kind]`` for each."""
    redacted, count = redact_credentials(text)
    for kind, secret in sorted(set(_found(redacted)), key=lambda pair: -len(pair[1])):
        places = redacted.count(secret)
        if places and "[redacted:" not in secret:
            redacted = redacted.replace(secret, f"[redacted:{kind}]")
            count += places
    return redacted, count


def _found(text: str) -> Iterator[tuple[str, str]]:
    with _one_at_a_time, transient_settings({"plugins_used": [{"name": name} for name in _plugins()]}):
        for line in text.splitlines():
            if len(line) > _LINE_CHARS_MAX:
                continue
            for found in scan_line(line):
                if found.secret_value:
                    yield found.type.lower().replace(" ", "_"), found.secret_value


def _plugins() -> list[str]:
    known: dict[str, type] = get_mapping_from_secret_type_to_class()
    names = (plugin.__name__ for plugin in known.values())
    return sorted(name for name in names if not any(part in name for part in _LEFT_OUT))
