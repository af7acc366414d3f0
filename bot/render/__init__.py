"""Everything that people read from the bot: pure functions from reports and results to Markdown."""

from __future__ import annotations

from bot.render.comment import COMMENT_MAX, Closing, View, render_comment
from bot.render.escape import code, escape
from bot.render.explain import explain
from bot.render.links import Place
from bot.render.marker import MARKER, answered_by, fingerprint, has_marker, is_reply_to, reply_marker
from bot.render.replies import Replies, render_reply

__all__ = [
    "COMMENT_MAX",
    "MARKER",
    "Closing",
    "Place",
    "Replies",
    "View",
    "answered_by",
    "code",
    "escape",
    "explain",
    "fingerprint",
    "has_marker",
    "is_reply_to",
    "render_comment",
    "render_reply",
    "reply_marker",
]
