"""The APIs of model providers (J1), through their own client libraries (the extra `judge`).

The libraries' own retries may sleep for an hour. So the bot itself retries a temporary failure once, if the pause
(`retry-after`) ends within the question's time limit. Each question has its own client, so that the bot can close it.
If an endpoint sends only a byte now and then, closing the client is the only way to end the connection.
"""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import Any

from bot.domain.errors import SettingsError
from bot.github.limits import retry_after
from bot.platform.local import pip_install
from bot.search.judge.prompt import SCHEMA, Completion, Endpoint, EndpointError, Prompt, UnusableAnswer

log = logging.getLogger(__name__)

#: The most tokens of an answer, including the model's reasoning.
MOST_TOKENS = 4_000
#: How many questions a process can ask at the same time. A hanging question keeps its thread until its client closes.
_MOST_THREADS = 8

_REFUSED = (400, 404, 422)
_TEMPORARY = (408, 409, 429)
_CRASHED = 500
#: Seconds before a retry if the server sends no `retry-after`.
_RETRY_PAUSE = 0.25


class _Client:
    """The code that all providers share. `retries`: how often the library may retry, for callers that can wait."""

    def __init__(self, url: str, model: str, key: str, retries: int) -> None:
        self.model = model
        self._url, self._key, self._retries = url.rstrip("/"), key, retries
        self._first_form, self._works, self._lock = 0, False, threading.Lock()
        self._threads = ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="judge")

    # `package` is the library, `client_class` its class for clients. The library adds `suffix` to the address, so
    # `_client` removes it. The client's `resource` has the method `create`, which sends a prompt.
    package, client_class, suffix, resource = "", "", "", ""
    forms: Sequence[Mapping[str, Any]] = ()
    """Sets of parameters for a prompt. The first forces a schema on the answer, the last suits every server."""

    def ask(self, question: Prompt, seconds: float) -> Completion:
        closing: list[Callable[[], None]] = []
        answer: Future[Completion] = self._threads.submit(self._try_forms, question, seconds, closing)
        try:
            return answer.result(timeout=seconds)
        except TimeoutError:
            answer.cancel()
            raise EndpointError(f"{self._url}: no answer within {seconds:g} s") from None
        finally:
            for close in closing:
                # Closing can fail, because another thread may be reading.
                with suppress(Exception):
                    close()

    def _try_forms(self, question: Prompt, seconds: float, closing: list[Callable[[], None]]) -> Completion:
        """Try one form after the other, because servers refuse unknown parameters.

        Later prompts begin with the form that worked.
        """
        until = time.monotonic() + seconds
        with self._client(seconds) as client:
            closing.append(client.close)
            for at in range(self._first_form, len(self.forms)):
                try:
                    completion = self._send_with_retry(client, question, self.forms[at], until)
                except _RefusedError as refused:
                    if at + 1 == len(self.forms):
                        if self._works:
                            # Other prompts were answered, so the server refuses this prompt's text.
                            raise UnusableAnswer(f"the endpoint refused the question: {refused}") from None
                        raise EndpointError(f"{self._url}: {refused}") from None
                    log.info("%s does not take %s: %s", self._url, ", ".join(self.forms[at]), refused)
                    continue
                except _CrashedError:
                    # Some servers answer an unknown parameter with HTTP 500.
                    if self._works or at + 1 == len(self.forms):
                        raise
                    continue
                with self._lock:
                    if not self._works:
                        self._first_form, self._works = at, True
                return completion
        raise AssertionError("there is always a form")

    def _send_with_retry(self, client: Any, question: Prompt, form: Mapping[str, Any], until: float) -> Completion:
        try:
            return self._send_once(client, question, form)
        except _TemporaryError as failure:
            pause = _RETRY_PAUSE if failure.after is None else failure.after
            if time.monotonic() + pause >= until:
                raise
            time.sleep(pause)
            return self._send_once(client, question, form)

    def _send_once(self, client: Any, question: Prompt, form: Mapping[str, Any]) -> Completion:
        try:
            with self._translated_errors():
                resource = attrgetter(self.resource)(client)
                return self._read(resource.create(model=self.model, **self._parameters(question), **form))
        except (AttributeError, TypeError, LookupError, ValueError, OverflowError):
            # The reply is not what the API promises: it may be a page of HTML.
            raise UnusableAnswer("the reply is not the message of a model") from None

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Translate the library's errors, and drop their messages, which can quote the prompt."""
        library = _imported(self.package)
        try:
            yield
        except library.APIStatusError as failure:
            status = int(failure.status_code)
            if status in _REFUSED:
                raise _RefusedError(f"HTTP {status}") from None
            kind = _TemporaryError if status in _TEMPORARY or status > _CRASHED else EndpointError
            kind = _CrashedError if status == _CRASHED else kind
            raise kind(f"{self._url}: HTTP {status}", retry_after(failure.response.headers, time.time())) from None
        except library.APIResponseValidationError:
            raise UnusableAnswer("the reply is not the message of a model") from None
        except library.APITimeoutError:
            raise EndpointError(f"{self._url}: it timed out") from None
        except library.APIError as failure:
            raise _TemporaryError(f"{self._url}: {type(failure).__name__}") from None

    def warm(self) -> None:
        """Load the library now, because loading can take longer than a question may."""
        with self._client(1.0) as client:
            attrgetter(self.resource)(client)

    @contextmanager
    def _client(self, seconds: float) -> Iterator[Any]:
        library = _imported(self.package)
        # Following a redirect would send the texts to an address that nobody has configured.
        http = library.DefaultHttpxClient(follow_redirects=False, timeout=seconds)
        # The libraries require a key, even for local servers without keys.
        key, make = self._key or "none", getattr(library, self.client_class)
        url = self._url.removesuffix(self.suffix)
        with make(base_url=url, api_key=key, http_client=http, max_retries=self._retries) as client:
            yield client

    def _parameters(self, question: Prompt) -> Mapping[str, Any]:
        raise NotImplementedError

    def _read(self, answer: Any) -> Completion:
        raise NotImplementedError


