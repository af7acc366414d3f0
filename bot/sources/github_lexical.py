"""GitHub's issue search by words: the plan's queries, one after the other.

One after the other because GitHub asks for it ("Best practices for using the REST API": make requests serially), and
because a refused OR changes what is asked next.
"""

from __future__ import annotations

from bot.errors import GitHubError, Invalid, Retryable
from bot.model import Issue
from bot.report import QueryRun
from bot.sources.protocol import PER_PAGE, Answer, Question, Searcher

NAME = "github-search"


class GitHubLexical:
    """Asks the queries of the plan, never more requests than it has queries.

    A server that refuses OR (422) is asked the plan's pairs of words instead. A failure ends the asking; what was found
    before it is kept.
    """

    name = NAME

    def __init__(self, github: Searcher) -> None:
        self._github = github

    def ask(self, question: Question) -> Answer:
        waiting, spare = list(question.plan.queries), list(question.plan.fallback)
        budget = len(waiting)
        lists: list[tuple[Issue, ...]] = []
        runs: list[QueryRun] = []
        problems: list[str] = []
        while waiting and len(runs) < budget:
            query = waiting.pop(0)
            try:
                page = self._github.search(query, per_page=PER_PAGE)
            except Invalid as refused:
                runs.append(QueryRun(NAME, query, None, problem=str(refused)))
                if " OR " in query and spare:
                    waiting = [other for other in waiting if " OR " not in other] + spare
                    spare = []
                else:
                    problems.append(f"{NAME}: {refused}")
            except (GitHubError, Retryable) as failure:
                later = isinstance(failure, Retryable)
                runs.append(QueryRun(NAME, query, None, problem=str(failure), later=later))
                problems.append(f"{NAME}: {failure}")
                break
            else:
                lists.append(page.items)
                runs.append(QueryRun(NAME, query, page.total_count, incomplete=page.incomplete, cached=page.cached_at))
        return Answer(NAME, tuple(lists), tuple(runs), tuple(problems))
