"""A handler's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: a JSON value (None for no body), its status and extra headers."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    # A literal body, sent instead of JSON.
    raw: bytes | None = None
    content_type: str = "application/json; charset=utf-8"
    # The name of githubkit's class for this answer, if it differs from the route's `model`.
    model: str | None = None
