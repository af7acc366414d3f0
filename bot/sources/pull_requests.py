"""Pull requests of the repository: what is being mended, or was, need not be reported. One search by words."""

from __future__ import annotations

from bot.sources.lexical import ask_titles
from bot.sources.protocol import Answer, Question, Searcher

NAME = "pull-requests"


class PullRequests:
    """Asks for the rarest words of the title in titles; a server that refuses OR is asked for the two rarest."""

    name = NAME

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        if not question.plan.words:
            return Answer(NAME)
        return ask_titles(self._github, NAME, question.target.repo, question, "pr")
