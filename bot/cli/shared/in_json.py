"""JSON for people's terminals and files: readable, and such that it can always be written."""

from __future__ import annotations

import json
import re
from typing import Any

# What a terminal would obey, beyond what JSON escapes anyway, and halves of characters, which UTF-8 has no bytes for.
# In JSON they can stand in texts alone.
_ODD = re.compile("[\x7f-\x9f\ud800-\udfff]")


def in_json(value: Any, indent: int | None = None) -> str:
    """JSON in which strangers' text is left as it is, but for what is no text: that is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
