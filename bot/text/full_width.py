"""Letters, digits and signs as East Asian keyboards write them: as wide as the other characters there. Pure."""

from __future__ import annotations

_PLAIN = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}


def plain(text: str) -> str:
    """The same text with ASCII's own characters: `＃１２` as `#12`."""
    return text.translate(_PLAIN)
