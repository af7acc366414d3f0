"""GitHub's issue search by meaning and words together: one request, `search_type=hybrid`, 10 a minute."""

from __future__ import annotations

from bot.errors import GitHubError, Retryable
from bot.remarks import Remark
from bot.report import QueryRun
from bot.sources.protocol import PER_PAGE, Answer, Question, Searcher, unanswered

NAME = "github-hybrid"


class GitHubHybrid:
    """Asks with the title as it is, without quotes and OR, for which GitHub would fall back to words alone.

    A fall-back is no failure: its hits count, and the query's line says why.
    """

    name = NAME

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        query = question.natural
        if not query:
            return Answer(NAME)
        try:
            page = self._github.search(query, hybrid=True, per_page=PER_PAGE)
        except (GitHubError, Retryable) as failure:
            return unanswered(NAME, query, failure)
        note = Remark.BY_WORDS.of(", ".join(page.fallback_reasons)) if page.fallback_reasons else None
        run = QueryRun(NAME, query, page.total_count, problem=note, incomplete=page.incomplete, cached=page.cached_at)
        return Answer(NAME, (page.items,), (run,))
