"""Finds earlier issues of one repository in its index (`Matcher.session`) and scores them (`SearchSession.judge`)."""

from bot.search.matching.matcher import Match, Matcher, SearchSession
from bot.search.matching.weights import Model, shipped_model

__all__ = ["Match", "Matcher", "Model", "SearchSession", "shipped_model"]
