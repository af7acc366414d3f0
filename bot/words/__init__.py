"""What the bot says, in six languages: each text with its variables, and how a repository puts its own in its place."""

from __future__ import annotations

from bot.words.catalogue import LANGUAGES, english, speak
from bot.words.detection import language_of
from bot.words.template import GAPS_MAX, LONGEST, SPACE, Malformed, Template, forbidden
from bot.words.texts import Declared, declared
from bot.words.words import Words

__all__ = [
    "GAPS_MAX",
    "LANGUAGES",
    "LONGEST",
    "SPACE",
    "Declared",
    "Malformed",
    "Template",
    "Words",
    "declared",
    "english",
    "forbidden",
    "language_of",
    "speak",
]
