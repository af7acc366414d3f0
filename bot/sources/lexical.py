"""Asking GitHub's issue search by words: a few queries, one after the other.

One after the other because GitHub asks for it ("Best practices for using the REST API": make requests serially), and
because a refused OR changes what is asked next.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.errors import GitHubError, Invalid, Retryable
from bot.model import Issue
from bot.report import QueryRun
from bot.sources.protocol import PER_PAGE, Answer, Searcher


def ask_by_words(github: Searcher, name: str, queries: Sequence[str], instead: Sequence[str], budget: int) -> Answer:
    """The answer of the source `name`, for at most `budget` requests.

    A server that refuses OR (422) is asked the queries `instead`. A failure ends the asking; what was found before it
    is kept.
    """
    waiting, spare = list(queries), list(instead)
    lists: list[tuple[Issue, ...]] = []
    runs: list[QueryRun] = []
    problems: list[str] = []
    while waiting and len(runs) < budget:
        query = waiting.pop(0)
        try:
            page = github.search(query, per_page=PER_PAGE)
        except Invalid as refused:
            runs.append(QueryRun(name, query, None, problem=str(refused)))
            if " OR " in query and spare:
                waiting = [other for other in waiting if " OR " not in other] + spare
                spare = []
            else:
                problems.append(f"{name}: {refused}")
        except (GitHubError, Retryable) as failure:
            later = isinstance(failure, Retryable)
            runs.append(QueryRun(name, query, None, problem=str(failure), later=later))
            problems.append(f"{name}: {failure}")
            break
        else:
            lists.append(page.items)
            runs.append(QueryRun(name, query, page.total_count, incomplete=page.incomplete, cached=page.cached_at))
    return Answer(name, tuple(lists), tuple(runs), tuple(problems))
