"""Everything that people read from the bot: pure functions from reports and results to Markdown."""

from __future__ import annotations

from bot.conversation.render.candidates import explain
from bot.conversation.render.comment import View, render_comment
from bot.conversation.render.links import Place
from bot.conversation.render.replies import Replies, render_reply

__all__ = ["Place", "Replies", "View", "explain", "render_comment", "render_reply"]
