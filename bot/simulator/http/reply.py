"""What a handler answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: a JSON value (None for none at all), its status and extra headers."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    # Sent as it is instead of JSON.
    raw: bytes | None = None
    content_type: str = "application/json; charset=utf-8"
    # The model of this answer where it is not the route's.
    model: str | None = None
