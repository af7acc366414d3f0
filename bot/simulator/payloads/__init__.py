"""State as the JSON that GitHub sends, with all fields that strict clients require.

The functions take the `World` for addresses and look-ups; none changes anything. If API versions 2022-11-28 and
2026-03-10 have different fields, the JSON contains those of both: even strict clients ignore unknown fields.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
