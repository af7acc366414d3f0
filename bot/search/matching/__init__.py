"""Finds and judges earlier issues of one repository over its index: `Matcher.looking`, `Look.judge`."""

from bot.search.matching.matcher import Look, Match, Matcher
from bot.search.matching.weights import Model, shipped_model

__all__ = ["Look", "Match", "Matcher", "Model", "shipped_model"]
