"""The hidden first line by which the bot finds its own comments and issues again (C2).

A marker counts only at the very beginning of a text, and only in one that the bot wrote: who asks for it has looked at
the author before (`author.py`). Titles and queries can never stand there.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marker:
    """How every text of one kind begins, of which there is one in its place. `start` is followed by a fingerprint."""

    start: str

    def line(self, content: str) -> str:
        """The first line of a text that says this."""
        return f"{self.start} {hashlib.sha256(content.encode(errors='replace')).hexdigest()[:16]} -->"

    def begins(self, body: str) -> bool:
        """Whether this is a text of the kind."""
        return body.startswith(self.start)


ADVICE = Marker("<!-- doppel:advice v1")
"""Of the advisory comment on an issue."""
SCAN = Marker("<!-- doppel:scan v1")
"""Of the issue that shows the backlog scan."""
DIGEST = Marker("<!-- doppel:digest v1")
"""Of the issue that shows the digest."""

_STARTS = "|".join(re.escape(marker.start) for marker in (ADVICE, SCAN, DIGEST))
_FINGERPRINT = re.compile(rf"(?:{_STARTS}) ([0-9a-f]{{16}}) -->")
_REPLY = "<!-- doppel:reply v1"
_REPLIES = re.compile(rf"{re.escape(_REPLY)} ([0-9]{{1,18}}) -->")


def fingerprint(body: str) -> str:
    """The fingerprint of what a comment or an issue of the bot's own says, without the time; empty where there is none.

    Two with the same one say the same, so an edit from one to the other can be spared.
    """
    found = _FINGERPRINT.match(body)
    return found[1] if found else ""


def reply_marker(comment_id: int) -> str:
    """The first line of the reply to the commands of one comment."""
    return f"{_REPLY} {comment_id} -->"


def is_reply_to(body: str, comment_id: int) -> bool:
    """Whether this is the text of the reply to that comment."""
    return body.startswith(reply_marker(comment_id))


def answered_by(body: str) -> int | None:
    """Where a comment of the bot's belongs, by its marker: the number of the comment whose commands it answers, 0 for
    the advisory comment; None where it is neither.
    """
    if ADVICE.begins(body):
        return 0
    found = _REPLIES.match(body)
    return int(found[1]) if found else None
