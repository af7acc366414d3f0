"""A request's steps: version, caller, limits, handler, validation, ETag. Most faults strike before or after them."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import format_datetime
from typing import Any

from flask import Request, Response

from bot.simulator import validation
from bot.simulator.auth import authenticate
from bot.simulator.callers import Anonymous, AppCaller, Caller, InstallationCaller, UserCaller
from bot.simulator.errors import DOCS, ApiError, invalid, unauthorized
from bot.simulator.faults import AFTER, Fault
from bot.simulator.http import misbehaviour
from bot.simulator.http.context import Context
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Route
from bot.simulator.limits import secondary_limit
from bot.simulator.simulator import Simulator

log = logging.getLogger(__name__)

VERSIONS = ("2022-11-28", "2026-03-10")
# Enterprise Server accepts the later API version since its release 3.21. The simulated server is older.
SERVER_VERSIONS = VERSIONS[:1]


@dataclass(frozen=True, slots=True)
class _Call:
    """A request that matched a route, and the fault that strikes it, if any."""

    sim: Simulator
    route: Route
    request: Request
    params: Mapping[str, Any]
    fault: Fault | None


def answer(sim: Simulator, route: Route, request: Request, params: Mapping[str, Any]) -> Response:
    """Answer a request that matched a route."""
    fault = None if route.is_control else sim.faults.take(request.method, request.path)
    # Clients may correct their own clock by this date, so use the simulated clock.
    headers: dict[str, str] = {"Date": format_datetime(sim.clock.now(), usegmt=True)}
    try:
        if fault is not None and fault.kind not in AFTER:
            _fail_before(fault, request)
        reply = _serve(_Call(sim, route, request, params, fault), headers)
    except ApiError as error:
        reply = Reply(error.body, error.status, error.headers)
    except misbehaviour.Dropped:
        raise
    except Exception as error:
        # A bug of the simulator must not look like an error of GitHub's: tests assert that `violations` is empty.
        log.exception("%s %s failed", request.method, request.path)
        sim.violations.append(f"{request.method} {request.path}: {error!r}")
        reply = Reply({"message": f"The simulator failed: {error!r}"}, 500)
    if fault is not None and fault.kind in AFTER:
        reply = misbehaviour.after(fault, reply, request)
    return _response(reply, headers, request.method)


def _serve(call: _Call, headers: dict[str, str]) -> Reply:
    """Do all steps of the request. The client gets the `headers` that steps add, even if a later step refuses."""
    sim, route, request = call.sim, call.route, call.request
    _check_headers(sim, request, headers)
    with sim.lock:
        caller = authenticate(sim, request.headers.get("Authorization", ""))
        _admit(route, caller)
    if route.is_control or route.path == "/rate_limit":
        return _handle(call, caller)
    return _within_limits(call, caller, headers)


def _check_headers(sim: Simulator, request: Request, headers: dict[str, str]) -> None:
    """Refuse an unknown API version, and a client without a `User-Agent`."""
    version = request.headers.get("X-GitHub-Api-Version", VERSIONS[0])
    headers["X-GitHub-Api-Version-Selected"] = version
    if version not in (SERVER_VERSIONS if sim.urls.api.endswith("/api/v3") else VERSIONS):
        raise ApiError(400, f'"{version}" is not a supported version.')
    if not request.headers.get("User-Agent"):
        raise ApiError(
            403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"
        )


def _within_limits(call: _Call, caller: Caller, headers: dict[str, str]) -> Reply:
    """Answer if the caller's limits allow it. A 304 answer does not count towards the primary limit."""
    limits, route, request = call.sim.limits, call.route, call.request
    resource = route.resource
    if resource == "search" and request.args.get("search_type") in ("semantic", "hybrid"):
        resource = "semantic_search"
    try:
        limits.spend(caller.key, resource)
        limits.enter(caller.key, resource, _points(request, resource))  # `leave` below ends this.
    except ApiError as error:
        if resource == "graphql" and "Retry-After" not in error.headers:
            # Only the primary limit has no `Retry-After`. GraphQL reports this limit in the body.
            return Reply({"errors": [{"type": "RATE_LIMITED", "message": error.message}]})
        raise
    finally:
        headers |= limits.headers(caller.key, resource)
    try:
        if route.creates:
            limits.create(caller.key)
        reply = _handle(call, caller)
    finally:
        limits.leave(caller.key)
    if request.method in ("GET", "HEAD") and reply.status == 200 and reply.raw is None:
        reply = _conditional(reply, request)
        if reply.status == 304:
            limits.refund(caller.key, resource)
            headers |= limits.headers(caller.key, resource)
    return reply


