"""What the bot decided at each look at an issue, and on what evidence: kept for people who want to know why.

Pure values; `bot/store/parts/decisions.py` keeps them.
"""

from bot.decisions.model import COMMAND, Decision, Evidence, Outcome

__all__ = ["COMMAND", "Decision", "Evidence", "Outcome"]
