"""How much memory a process of its own has taken at most."""

from __future__ import annotations

import resource
from pathlib import Path


def peak_mb() -> float:
    """Since this program began. The peak that ``getrusage`` tells may be that of the parent, which made us by fork."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
