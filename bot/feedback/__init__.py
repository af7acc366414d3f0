"""What people say to the bot's comments: read, and made into labelled examples (C7)."""

from bot.feedback.examples import by_issue, examples
from bot.feedback.model import Example
from bot.store.signals import Kind, Signal, Who

__all__ = ["Example", "Kind", "Signal", "Who", "by_issue", "examples"]
