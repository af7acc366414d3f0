"""Values that a browser keeps for us and brings back, signed, and good for a while."""

from __future__ import annotations

import time
from typing import Any

from itsdangerous import SignatureExpired, URLSafeTimedSerializer

AHEAD = 60.0
"""Seconds by which the clock that signed may be ahead of ours: the browser may have been at another machine, and that
signs in somebody whom this one would send to sign in again, and so on."""


def read_signed(serializer: URLSafeTimedSerializer, value: str, seconds: float) -> Any:
    """What was signed at most so many seconds ago. Raises BadData for what is forged, over, or from the future."""
    content, signed_at = serializer.loads(value, return_timestamp=True)
    age = time.time() - signed_at.timestamp()
    if not -AHEAD <= age <= seconds:
        raise SignatureExpired(f"signed {age:.0f} s ago", date_signed=signed_at)
    return content
