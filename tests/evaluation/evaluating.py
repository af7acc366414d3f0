"""What `doppel evaluate` tells programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.calling import call


def figures(*arguments: str | Path, env: dict[str, str] | None = None) -> dict[str, Any]:
    result = call("evaluate", *arguments, "--json", env=env)
    assert result.exit_code == 0, result.output
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed
