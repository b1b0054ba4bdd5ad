"""Identifiers that a caller gives: of sessions, runs, messages, workspaces (section 5: path traversal in ids)."""

from __future__ import annotations

import re
import unicodedata

from .errors import InputError

IDENTIFIER_CHARS_MAX = 200
"""Longer ids do not fit the columns, nor a person's eye."""

_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{1,20}://|(?:file|data|javascript):", re.IGNORECASE)
_ESCAPED = re.compile(r"%(?:2e|2f|5c|00|0a|0d|25)", re.IGNORECASE)
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..{0,20})?", re.IGNORECASE)


def check_identifier(text: str, *, what: str = "id") -> str:
    """Gives the id back when it is usable as a name and as a file name; for every edge that takes one.

    Letters of any script, digits, dots, colons, dashes, ``@`` and single spaces are fine. Raises InputError
    ``bad_identifier`` for anything that could be read as a path, a URI or a hidden text.
    """
    reason = _reason(text)
    if reason is not None:
        raise InputError(
            f"the {what} {_shown(text)} {reason}; use letters, digits, '.', '_', ':' or '-', at most "
            f"{IDENTIFIER_CHARS_MAX} characters",
            code="bad_identifier",
            reason=reason,
        )
    return text


def _shown(text: object) -> str:
    return ascii(text[:60]) if isinstance(text, str) else f"of type {type(text).__name__}"


def _reason(text: object) -> str | None:
    if not isinstance(text, str):
        return "is not text"
    if not text.strip():
        return "is empty"
    if len(text) > IDENTIFIER_CHARS_MAX:
        return f"has {len(text)} characters"
    return _bad_characters(text) or _bad_path(text)


def _bad_characters(text: str) -> str | None:
    if text != text.strip():
        return "begins or ends with a space"
    for char in text:
        category = unicodedata.category(char)
        if char == "\0":
            return "holds a NUL"
        if category in {"Cc", "Zl", "Zp"}:
            return "holds a control character or line break"
        if category in {"Cf", "Cs", "Co", "Cn"} or (category == "Zs" and char != " "):
            return "holds an invisible character"
        if char in '<>|"*?`$;&':
            return f"holds {char!r}, which a shell or a file system reads as its own"
    return None


def _bad_path(text: str) -> str | None:
    folded = unicodedata.normalize("NFKC", text)
    if "/" in folded or "\\" in folded or "∕" in text or "⁄" in text or "⧵" in text:
        return "holds a path separator"
    if _DRIVE.match(folded):
        return "names a drive"
    if _SCHEME.match(folded):
        return "is a URI"
    if _ESCAPED.search(folded):
        return "holds percent-encoded path characters"
    if ".." in folded or folded.startswith((".", "~", "-")) or folded.endswith("."):
        return "could be read as a path or an option"
    if _RESERVED.fullmatch(folded):
        return "is a device name on Windows"
    return None
