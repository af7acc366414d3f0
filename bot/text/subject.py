"""What a title is about, without what says only of which kind its issue is, as "[Bug]: " does and "🐛". Pure.

Many forms begin titles so, and many people do by themselves. It would count as a word that two titles share or do not
share, and as the topic that stands before a colon.
"""

from __future__ import annotations

import re

from bot.text.full_width import plain

_KIND = r"(?:bug(?:[ -]?report)?|issue|feat(?:ure)?|feature[ -]?request|enhancement|question)"
# Spaces, emoji, and marks that nobody sees, which come along with what is pasted.
_DECORATION = r"[\s\u200b-\u200f\u2060-\u2069\ufeff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
# In brackets or asterisks, or before a colon or a dash, since "Bug in the pump" is a sentence.
_BEFORE = re.compile(
    rf"\A{_DECORATION}*(?:[*\[(【:]{{0,4}}{_KIND}(?:\*{{0,2}}[\])】:]|\s[-–—|]\s)[*\])】:]*(?:\s*[-–—|:]\s)?\s*)?",
    re.IGNORECASE,
)


def subject(title: str) -> str:
    """`title` in ASCII's own characters, without the kind of issue that it begins with and what decorates it.

    One that says nothing else keeps it.
    """
    title = title if title.isascii() else plain(title)
    return _BEFORE.sub("", title) or title
