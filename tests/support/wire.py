"""A wire between a book and a real PostgreSQL server that can be cut at a chosen moment."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Literal

from sqlalchemy import URL

When = Literal["before", "after"]
"""Cut before the server has what the client says, or after it has answered and before the client hears it."""

READY = b"Z\x00\x00\x00\x05"
"""How an answer of the server ends, its transaction status apart: only now has it committed."""


class Wire:
    """Listens on this host and hands everything on to the server, until it is told to cut."""

    def __init__(self, server: URL) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._left: int | None = None
        self._when: When = "before"
        self._open: set[socket.socket] = set()
        self._swallow: set[socket.socket] = set()
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The server's URL, by way of this wire."""
        query = {name: value for name, value in self._server.query.items() if name not in ("host", "port")}
        there = self._server.set(host="127.0.0.1", port=self._listener.getsockname()[1], query=query)
        return there.update_query_dict({"sslmode": "disable"}).render_as_string(hide_password=False)

    def cut(self, when: When, exchange: int = 1) -> None:
        """Cuts at the so-manieth thing that a client says from now on."""
        with self._lock:
            self._when, self._left = when, exchange

    def close(self) -> None:
        self._listener.close()
        with self._lock:
            left, self._open = self._open, set()
        for end in left:
            _drop(end)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        server = self._dial()
        with self._lock:
            self._open |= {client, server}
        threading.Thread(target=self._back, args=(server, client), daemon=True).start()
        with contextlib.suppress(OSError):
            while said := client.recv(1 << 20):
                with self._lock:
                    if self._left is not None:
                        self._left -= 1
                    now = self._left == 0
                    if now:
                        self._left = None
                if now and self._when == "before":
                    self.cuts += 1
                    break
                if now:
                    self._swallow.add(server)
                server.sendall(said)
        _drop(client)
        _drop(server)

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            heard = b""
            while data := server.recv(1 << 20):
                if server in self._swallow:
                    heard += data
                    if heard[-6:-1] == READY:
                        self.cuts += 1
                        self._swallow.discard(server)
                        break
                    continue
                client.sendall(data)
        _drop(client)
        _drop(server)

    def _dial(self) -> socket.socket:
        host = str(self._server.query.get("host") or self._server.host or "127.0.0.1")
        port = int(str(self._server.query.get("port") or self._server.port or 5432))
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        end = socket.socket(socket.AF_UNIX)
        end.connect(f"{host}/.s.PGSQL.{port}")
        return end


def _drop(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
