"""A call that is given up changes nothing, at whatever moment: no late summary, no half one (C5, C7)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from gates import Gate

from minutebook import ExtractiveSummarizer, Settings
from minutebook.aio import Minutebook, Session

SETTINGS = Settings(context_window=4_000, summarizer_timeout_seconds=20)


async def filled(book: Minutebook) -> Session:
    session = await book.session("s")
    talk = [{"role": ("user", "assistant")[n % 2], "content": f"{n} " + "word " * 100} for n in range(60)]
    await session.append(talk)
    return session


async def seen(session: Session) -> tuple[str, list[str]]:
    context = await session.context(window=1_000_000)
    return context.digest, [str(row["status"]) for row in await session.compactions()]


def given_up(place: Path, gate: Gate, how: str) -> None:
    async def story() -> None:
        async with Minutebook.open(place, settings=SETTINGS, automatic=False, summarizer=gate) as book:
            session = await filled(book)
            async with session.run() as run:
                await run.append({"role": "user", "content": "Go on."})
                before, _ = await seen(session)

                # when the caller gives up while the summary is being made, and the summary comes after all
                asked = run.context() if how == "context" else session.compact()
                task = asyncio.create_task(asyncio.wait_for(asked, 30))
                await asyncio.to_thread(gate.entered.wait, 15)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                gate.go_on.set()
                for _ in range(100):
                    found = await seen(session)
                    if found[1]:
                        break
                    await asyncio.sleep(0.05)

                # then nothing has changed, and one event says why
                assert found == (before, ["failed"])
                failed = (await session.compactions())[0]
                assert "Cancelled" in str(failed["reason"])
                shown = [event async for event in book.log(type="ContextShown")]
                assert shown == [], "a request that nobody got was not shown"

                # and the next call does what the first one was to do
                context = await run.context()
                assert any(message["state"] == "summary" for message in context.messages)
                await run.append({"role": "assistant", "content": "Done."})

    asyncio.run(story())


@pytest.mark.parametrize("how", ["context", "compact"])
def test_a_summary_whose_caller_has_given_up_is_not_committed(place: Path, how: str) -> None:
    given_up(place, Gate(), how)


def test_a_coroutine_that_summarises_is_cancelled_with_its_caller(place: Path) -> None:
    came: list[str] = []

    async def summarize(request: Any) -> str:
        came.append("asked")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            came.append("cancelled")
            raise
        return ExtractiveSummarizer().summarize(request).text

    async def story() -> None:
        async with Minutebook.open(place, settings=SETTINGS, automatic=False, summarizer=summarize) as book:
            session = await filled(book)
            task = asyncio.create_task(session.compact())
            while not came:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            for _ in range(100):
                if len(came) > 1:
                    break
                await asyncio.sleep(0.05)
            assert came == ["asked", "cancelled"]

    asyncio.run(story())


def test_a_coroutine_that_is_too_late_is_cancelled(place: Path) -> None:
    came: list[str] = []

    async def summarize(request: Any) -> str:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            came.append("cancelled")
            raise
        return ""

    async def story() -> None:
        settings = SETTINGS.model_copy(update={"summarizer_timeout_seconds": 0.2})
        async with Minutebook.open(place, settings=settings, automatic=False, summarizer=summarize) as book:
            session = await filled(book)
            answer = await session.compact()
            assert (answer["status"], answer["reason"]) == ("failed", "TimedOut")
            for _ in range(100):
                if came:
                    break
                await asyncio.sleep(0.05)
            assert came == ["cancelled"]

    asyncio.run(story())
