"""State as the JSON that GitHub sends, complete enough for strict clients.

Every function takes the world first, for the addresses of this GitHub and for look-ups; none changes anything. Where
API versions 2022-11-28 and 2026-03-10 differ by fields, both are present: clients ignore what they do not know.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
