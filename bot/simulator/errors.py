"""Refusals in GitHub's words. The dispatcher turns them into HTTP answers.

Bodies follow https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

DOCS = "https://docs.github.com/rest"


class ApiError(Exception):
    """An unsuccessful answer. `extra` has further fields of its body."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        errors: Sequence[Mapping[str, Any] | str] | None = None,
        headers: Mapping[str, str] | None = None,
        documentation: str = DOCS,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.headers = dict(headers or {})
        self.body: dict[str, Any] = {"message": message}
        if errors is not None:
            self.body["errors"] = list(errors)
        self.body |= {"documentation_url": documentation, "status": str(status), **(extra or {})}


def not_found() -> ApiError:
    """404: the object does not exist, or the caller must not see it."""
    return ApiError(404, "Not Found")


def gone(message: str) -> ApiError:
    """410: the object was deleted or switched off."""
    return ApiError(410, message)


def unauthorized(message: str = "Bad credentials") -> ApiError:
    """401: no or wrong credentials."""
    return ApiError(401, message)


def forbidden(message: str, **more: Any) -> ApiError:
    """403: the caller must not do this."""
    return ApiError(403, message, **more)


def moved(location: str, method: str) -> ApiError:
    """The repository was renamed or moved, or the issue transferred: 301 for reads, 307 for writes.

    After a 307, clients repeat a write with its body. After a 301, most clients would send a GET instead.
    """
    status = 301 if method == "GET" else 307
    return ApiError(status, "Moved Permanently", headers={"Location": location}, extra={"url": location})


def invalid(resource: str, field: str, code: str, message: str | None = None, value: Any = None) -> ApiError:
    """422 "Validation Failed" with one error. `code`: missing, missing_field, invalid, custom, …"""
    error: dict[str, Any] = {"resource": resource, "field": field, "code": code}
    if value is not None:
        error["value"] = value
    if message is not None:
        error["message"] = message
    return ApiError(422, "Validation Failed", errors=[error])
