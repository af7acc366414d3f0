"""The simulator's state as JSON, in GitHub's form, with all fields that strict clients require.

The functions find addresses and other records in the `World`, and change nothing. The JSON has the fields of API
version 2022-11-28 and those of 2026-03-10, because even strict clients ignore unknown fields.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
