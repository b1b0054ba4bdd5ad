"""docs/reference/findings.md: what ``minutebook doctor`` can find."""

from __future__ import annotations

import re

from minutebook.infrastructure.work.doctor import KINDS

from .markdown import HEADER, table

INTRO = """\
What `minutebook doctor` can find. `…` stands for what is found. A finding that is `wrong` gives exit status 1; a `risk`
is worth a decision; a `note` is good to know. With `--json` each is `{"code", "level", "text", "mend"}`. Codes never
change. How to use it: [back up and restore](../how-to/back-up-and-restore.md).

doctor looks and changes nothing: it makes no folder, moves no cursor and appends no event. It also answers where a
store is damaged, may not be read, or is not there at all. It does not recompute anything; that is `minutebook verify`.

"""


def page() -> str:
    """The page."""
    rows = [(f"`{code}`", kind.level, _shown(kind.says), _shown(kind.mend)) for code, kind in KINDS.items()]
    return HEADER + "# Findings of doctor\n\n" + INTRO + table(("code", "level", "says", "mend"), rows)


def _shown(text: str) -> str:
    return re.sub(r"\{[a-z_]+\}", "…", text)
