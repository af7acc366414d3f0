"""A language model's endpoint beside the simulated GitHub: OpenAI's chat completions and Anthropic's messages.

A test's function, the script, writes the answers: it gets a request and returns a text, or a `Reply` with a status.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.simulator.http.wire import WireServer


@dataclass(frozen=True, slots=True)
class Heard:
    """One request: its texts, its JSON, and its headers. The headers' names are in lower case."""

    system: str
    user: str
    request: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's message `text`, or a literal body `raw`. `cut`: the model stopped because the text was too long."""

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    cut: bool = False


class LanguageModel:
    """The WSGI application. `heard` lists all requests so far."""

    def __init__(self, script: Callable[[Heard], Reply | str]) -> None:
        self.script = script
        self.heard: list[Heard] = []
        self.url = ""

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
        request = json.loads(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
        headers = {name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name[:5] == "HTTP_"}
        anthropic = str(environ["PATH_INFO"]).endswith("/messages")
        texts = {one["role"]: one["content"] for one in request["messages"]}
        heard = Heard(request["system"] if anthropic else texts["system"], texts["user"], request, headers)
        self.heard.append(heard)
        answer = self.script(heard)
        reply = Reply(answer) if isinstance(answer, str) else answer
        body = reply.raw
        if body is None:
            # Tokens of the request and of the answer: one for every four characters, roughly as in English.
            used = (len(heard.system + heard.user) // 4, len(reply.text) // 4)
            message = (
                _message(reply, request["model"], used) if anthropic else _completion(reply, request["model"], used)
            )
            body = json.dumps(message).encode()
        # Without a length, the client would wait for the end of the connection.
        headers_out = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), *reply.headers.items()]
        # WSGI requires some text after the status.
        start(f"{reply.status} .", headers_out)
        return [body]


def _completion(reply: Reply, model: str, used: tuple[int, int]) -> dict[str, Any]:
    if reply.status != 200:
        return {"error": {"message": reply.text, "type": "error", "code": None, "param": None}}
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "length" if reply.cut else "stop"}],
        "usage": {"prompt_tokens": used[0], "completion_tokens": used[1], "total_tokens": sum(used)},
    }


def _message(reply: Reply, model: str, used: tuple[int, int]) -> dict[str, Any]:
    if reply.status != 200:
        return {"type": "error", "error": {"type": "api_error", "message": reply.text}}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": reply.text}],
        "stop_reason": "max_tokens" if reply.cut else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": used[0], "output_tokens": used[1]},
    }


@contextmanager
def start_model(script: Callable[[Heard], Reply | str]) -> Iterator[LanguageModel]:
    """A model over real HTTP on 127.0.0.1 for the length of a `with` block; `url` is for DOPPEL_JUDGE_URL."""
    model = LanguageModel(script)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(32)
    model.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    http = WireServer(listener, model)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        http.close()
        thread.join(timeout=2.0)
