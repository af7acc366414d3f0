"""Remembered calls (T1-T5): the same question asked twice within minutes is answered once."""

from bot.calls.counting import CallCounts
from bot.calls.rules import RULES, Rule, equal, fields, generic, never
from bot.calls.tracker import Call, Stats, ToolCallTracker, get_tool_call_tracker, set_tool_call_tracker

__all__ = [
    "RULES",
    "Call",
    "CallCounts",
    "Rule",
    "Stats",
    "ToolCallTracker",
    "equal",
    "fields",
    "generic",
    "get_tool_call_tracker",
    "never",
    "set_tool_call_tracker",
]
