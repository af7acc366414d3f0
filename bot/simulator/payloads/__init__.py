"""The simulator's state as JSON, in GitHub's form, with all fields that strict clients require.

The functions find addresses and other records in the `World`, and change nothing. The JSON has the fields of both API
versions, 2022-11-28 and 2026-03-10: even a strict client of one version ignores fields that it does not know.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