class _TemporaryError(EndpointError):
    """A temporary failure, worth a retry."""


class _CrashedError(_TemporaryError):
    """The server failed, perhaps because of these parameters."""


class _RefusedError(Exception):
    """The server refuses these parameters, but may accept others."""


class OpenAIClient(_Client):
    """The API "Chat Completions". `url` is the address before `/chat/completions`."""

    package, client_class, resource = "openai", "OpenAI", "chat.completions"

    _SCHEMA = {  # noqa: RUF012
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "verdicts", "strict": True, "schema": SCHEMA},
        }
    }
    # Reasoning models refuse `temperature`, older servers know only `max_tokens`, and llama-cpp-python's server takes a
    # schema only with the type `json_object`.
    forms = (
        {**_SCHEMA, "max_tokens": MOST_TOKENS, "temperature": 0},
        {**_SCHEMA, "max_completion_tokens": MOST_TOKENS},
        {"response_format": {"type": "json_object", "schema": SCHEMA}, "max_tokens": MOST_TOKENS, "temperature": 0},
        {"max_tokens": MOST_TOKENS, "temperature": 0},
        {},
    )

    def _parameters(self, question: Prompt) -> Mapping[str, Any]:
        return {
            "messages": [{"role": "system", "content": question.system}, {"role": "user", "content": question.user}]
        }

    def _read(self, answer: Any) -> Completion:
        (choice,) = answer.choices[:1]
        used = answer.usage
        return Completion(
            str(choice.message.content or ""),
            int(used.prompt_tokens if used else 0),
            int(used.completion_tokens if used else 0),
            str(answer.model or self.model),
            cut=choice.finish_reason == "length",
        )


class AnthropicClient(_Client):
    """The API "Messages". `url` is the address before `/v1/messages`."""

    package, client_class, suffix, resource = "anthropic", "Anthropic", "/v1", "messages"

    forms = ({"extra_body": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}}, {})

    def _parameters(self, question: Prompt) -> Mapping[str, Any]:
        messages = [{"role": "user", "content": question.user}]
        return {"max_tokens": MOST_TOKENS, "system": question.system, "messages": messages}

    def _read(self, answer: Any) -> Completion:
        text = "".join(block.text for block in answer.content if block.type == "text")
        used, cut = answer.usage, answer.stop_reason == "max_tokens"
        return Completion(text, int(used.input_tokens), int(used.output_tokens), str(answer.model), cut)


CLIENTS: Mapping[str, type[_Client]] = {"openai": OpenAIClient, "anthropic": AnthropicClient}


def endpoint(api: str, url: str, model: str, key: str, *, retries: int = 0) -> Endpoint:
    """The host's model. Raises SettingsError if its client library is not installed."""
    client = CLIENTS[api](url, model, key, retries)
    client.warm()
    return client


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise SettingsError(
            f"DOPPEL_JUDGE_URL: the judge needs the package {name}, which is not installed: {pip_install(name)}, or "
            "take DOPPEL_JUDGE_URL away."
        ) from None
