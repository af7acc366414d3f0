"""What people say to the bot's comments: read, kept, and made into labelled examples (C7)."""

from bot.feedback.examples import by_issue, examples
from bot.feedback.keeping import Signals
from bot.feedback.model import Example, Kind, Signal, Who

__all__ = ["Example", "Kind", "Signal", "Signals", "Who", "by_issue", "examples"]
