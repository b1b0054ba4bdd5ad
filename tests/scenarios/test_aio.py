"""The await-able twins do what the synchronous ones do, on both databases (surface.md)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from minutebook import MinutebookError, Settings
from minutebook.aio import Minutebook

SETTINGS = Settings(curation_automatic=False)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_a_conversation_and_its_memory_go_all_the_way(place: Path) -> None:
    async def talk() -> None:
        async with Minutebook.open(place, settings=SETTINGS) as book:
            session = await book.session("s")
            async with session.run() as run:
                first = await run.append(user("Remember the port."), id="m1")
                assert await run.append(user("Remember the port."), id="m1") == first
                context = await run.context(system="You help.")
                assert [message["content"] for message in context.to_openai()["messages"]][-1] == "Remember the port."
                await run.memory({"operation": "add", "text": "The port is 8080."})
            assert (await book.curate()).status == "committed"
            assert [entry.text for entry in await book.memory.entries()] == ["The port is 8080."]
            assert (await book.verify()).ok

    asyncio.run(talk())


def test_many_tasks_append_at_once_and_each_message_is_there_once(place: Path) -> None:
    async def talk() -> None:
        async with Minutebook.open(place, settings=SETTINGS) as book:

            async def one(name: str) -> None:
                session = await book.session(name)
                for number in range(10):
                    await session.append(user(f"{name}:{number}"))

            await asyncio.gather(*(one(f"s{number}") for number in range(6)))
            for number in range(6):
                messages = await (await book.session(f"s{number}")).messages()
                assert [message["content"] for message in messages] == [f"s{number}:{turn}" for turn in range(10)]

    asyncio.run(talk())


def test_an_exception_fails_the_run_and_a_refusal_has_its_code(place: Path) -> None:
    async def talk() -> None:
        async with Minutebook.open(place, settings=SETTINGS) as book:
            session = await book.session("s")
            with pytest.raises(ZeroDivisionError):  # noqa: PT012
                async with session.run() as run:
                    await run.append(user("hello"))
                    raise ZeroDivisionError
            with pytest.raises(MinutebookError) as caught:
                await book.find_session("nobody")
            assert caught.value.code == "unknown_session"
            types = [event.type async for event in book.log()]
            assert "RunFailed" in types

    asyncio.run(talk())
