"""Whatever bytes come from outside, they are read or refused with a code: no crash, no hang, no flood of memory.

The long form is ``make drill-fuzz``; what it finds goes into ``tests/data/fuzz``, one folder for each target.
"""

from __future__ import annotations

import random
from functools import cache, partial
from pathlib import Path

import pytest
from fuzzing import KINDS, Target, confined, drawn, kept, spoilt, targets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutebook import Minutebook, MinutebookError

NAMES = ("document", "notes", "answer", "event", "transcript", "entry", "message", "operation", "name", "export")
COSTLY = ("entry", "notes")
STEPS = st.lists(st.tuples(st.integers(0, KINDS - 1), st.integers(0, 1 << 20), st.integers(0, 1 << 16)), max_size=6)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@cache
def target(name: str) -> Target:
    return targets()[name]


def test_everything_that_reads_is_tried() -> None:
    assert tuple(targets()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_spoilt_sample_is_read_or_refused(name: str) -> None:
    @settings(
        max_examples=8 if name in COSTLY else 40, deadline=None, derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    @given(first=st.integers(0, 200), steps=STEPS)
    def read(first: int, steps: list[tuple[int, int, int]]) -> None:
        target(name).try_one(spoilt(target(name).samples, first, steps))

    read()


@pytest.mark.parametrize("name", NAMES)
def test_spoilt_samples_take_neither_much_time_nor_much_memory(name: str) -> None:
    """Given a process with a minute of processor time and 700 MB to take, when it reads, then it comes through."""
    count = 8 if name in COSTLY else 30

    def inputs() -> list[bytes]:
        chance = random.Random(f"short {name}")
        return [drawn(target(name).samples, chance) for _ in range(count)]

    assert confined(target(name), inputs) == []


@pytest.mark.parametrize(
    "path", [path for name in NAMES for path in kept(name)], ids=lambda path: "-".join(path.parts[-2:])
)
def test_what_was_found_once_stays_mended(path: Path) -> None:
    assert confined(target(path.parent.name), partial(list, [path.read_bytes()])) == []


def test_a_refusal_of_half_a_surrogate_pair_can_be_printed_and_is_an_answer_for_a_model(tmp_path: Path) -> None:
    """Given a model that calls ``recall`` with such an argument, then the refusal can be encoded and recorded."""
    with Minutebook.open(tmp_path, automatic=False) as book, book.session("s").run() as run:
        answer = run.recall({"lim\udce9t": 400})
        assert (answer.status, answer.note.isprintable()) == ("refused", True)
        run.append({"role": "user", "content": answer.note})
        with pytest.raises(MinutebookError) as caught:
            book.session("s").recall(query="x", message="\udce9")
        str(caught.value).encode()


def test_the_drill_sees_what_it_looks_for() -> None:
    """Given a reader that raises, one that hangs and one that takes all memory, then each is found."""

    def raises(data: bytes) -> None:
        raise KeyError(data)

    def hangs(data: bytes) -> None:
        while True:
            pass

    def floods(data: bytes) -> None:
        bytearray(2_000_000_000)

    def one() -> list[bytes]:
        return [b"x"]

    assert [each.why for each in confined(Target("t", (b"x",), raises), one)] == ["KeyError: b'x'"]
    assert [each.why for each in confined(Target("t", (b"x",), hangs), one, cpu_seconds=1)] == ["hangs"]
    assert [each.why.split(":")[0] for each in confined(Target("t", (b"x",), floods), one)] == ["MemoryError"]
