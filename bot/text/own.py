"""What an issue's author wrote in it, without what the form around it says. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from bot.text.terms import BODY_READ, without_comments

# What GitHub makes of a form: headings, boxes to tick, the word for an empty field, the fence of a field for logs.
# Then what templates add: a line in bold, a rule; and what says nothing without its picture.
_FORM = re.compile(
    r"#{2,6}\s|[-*+] \[[ xX]?\]|_No response_$|(?:```|~~~)\S*$|\*\*[^*]+\*\*:?$|[-*_]{3,}$"
    r"|!\[[^\]]*\]\([^)]*\)$|<img\b[^>]*>$|https?://\S+$"
)


def own_text(body: str, supplied: Collection[str] = ()) -> str:
    """The text on one line. `supplied` are further lines of forms, in small letters and with single spaces."""
    # Characters of every kind of white space end up as one space.
    lines = (" ".join(line.split()) for line in without_comments(body[:BODY_READ]).split("\n"))
    return " ".join(line for line in lines if line and line.lower() not in supplied and not _FORM.match(line))
