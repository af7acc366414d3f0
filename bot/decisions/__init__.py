"""What the bot decided at each look at an issue, and on what evidence: kept for people who want to know why.

This is the narrow interface for whoever shows it: `Decisions` reads and writes, the rest are values.
"""

from bot.decisions.keeping import KEPT_DAYS, KEPT_MOST, Decisions
from bot.decisions.model import COMMAND, Decision, Evidence, Outcome

__all__ = ["COMMAND", "KEPT_DAYS", "KEPT_MOST", "Decision", "Decisions", "Evidence", "Outcome"]
