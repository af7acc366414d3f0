"""State as the JSON that GitHub sends, complete enough for strict clients.

Functions take the world for the addresses of this GitHub and for look-ups; none changes anything. If API versions
2022-11-28 and 2026-03-10 have different fields, the JSON contains those of both: clients ignore unknown fields.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
