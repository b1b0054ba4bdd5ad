"""A wire between a book and a real PostgreSQL server that fails in a chosen way at a chosen moment."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Literal

from sqlalchemy import URL

When = Literal["before", "after"]
"""Before the server has what the client says, or after it has answered and before the client hears it."""

How = Literal["cut", "half", "silent", "late"]
"""``cut``: both ends are closed. ``half``: the client's end is, the server's stays as it is, and what it holds with it.
``silent``: nothing is passed on any more, in neither direction, and both ends stay. ``late``: what was said is passed
on only after ``deliver``."""

READY = b"Z\x00\x00\x00\x05"
"""How an answer of the server ends, its transaction status apart: only now has it committed."""


class Wire:
    """Listens on this host and hands everything on to the server, until it is told to fail."""

    def __init__(self, server: URL) -> None:
        self._server = server
        self._lock = threading.Lock()
        self._left: int | None = None
        self._when: When = "before"
        self._how: How = "cut"
        self._open: set[socket.socket] = set()
        self._faulty: dict[socket.socket, How] = {}
        self._delivered = threading.Event()
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The server's URL, by way of this wire."""
        return self.with_options()

    def with_options(self, **options: str) -> str:
        """The same with options of the driver after its ``?``."""
        query = {name: value for name, value in self._server.query.items() if name not in ("host", "port")}
        there = self._server.set(host="127.0.0.1", port=self._listener.getsockname()[1], query=query)
        return there.update_query_dict({"sslmode": "disable", **options}).render_as_string(hide_password=False)

    def cut(self, when: When, exchange: int = 1, how: How = "cut") -> None:
        """Fails at the so-manieth thing that a client says from now on."""
        with self._lock:
            self._when, self._left, self._how = when, exchange, how
            self._delivered.clear()

    def deliver(self) -> None:
        """Passes on what is ``late``."""
        self._delivered.set()

    def lead_to(self, server: URL) -> None:
        """From now on whoever dials comes to another server, as when a name has got another address."""
        self._server = server

    def close(self) -> None:
        self._listener.close()
        self._delivered.set()
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
        try:
            server = self._dial()
        except OSError:
            _drop(client)
            return
        with self._lock:
            self._open |= {client, server}
        threading.Thread(target=self._back, args=(server, client), daemon=True).start()
        keep = False
        with contextlib.suppress(OSError):
            while said := client.recv(1 << 20):
                if server in self._faulty and self._faulty[server] == "silent" and self._when == "before":
                    continue
                how = self._due()
                if how is not None and self._when == "before":
                    self.cuts += 1
                    if how == "silent":
                        self._faulty[server] = how
                        continue
                    if how == "late":
                        self._delivered.wait(60)
                    else:
                        keep = how == "half"
                        break
                elif how is not None:
                    self._faulty[server] = how
                server.sendall(said)
        _drop(client)
        if not keep and not self._kept(server):
            _drop(server)

    def _due(self) -> How | None:
        with self._lock:
            if self._left is None:
                return None
            self._left -= 1
            if self._left:
                return None
            self._left = None
            return self._how

    def _kept(self, server: socket.socket) -> bool:
        return self._faulty.get(server) in ("half", "silent")

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            heard, done = b"", False
            while data := server.recv(1 << 20):
                how = self._faulty.get(server)
                if how is None:
                    client.sendall(data)
                    continue
                if done or self._when == "before":
                    continue  # nobody hears it
                heard += data
                if heard[-6:-1] != READY:
                    continue
                self.cuts += 1
                if how == "late":
                    del self._faulty[server]
                    self._delivered.wait(60)
                    client.sendall(heard)
                    heard = b""
                    continue
                done = True
                if how in ("cut", "half"):
                    _drop(client)
                if how == "cut":
                    break
        _drop(client)
        _drop(server)

    def _dial(self) -> socket.socket:
        host = str(self._server.query.get("host") or self._server.host or "127.0.0.1")
        port = int(str(self._server.query.get("port") or self._server.port or 5432))
        if not host.startswith("/"):
            return socket.create_connection((host, port))
        end = socket.socket(socket.AF_UNIX)
        try:
            end.connect(f"{host}/.s.PGSQL.{port}")
        except OSError:
            end.close()
            raise
        return end


def _drop(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
