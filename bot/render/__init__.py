"""Everything that people read from the bot: pure functions from reports and results to Markdown."""

from __future__ import annotations

from bot.render.candidates import explain
from bot.render.comment import View, render_comment
from bot.render.links import Place
from bot.render.replies import Replies, render_reply

__all__ = ["Place", "Replies", "View", "explain", "render_comment", "render_reply"]
