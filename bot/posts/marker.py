"""The hidden first line by which the bot finds its own comments again (C2).

A marker counts only at the very beginning of a comment, and only in a comment that this App wrote: who calls
`has_marker` has looked at the author before. Titles and queries can never stand there.
"""

from __future__ import annotations

import hashlib
import re

MARKER = "<!-- doppel:advice v1"
"""How every advisory comment begins."""

_REPLY = "<!-- doppel:reply v1"
_REPLIES = re.compile(rf"{re.escape(_REPLY)} ([0-9]{{1,18}}) -->")
_SCAN = "<!-- doppel:scan v1"
_DIGEST = "<!-- doppel:digest v1"
_FINGERPRINT = re.compile(rf"(?:{'|'.join(map(re.escape, (MARKER, _SCAN, _DIGEST)))}) ([0-9a-f]{{16}}) -->")


def has_marker(body: str) -> bool:
    """Whether this is the text of an advisory comment."""
    return body.startswith(MARKER)


def advice_marker(content: str) -> str:
    """The first line of an advisory comment. It carries a fingerprint of what the comment says."""
    return f"{MARKER} {_hashed(content)} -->"


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
    if has_marker(body):
        return 0
    found = _REPLIES.match(body)
    return int(found[1]) if found else None


def scan_marker(content: str) -> str:
    """The first line of the issue that shows the backlog scan, with a fingerprint of what it says."""
    return f"{_SCAN} {_hashed(content)} -->"


def is_scan(body: str) -> bool:
    """Whether this is the text of the issue that shows the backlog scan."""
    return body.startswith(_SCAN)


def digest_marker(content: str) -> str:
    """The first line of the issue that shows the digest, with a fingerprint of what it says."""
    return f"{_DIGEST} {_hashed(content)} -->"


def is_digest(body: str) -> bool:
    """Whether this is the text of the issue that shows the digest."""
    return body.startswith(_DIGEST)


def _hashed(content: str) -> str:
    return hashlib.sha256(content.encode(errors="replace")).hexdigest()[:16]
