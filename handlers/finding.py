"""Asking the finder about an issue in the way that its repository's settings and a command want it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.commands import Options
from bot.errors import Unavailable
from bot.finder import Finder, FinderSettings
from bot.model import Issue
from bot.ranking.text import read
from bot.report import Report
from bot.store.words import Words
from handlers.visit import Visit


@dataclass(frozen=True, slots=True)
class RepositoryWords:
    """One repository's word statistics, as the finder takes them: an issue's own words are no evidence about it.

    Without that a re-check would ask other queries than the look before it, after which `target` was counted.
    """

    words: Words
    repo_id: int
    target: Issue

    def total(self) -> int:
        """How many other issues were counted."""
        return self.words.total(self.repo_id) - self._is_counted()

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        """In how many other issues each word occurs."""
        counts = self.words.counts(self.repo_id, words)
        if not self._is_counted():
            return counts
        own = read(self.target.title, self.target.body).counted()
        return {word: count - (word in own) for word, count in counts.items()}

    def add(self, issues: Mapping[int, Collection[str]]) -> None:
        """Count the words of issues that were not counted before."""
        self.words.add(self.repo_id, issues)

    def _is_counted(self) -> bool:
        return self.words.includes(self.repo_id, self.target.number)


def finder_for(visit: Visit, issue: Issue, *, fresh: bool = False) -> Finder:
    """A finder for this issue that remembers its searches for some minutes (T5), unless they shall be `fresh`."""
    search = visit.config.search
    # Forms cost requests, and their headings matter only where the issue has headings.
    forms = visit.services.issue_forms.headings(visit.github, visit.repository) if "##" in issue.body else ()
    return Finder(
        visit.thread(fresh=fresh),
        words=RepositoryWords(visit.services.store.words, visit.repository.id, issue),
        settings=FinderSettings(
            words_max=search.words_max,
            budget=search.budget,
            hybrid=search.hybrid,
            template_headings=forms,
            workflow_field=visit.services.settings.workflow_field,
        ),
    )


def find(visit: Visit, issue: Issue, options: Options | None = None, words: tuple[str, ...] = ()) -> Report:
    """Look for earlier issues; `options` and `words` are those of a command.

    Raises Unavailable where nothing was found and a question is open that may be answered later: the queue then tries
    again, since neither silence nor "nothing found" would be true (F9). What was answered is remembered till then.
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
    if not report.candidates and any(query.later for query in report.queries):
        raise Unavailable(f"not every search about {visit.repo}#{visit.number} was answered")
    return report
