"""The bot's texts in six languages, with their variables, and the texts that a repository puts in their place."""

from __future__ import annotations

from bot.conversation.words.catalogue import LANGUAGES, Words, english, speak
from bot.conversation.words.detection import language_of
from bot.conversation.words.template import GAPS_MAX, LONGEST, SPACE, Malformed, Template, forbidden
from bot.conversation.words.texts import Text, declared

__all__ = ["GAPS_MAX", "LANGUAGES", "LONGEST", "SPACE", "Malformed", "Template", "Text", "Words", "declared"]
__all__ += ["english", "forbidden", "language_of", "speak"]
