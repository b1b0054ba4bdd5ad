"""Fixtures of the tests that talk to a provider on this machine, or stop a server of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chat_server import ChatServer
from model_talk import KEY
from own_server import OwnServer, own_server


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ChatServer]]:
    """Starts a provider with a script, and points the environment variables of the providers at it.

    By its profile ``openai:`` takes a JSON schema, ``sambanova:`` tools only, ``vllm:`` a schema told in words too.
    """
    running: list[ChatServer] = []

    def start(*script: Any) -> ChatServer:
        server = ChatServer(*script)
        server.__enter__()
        running.append(server)
        for provider in ("OPENAI", "SAMBANOVA", "VLLM"):
            monkeypatch.setenv(f"{provider}_BASE_URL", server.url)
            monkeypatch.setenv(f"{provider}_API_KEY", KEY)
        return server

    yield start
    for server in running:
        server.__exit__(None, None, None)


@pytest.fixture
def server() -> Iterator[OwnServer]:
    """A server that the test may stop and start."""
    with own_server() as made:
        yield made
