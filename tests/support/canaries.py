"""Looks for a text in every file of a workspace, byte by byte, and on a server in every column of every table (E8)."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

from sqlalchemy import inspect
from stores import outside


def forms(text: str) -> dict[str, bytes]:
    """The text as bytes of every kind that a program could have made of it."""
    raw = text.encode()
    found = {
        "utf-8": raw,
        "json": json.dumps(text)[1:-1].encode(),
        "json in json": json.dumps(json.dumps(text))[3:-3].encode(),
        "utf-16-le": text.encode("utf-16-le"),
        "utf-16-be": text.encode("utf-16-be"),
        "hex": raw.hex().encode(),
    }
    for offset in range(3):
        # What stands before and after in the same groups is not known: only the groups of the text alone.
        begin = (3 - offset) % 3
        whole = raw[begin : begin + (len(raw) - begin) // 3 * 3]
        found[f"base64 {offset}"] = base64.b64encode(whole)
    return found


def places(root: Path, text: str) -> list[str]:
    """Where the text stands, in whatever form: files by name, columns by table."""
    wanted = forms(text)
    found = [
        f"{path.relative_to(root)}: {kind}"
        for path in sorted(root.rglob("*"))
        if path.is_file()
        for kind, needle in wanted.items()
        if needle in path.read_bytes()
    ]
    if not os.environ.get("MINUTEBOOK_DATABASE"):
        return found
    with outside(root) as connection:
        for table in inspect(connection).get_table_names():
            rows = connection.exec_driver_sql(f'SELECT * FROM "{table}"')
            names = list(rows.keys())
            for row in rows:
                for name, value in zip(names, row, strict=True):
                    data = _bytes(value)
                    found += [f"{table}.{name}: {kind}" for kind, needle in wanted.items() if needle in data]
    return found


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    return str(value).encode("utf-8", "surrogatepass")
