"""32 connections and a server that is stopped, all at once; the long form is ``make drill-storm``."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_server import own_server
from storms import Storm


@pytest.mark.slow
def test_of_32_connections_in_a_storm_nothing_acknowledged_is_lost_or_doubled(
    tmp_path: Path, on_postgres: None
) -> None:
    """Given connections cut, halved, silenced and killed, and a server stopped at once, then all is there, once."""
    with own_server() as server:
        storm = Storm(server, tmp_path, seed=20)
        storm.blow()
        storm.judge()
        assert storm.faults["stop"] == 1
        assert len(storm.told) == 35 * storm.each
