"""Pull requests of the repository: what is being mended, or was, need not be reported. One search by words."""

from __future__ import annotations

from bot.ranking.plan import any_that_fit
from bot.ranking.query import build_query
from bot.sources.lexical import ask_by_words
from bot.sources.protocol import Answer, Question, Searcher

NAME = "pull-requests"


class PullRequests:
    """Asks for the rarest words of the title in titles; a server that refuses OR is asked for the two rarest."""

    name = NAME

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        words, repo = question.plan.words, question.target.repo
        if not words:
            return Answer(NAME)
        query = build_query(repo, any_that_fit(words), "title", question.state, "pr")
        narrow = build_query(repo, " ".join(words[:2]), "title", question.state, "pr")
        return ask_by_words(self._github, NAME, [query], [narrow], budget=2)
