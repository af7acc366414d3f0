"""Remembered calls (T1-T7): the same question asked twice within minutes is answered once."""

from bot.platform.calls.counting import CallCounts
from bot.platform.calls.rules import RULES, Rule, ToolRule, agreeing, equal, fields, generic, never
from bot.platform.calls.tracker import (
    CachedResult,
    Stats,
    ToolCallTracker,
    get_tool_call_tracker,
    set_tool_call_tracker,
)

__all__ = [
    "RULES",
    "CachedResult",
    "CallCounts",
    "Rule",
    "Stats",
    "ToolCallTracker",
    "ToolRule",
    "agreeing",
    "equal",
    "fields",
    "generic",
    "get_tool_call_tracker",
    "never",
    "set_tool_call_tracker",
]
