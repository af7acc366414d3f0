"""GitHub's published OpenAPI description as a judge: does a request, and its answer, fit what is published?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

_METHODS = ("get", "put", "post", "delete", "patch")
_BASE = "urn:github"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer, as they went over the wire. `target` is path and query."""

    method: str
    target: str
    request: bytes
    status: int
    answer: bytes


class Description:
    """An OpenAPI 3.0 document; its `nullable` is rewritten to plain JSON Schema once, for the validator."""

    def __init__(self, path: Path) -> None:
        self._document = _plain(json.loads(path.read_text(encoding="utf-8")))
        resource = Resource.from_contents(self._document, default_specification=DRAFT4)
        self._registry: Registry[Any] = Registry().with_resource(_BASE, resource)
        self._operations = [
            (method, _pattern(path), path)
            for path, item in self._document["paths"].items()
            for method in _METHODS
            if method in item
        ]

    def problems(self, exchange: Exchange) -> list[str]:
        """Everything about an exchange that is not as published; empty where all is well."""
        parts = urlsplit(exchange.target)
        path = self._match(exchange.method.lower(), parts.path)
        if path is None:
            return [f"{exchange.method} {parts.path} is not published"]
        pointer = ("paths", path, exchange.method.lower())
        operation = self._at(pointer)
        found = [
            *self._query(operation, path, parts.query),
            *self._body(operation, pointer, exchange.request),
            *self._answer(operation, pointer, exchange),
        ]
        return [f"{exchange.method} {exchange.target} → {exchange.status}: {problem}" for problem in found]

    def _match(self, method: str, path: str) -> str | None:
        fitting = [template for m, pattern, template in self._operations if m == method and pattern.fullmatch(path)]
        # A literal segment is more particular than a variable one: /issues/comments/1 is no issue.
        return min(fitting, key=lambda template: template.count("{"), default=None)

    def _query(self, operation: Mapping[str, Any], path: str, query: str) -> Iterator[str]:
        item = self._document["paths"][path]
        parameters = [self._resolved(p) for p in (*item.get("parameters", ()), *operation.get("parameters", ()))]
        known = {p["name"]: p for p in parameters if p["in"] == "query"}
        given = dict(parse_qsl(query, keep_blank_values=True))
        yield from (f"query parameter {name} is not published" for name in given.keys() - known.keys())
        for name, parameter in known.items():
            if name not in given:
                if parameter.get("required"):
                    yield f"query parameter {name} is missing"
                continue
            kind = parameter["schema"].get("type")
            value: Any = int(given[name]) if kind == "integer" and given[name].isdigit() else given[name]
            for error in self._validator(parameter["schema"]).iter_errors(value):
                yield f"query parameter {name}: {error.message}"

    def _body(self, operation: Mapping[str, Any], pointer: tuple[str, ...], request: bytes) -> Iterator[str]:
        if not request:
            if self._resolved(operation.get("requestBody", {})).get("required"):
                yield "the request has no body"
            return
        if "requestBody" not in operation:
            yield "the request has a body"
            return
        schema = self._at((*pointer, "requestBody", "content", "application/json", "schema"))
        yield from self._instance_errors(schema, request, "request")

    def _answer(self, operation: Mapping[str, Any], pointer: tuple[str, ...], exchange: Exchange) -> Iterator[str]:
        responses = operation["responses"]
        if str(exchange.status) not in responses:
            # Errors of the whole API (401, 403, 5xx) are not repeated with every operation.
            if exchange.status < 400:
                yield f"status {exchange.status} is not published"
            return
        response = self._resolved(responses[str(exchange.status)])
        content = response.get("content", {}).get("application/json")
        if content is None:
            if exchange.answer.strip():
                yield "the answer has a body"
            return
        schema = content["schema"]
        yield from self._instance_errors(schema, exchange.answer, "answer")

    def _instance_errors(self, schema: Mapping[str, Any], data: bytes, what: str) -> Iterator[str]:
        for error in self._validator(schema).iter_errors(json.loads(data)):
            best = jsonschema.exceptions.best_match([error]) or error
            yield f"{what} at /{'/'.join(map(str, best.absolute_path))}: {best.message[:300]}"

    def _validator(self, schema: Mapping[str, Any]) -> jsonschema.Draft4Validator:
        # That it can be given a resolver is not among what it says of itself.
        make: Callable[..., jsonschema.Draft4Validator] = jsonschema.Draft4Validator
        return make(schema, registry=self._registry, _resolver=self._registry.resolver(base_uri=_BASE))

    def _at(self, pointer: tuple[str, ...]) -> Any:
        node: Any = self._document
        for key in pointer:
            node = self._resolved(node[key])
        return node

    def _resolved(self, node: Any) -> Any:
        if isinstance(node, dict) and "$ref" in node:
            target: Any = self._document
            for key in node["$ref"].removeprefix("#/").split("/"):
                target = target[key.replace("~1", "/").replace("~0", "~")]
            return self._resolved(target)
        return node


@cache
def description(path: Path) -> Description:
    """The document at `path`; reading it takes some seconds, once a process."""
    return Description(path)


def _pattern(path: str) -> re.Pattern[str]:
    """The regular expression of a path template; `{path}` and `{ref}` may hold slashes, as the manual says."""
    parts = re.split(r"(\{[^}]+\})", path)
    return re.compile("".join(_segment(part) if part.startswith("{") else re.escape(part) for part in parts))


def _segment(variable: str) -> str:
    return ".+" if variable in ("{path}", "{ref}") else "[^/]+"


def _plain(node: Any) -> Any:
    """OpenAPI 3.0's `nullable` as JSON Schema says it."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _plain(value) for key, value in node.items()}
    if plain.pop("nullable", False) is True and "$ref" not in plain:
        if isinstance(plain.get("type"), str):
            plain["type"] = [plain["type"], "null"]
            if "enum" in plain:
                plain["enum"] = [*plain["enum"], None]
        else:
            plain = {"anyOf": [{"type": "null"}, plain]}
    return plain
