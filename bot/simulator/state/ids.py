"""Database ids and node ids that look like GitHub's. Each is unique, and never equals an issue's number by accident."""

from __future__ import annotations

import base64
import struct
from itertools import count

# The first id of each kind. Each kind has its own range of ids, so a test that passes an issue's number, or an id of
# the wrong kind, finds nothing.
_FIRST = {
    "app": 1_100_001,
    "account": 61_000_003,
    "installation": 48_000_007,
    "repository": 702_000_011,
    "issue": 2_310_000_013,
    "comment": 3_020_000_017,
    "label": 6_400_000_019,
    "reaction": 240_000_023,
    "event": 15_300_000_029,
    "delivery": 190_000_000_031,
    "hook": 510_000_037,
    "suggestion": 8_800_041,
    "project": 16_400_043,
    "item": 97_000_047,
    "discussion": 5_600_053,
}


class Ids:
    def __init__(self) -> None:
        self._counters = {kind: count(first) for kind, first in _FIRST.items()}

    def next(self, kind: str) -> int:
        """The next free database id of a kind."""
        return next(self._counters[kind])


def node_id(prefix: str, *parts: int) -> str:
    """A global node id: a type prefix and the packed ids, e.g. `I_kgDP…` for an issue."""
    packed = b"\x92\x00" + b"".join(b"\xcf" + struct.pack(">Q", part) for part in parts)
    return f"{prefix}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
