"""The hidden first line by which the bot finds its own comments and issues again (C2).

A marker counts only at the very beginning of a text that the bot wrote; callers check the author (`author.py`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.entities import Actor, same_login


@dataclass(frozen=True, slots=True)
class Marker:
    """The beginning of every text of one kind. After `start` comes a fingerprint."""

    start: str

    def line(self, content: str) -> str:
        """The first line of a text with this content."""
        return f"{self.start} {hashlib.sha256(content.encode(errors='replace')).hexdigest()[:16]} -->"

    def begins(self, body: str) -> bool:
        """Whether a text is of this kind."""
        return body.startswith(self.start)


# The advisory comment, the issue with the backlog scan, and the one with the digest.
ADVICE, SCAN, DIGEST = (Marker(f"<!-- doppel:{name} v1") for name in ("advice", "scan", "digest"))

_STARTS = "|".join(re.escape(marker.start) for marker in (ADVICE, SCAN, DIGEST))
_FINGERPRINT = re.compile(rf"(?:{_STARTS}) ([0-9a-f]{{16}}) -->")
_REPLY = "<!-- doppel:reply v1"
_REPLIES = re.compile(rf"{re.escape(_REPLY)} ([0-9]{{1,18}}) -->")


def fingerprint(body: str) -> str:
    """The fingerprint of what the bot's own comment or issue says, without the time; empty if it has none."""
    found = _FINGERPRINT.match(body)
    return found[1] if found else ""


def reply_marker(comment_id: int) -> str:
    """The first line of the reply to the commands of one comment."""
    return f"{_REPLY} {comment_id} -->"


def is_reply_to(body: str, comment_id: int) -> bool:
    """Whether this is the text of the reply to that comment."""
    return body.startswith(reply_marker(comment_id))


def answered_by(body: str) -> int | None:
    """What a bot's comment answers, by its marker: a comment's id, or 0 for the issue; None without a marker."""
    if ADVICE.begins(body):
        return 0
    found = _REPLIES.match(body)
    return int(found[1]) if found else None


ACTIONS = "github-actions[bot]"
"""Who writes with the token that GitHub gives to a workflow."""

IsOurs = Callable[[Actor, int | None], bool]
"""Whether what this author wrote through that App, None for none, is the bot's own if it bears the marker."""


def of_app(app_id: int | None) -> IsOurs:
    """The App's own. A person who acts through the App bears its id too, and is no bot."""
    return lambda author, app: author.is_bot and (app == app_id or same_login(author.login, ACTIONS))


def of_token(login: Callable[[], str]) -> IsOurs:
    """For a workflow, which cannot know what App ran here before: any bot's, and those of whoever the token is."""
    return lambda author, app: author.is_bot or same_login(author.login, login())
