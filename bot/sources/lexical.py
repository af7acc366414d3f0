"""Asking GitHub's issue search by words: a few queries, one after the other.

One after the other because GitHub asks for it ("Best practices for using the REST API": make requests serially), and
because a refused OR changes what is asked next.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import GitHubError, Invalid, Retryable
from bot.remarks import told_by
from bot.report import QueryRun
from bot.sources.protocol import PER_PAGE, Answer, Searcher, unanswered


def ask_by_words(github: Searcher, name: str, queries: Sequence[str], instead: Sequence[str], budget: int) -> Answer:
    """The answer of the source `name`, for at most `budget` requests.

    A server that refuses OR (422) is asked the queries `instead`. A failure ends the asking; what was found before it
    is kept.
    """
    waiting, spare = list(queries), list(instead)
    answer = Answer(name)
    while waiting and len(answer.runs) < budget:
        query = waiting.pop(0)
        try:
            page = github.search(query, per_page=PER_PAGE)
        except Invalid as refused:
            if " OR " in query and spare:
                answer += Answer(name, runs=(QueryRun(name, query, None, problem=told_by(refused)),))
                waiting = [other for other in waiting if " OR " not in other] + spare
                spare = []
            else:
                answer += unanswered(name, query, refused)
        except (GitHubError, Retryable) as failure:
            return answer + unanswered(name, query, failure)
        else:
            run = QueryRun(name, query, page.total_count, incomplete=page.incomplete, cached=page.cached_at)
            answer += Answer(name, (page.items,), (run,))
    return answer
