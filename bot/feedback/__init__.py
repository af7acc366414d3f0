"""What people say to the bot's comments: read, and made into labelled examples (C7)."""

from bot.feedback.decided import Decided, decided
from bot.feedback.examples import Example, by_issue, examples

__all__ = ["Decided", "Example", "by_issue", "decided", "examples"]
