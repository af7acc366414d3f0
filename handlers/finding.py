"""Asking the finder about an issue in the way that its repository's settings and a command want it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.commands import Options
from bot.errors import Unavailable
from bot.finder import Finder, FinderSettings
from bot.model import Issue
from bot.report import Report
from bot.store.words import Words
from handlers.visit import Visit


@dataclass(frozen=True, slots=True)
class RepositoryWords:
    """One repository's word statistics, as the finder takes them."""

    words: Words
    repo_id: int

    def total(self) -> int:
        """How many issues were counted."""
        return self.words.total(self.repo_id)

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        """In how many of them each word occurs."""
        return self.words.counts(self.repo_id, words)

    def add(self, issues: Mapping[int, Collection[str]]) -> None:
        """Count the words of issues that were not counted before."""
        self.words.add(self.repo_id, issues)


def finder_for(visit: Visit, issue: Issue, *, fresh: bool = False) -> Finder:
    """A finder for this issue that remembers its searches for some minutes (T5), unless they shall be `fresh`."""
    search = visit.config.search
    # Forms cost requests, and their headings matter only where the issue has headings.
    forms = visit.services.issue_forms.headings(visit.github, visit.repository) if "##" in issue.body else ()
    return Finder(
        visit.thread(fresh=fresh),
        words=RepositoryWords(visit.services.store.words, visit.repository.id),
        settings=FinderSettings(
            words_max=search.words_max, budget=search.budget, hybrid=search.hybrid, template_headings=forms
        ),
    )


def find(visit: Visit, issue: Issue, options: Options | None = None, words: tuple[str, ...] = ()) -> Report:
    """Look for earlier issues; `options` and `words` are those of a command.

    Raises Unavailable where not a single question was answered: the queue then tries again, since neither silence nor
    "nothing found" would be true.
    """
    options = options or Options()
    config = visit.config
    report = finder_for(visit, issue, fresh=options.fresh).find(
        issue,
        threshold=options.threshold or 0.0,
        min_confidence=config.min_confidence if options.confidence is None else options.confidence,
        max_candidates=options.limit or config.max_candidates,
        state=options.state or ("all" if config.include_closed else "open"),
        words=" ".join(words),
        rejected=visit.services.store.verdicts.rejected(visit.repository.id, visit.number),
        earlier_only=True,
    )
    if report.queries and all(query.hits is None for query in report.queries):
        raise Unavailable(f"no search about {visit.repo}#{visit.number} was answered")
    return report