def _points(request: Request, resource: str) -> int:
    """The points towards the secondary limit: 1 for reading, 5 for writing. In GraphQL, only mutations write."""
    if resource == "graphql":
        return 5 if b"mutation" in request.get_data() else 1
    return 1 if request.method in ("GET", "HEAD", "OPTIONS") else 5


def _admit(route: Route, caller: Caller) -> None:
    """Refuse a caller of the wrong kind for this route."""
    if route.auth == "app" and not isinstance(caller, AppCaller):
        raise unauthorized("A JSON web token could not be decoded")
    if route.auth == "installation" and not isinstance(caller, InstallationCaller):
        raise ApiError(403, "You must authenticate with an installation access token in order to list repositories.")
    if route.auth == "user" and isinstance(caller, Anonymous):
        raise unauthorized("Requires authentication")
    if route.auth == "user" and not isinstance(caller, UserCaller):
        raise ApiError(403, "Resource not accessible by integration")


def _handle(call: _Call, caller: Caller) -> Reply:
    sim, route, request = call.sim, call.route, call.request
    body = _json_body(request)
    query = {name: values[-1] for name, values in request.args.lists()}
    url = sim.urls.api + request.path
    context = Context(sim, route, caller, call.params, query, request.headers, body, url, call.fault)
    if route.request is not None and sim.validate and body is not None:
        problems = validation.problems(route.request, body)
        if problems:
            fields = "; ".join(f"{field}: {problem}" for field, problem in problems[:3])
            raise ApiError(422, f"Invalid request.\n\n{fields}")
    with sim.lock:
        result = route.handler(context)
        reply = result if isinstance(result, Reply) else Reply(result)
    model = reply.model or route.model
    if sim.validate and model is not None and reply.status < 300 and reply.raw is None:
        validation.check(model, reply.body)
    return reply


def _json_body(request: Request) -> Any:
    raw = request.get_data()
    if not raw:
        return None
    try:
        body = json.loads(raw)
        # Refuse half a surrogate pair: no answer could contain it.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise ApiError(400, "Problems parsing JSON") from None
    return body


def _fail_before(fault: Fault, request: Request) -> None:
    """Apply a fault that strikes before the request is carried out. `slow` delays it; the other kinds end it."""
    if fault.kind == "slow":
        fault.released.wait(fault.seconds)
        return
    if fault.kind == "secondary_limit":
        raise secondary_limit(fault.retry_after, status=fault.status)
    if fault.kind == "unresolved":
        # REST creates comments by a GraphQL mutation, and passes on the mutation's error.
        message = "Could not resolve to a node with the global id of 'I_1'."
        raise invalid("IssueComment", "data", "unprocessable", message)
    if fault.kind == "status":
        headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
        raise ApiError(fault.status, "Server Error", headers=headers)
    # Only `timeout` and `reset` are left.
    misbehaviour.hang_up(request, fault)


def _conditional(reply: Reply, request: Request) -> Reply:
    """Add an ETag; 304 without a body if the client already has this ETag.

    As on GitHub, the tag depends on the token, too (https://github.com/github/docs/issues/34689).
    """
    content = request.headers.get("Authorization", "") + json.dumps(reply.body)
    tag = f'W/"{hashlib.sha256(content.encode()).hexdigest()}"'
    headers = {**reply.headers, "ETag": tag}
    known = {part.strip().removeprefix("W/") for part in request.headers.get("If-None-Match", "").split(",")}
    if tag.removeprefix("W/") in known:
        return Reply(None, 304, headers)
    return Reply(reply.body, reply.status, headers)


def _response(reply: Reply, headers: Mapping[str, str], method: str) -> Response:
    if reply.raw is not None:
        data = reply.raw
    else:
        data = b"" if reply.body is None else json.dumps(reply.body, ensure_ascii=False).encode()
    response = Response(data, reply.status, content_type=reply.content_type)
    if reply.status in (204, 304):
        del response.headers["Content-Type"]
    for name, value in {**headers, **reply.headers}.items():
        response.headers[name] = value
    response.headers["X-GitHub-Media-Type"] = "github.v3; format=json"
    response.headers["X-GitHub-Request-Id"] = secrets.token_hex(8).upper()
    return response


def unknown(sim: Simulator, request: Request) -> Response:
    """Refuse a request that matches no route: with 501, so that no test mistakes the refusal for GitHub's 404."""
    what = f"{request.method} {request.path}"
    sim.unknown_requests.append(what)
    log.warning("The simulator has no route for %s", what)
    body = {"message": f"The simulator has no route for {what}", "method": request.method, "path": request.path}
    return _response(Reply(body | {"documentation_url": DOCS, "status": "501"}, 501), {}, request.method)
