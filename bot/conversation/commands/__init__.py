"""The `/duplicates` commands: one table, and the parser that reads comments (C4, C5)."""

from __future__ import annotations

from bot.conversation.commands.parse import parse
from bot.conversation.commands.table import (
    COMMAND,
    COMMANDS,
    COMMANDS_LIMIT,
    LIMIT_SECONDS,
    OPTIONS,
    Command,
    Invalid,
    Misspelt,
    Name,
    Options,
    Parsed,
    Problem,
    Requirement,
    Row,
    allowed,
)

__all__ = [
    "COMMAND",
    "COMMANDS",
    "COMMANDS_LIMIT",
    "LIMIT_SECONDS",
    "OPTIONS",
    "Command",
    "Invalid",
    "Misspelt",
    "Name",
    "Options",
    "Parsed",
    "Problem",
    "Requirement",
    "Row",
    "allowed",
    "parse",
]
