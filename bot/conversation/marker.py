"""The hidden first line by which the bot recognises its own comments and issues (C2).

A marker counts only at the very beginning of a text that the bot wrote. Callers check the text's author; for
comments they use `IsOurs`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass

from bot.domain.entities import Actor, same_login


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker of one kind of text: `start`, then a fingerprint of the text."""

    start: str

    def line(self, content: str) -> str:
        """The first line of a text with this content."""
        return f"{self.start} {hashlib.sha256(content.encode(errors='replace')).hexdigest()[:16]} -->"

    def begins(self, body: str) -> bool:
        return body.startswith(self.start)


# The advisory comment, the issue of the backlog scan, and the issue of the digest.
ADVICE, SCAN, DIGEST = (Marker(f"<!-- doppel:{name} v1") for name in ("advice", "scan", "digest"))

_STARTS = "|".join(re.escape(marker.start) for marker in (ADVICE, SCAN, DIGEST))
_FINGERPRINT = re.compile(rf"(?:{_STARTS}) ([0-9a-f]{{16}}) -->")
_REPLY = "<!-- doppel:reply v1"
_REPLY_MARKER = re.compile(rf"{re.escape(_REPLY)} ([0-9]{{1,18}}) -->")


def fingerprint(body: str) -> str:
    """The fingerprint in a marker of ADVICE, SCAN or DIGEST; empty without such a marker."""
    found = _FINGERPRINT.match(body)
    return found[1] if found else ""


def reply_marker(comment_id: int) -> str:
    """The first line of the reply to the commands of one comment."""
    return f"{_REPLY} {comment_id} -->"


def is_reply_to(body: str, comment_id: int) -> bool:
    return body.startswith(reply_marker(comment_id))


def answered_comment_id(body: str) -> int | None:
    """The id of the comment that `body` answers: 0 for an advisory comment, None for other texts."""
    if ADVICE.begins(body):
        return 0
    found = _REPLY_MARKER.match(body)
    return int(found[1]) if found else None


ACTIONS = "github-actions[bot]"
"""The author of comments written with the token that GitHub gives to a workflow."""

IsOurs = Callable[[Actor, int | None], bool]
"""Takes the author of a marked text, and the id of the App through which the text was written, if any. Returns whether
the text counts as the bot's own."""


def of_app(app_id: int | None) -> IsOurs:
    """Texts by bots only: this App or a workflow. A text that a person writes through the App has the App's id, too."""
    return lambda author, app: author.is_bot and (app == app_id or same_login(author.login, ACTIONS))


def of_token(login: Callable[[], str]) -> IsOurs:
    """For a workflow: texts by its token's owner, or by any bot, because any App may have run Doppel here before."""
    return lambda author, app: author.is_bot or same_login(author.login, login())
