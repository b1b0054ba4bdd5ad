"""A provider on this machine: an HTTP server that speaks the OpenAI chat protocol, with every way to fail at it.

It answers with what a script says, reply by reply; the last one is given for ever. ``summary_of`` and ``memory_of``
write good answers from nothing but the prompt, as a model has to; ``typed`` gives them as a request's schema or tool
asks for them. A step ``Sees`` is given the whole request: it can answer, or refuse, what goes beside the prompt.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from minutebook.domain.summary import NONE, SECTIONS

Asked = Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """One answer of the server; ``missing`` bytes are promised and never sent, ``seconds`` is slept before it."""

    body: bytes = b""
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    missing: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Sees:
    """A step of a script that looks at the whole request."""

    answer: Callable[[Asked], Reply]


Step = Reply | Sees | Callable[[str], Reply]
Script = Sequence[Step]


def says(
    text: str | None,
    *,
    finish_reason: str | None = "stop",
    usage: tuple[int, int] | None = (1_000, 200),
    seconds: float = 0.0,
    **message: Any,
) -> Reply:
    """A chat completion that says ``text``."""
    answer: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "test",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": finish_reason,
            }
        ],
    }
    if usage is not None:
        answer["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(json.dumps(answer).encode(), seconds=seconds)


def fails(status: int, message: str = "no", *, code: str | None = None, retry_after: str | None = "0") -> Reply:
    """An error of the API; by default it asks to come again at once, so that tests need not wait."""
    body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": code}}).encode()
    return Reply(body, status, headers={} if retry_after is None else {"Retry-After": retry_after})


class ChatServer:
    """Serves on a free port of 127.0.0.1 until the end of its ``with`` block; ``asked`` holds what was sent to it."""

    def __init__(self, *script: Step) -> None:
        self.script: Script = script or (lambda prompt: says(summary_of(prompt)),)
        self.asked: list[Asked] = []
        self.paths: list[str] = []
        self.keys: list[str] = []
        self._closing = threading.Event()
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server._answer(self, sent)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def prompts(self) -> list[str]:
        return [asked["messages"][-1]["content"] for asked in self.asked]

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def _answer(self, handler: BaseHTTPRequestHandler, sent: Asked) -> None:
        with self._lock:
            number = len(self.asked)
            self.asked.append(sent)
            self.paths.append(handler.path)
            self.keys.append(handler.headers.get("Authorization", ""))
        step = self.script[min(number, len(self.script) - 1)]
        match step:
            case Reply():
                reply = step
            case Sees():
                reply = step.answer(sent)
            case _:
                reply = step(sent["messages"][-1]["content"])
        if reply.seconds:
            self._closing.wait(reply.seconds)
        try:
            handler.send_response(reply.status)
            handler.send_header("Content-Type", reply.content_type)
            handler.send_header("Content-Length", str(len(reply.body) + reply.missing))
            handler.send_header("Connection", "close")
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(reply.body)
        except OSError:
            pass  # The client gave up waiting: that is what some tests are about.
        handler.close_connection = True


def a_port_where_nobody_listens() -> int:
    """A port that was free a moment ago."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# --- good answers, from the prompt alone -----------------------------------------------------------------

_WANTED = re.compile(r"- (request|constraint|decision|failure|cancelled|earlier|names) (\[@[^\]]*\])?: (.*)")
_PLACE = {
    "request": "goal",
    "constraint": "constraints",
    "decision": "decisions",
    "failure": "facts",
    "cancelled": "decisions",
    "earlier": "facts",
    "names": "files",
}


def summary_of(prompt: str) -> str:
    """A summary that keeps what the prompt lists under "Must be represented"."""
    items = {name: [f"- {item}" for item in found] for name, found in sections_of(prompt).items()}
    return "\n\n".join("\n".join([section.heading, *(items[section.id] or [NONE])]) for section in SECTIONS)


def sections_of(prompt: str) -> dict[str, list[str]]:
    """The same by section, without bullets."""
    items: dict[str, list[str]] = {section.id: [] for section in SECTIONS}
    for line in prompt.rpartition("\n<history>\n")[0].splitlines():
        if found := _WANTED.fullmatch(line):
            items[_PLACE[found[1]]].append(f"{found[3]} {found[2] or ''}".rstrip())
    return items


def memory_of(prompt: str) -> str:
    """The entries and what the candidates add, as the strict array."""
    _, _, rest = prompt.partition("\nEntries\n")
    entries, _, candidates = rest.partition("\nCandidates\n")
    values = [json.loads(line) for part in (entries, candidates) for line in part.splitlines() if line.startswith("{")]
    return json.dumps([value["text"] for value in values if value.get("text")])


# --- structured answers -----------------------------------------------------------------------------------


def schema_of(asked: Asked) -> Mapping[str, Any] | None:
    """The schema that came beside the prompt, as a response format or as the one tool that must be called."""
    if (wanted := asked.get("response_format")) is not None:
        return dict(wanted["json_schema"]["schema"])
    return dict(asked["tools"][0]["function"]["parameters"]) if asked.get("tools") else None


def value_of(asked: Asked) -> dict[str, Any]:
    """A good typed answer: what the prompt demands, under the names of the schema."""
    prompt, schema = asked["messages"][-1]["content"], schema_of(asked)
    assert schema is not None
    if list(schema["properties"]) == ["entries"]:
        return {"entries": json.loads(memory_of(prompt))}
    return dict(sections_of(prompt))


def gives(asked: Asked, value: Any, **options: Any) -> Reply:
    """``value`` (an object, or the text that stands in its place) as content, or as a call where a tool was sent."""
    text = value if isinstance(value, str) else json.dumps(value)
    if not asked.get("tools"):
        return says(text, **options)
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": asked["tools"][0]["function"]["name"], "arguments": text},
    }
    return says(None, **{"finish_reason": "tool_calls", "tool_calls": [call], **options})


def typed(asked: Asked) -> Reply:
    """What a model that keeps to its schema answers."""
    return gives(asked, value_of(asked))


def knows_no_schema(status: int = 400, *, answer: Callable[[str], str] = summary_of) -> Sees:
    """A server that refuses whatever comes beside a prompt, and answers the prompt alone."""

    def step(asked: Asked) -> Reply:
        if schema_of(asked) is not None:
            return fails(status, "unknown field 'response_format'")
        return says(answer(asked["messages"][-1]["content"]))

    return Sees(step)


def wait_until(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    """Polls, for what another thread does."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
