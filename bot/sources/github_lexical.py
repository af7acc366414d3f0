"""GitHub's issue search by words: the plan's queries (F8)."""

from __future__ import annotations

from bot.sources.lexical import ask_by_words
from bot.sources.protocol import Answer, Question, Searcher

NAME = "github-search"


class GitHubLexical:
    """Asks the queries of the plan, never more requests than it has queries."""

    name = NAME

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        queries = question.plan.queries
        return ask_by_words(self._github, NAME, queries, question.plan.fallback, len(queries))
