"""Fills the word statistics of a repository, which `ranking/rarity.py` uses."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from bot.domain.entities import Issue, RepoRef
from bot.domain.errors import GitHubError, Retryable
from bot.search.ranking.rarity import WordStats
from bot.text.terms import read

log = logging.getLogger(__name__)

#: Issues that are read on first contact with a repository. This costs no search.
RECENT_ISSUES = 200


class RecentReader(Protocol):
    """Lists a repository's issues, as `RepoClient` does."""

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]: ...


class RecentIssuesCache:
    """Caches the latest issues of repositories, which statistics need no newer; reads again while there are too few."""

    def __init__(self, github: RecentReader) -> None:
        self._github = github
        self._kept: dict[str, list[Issue]] = {}

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """The latest issues, at most `limit`. Raises what the reader raises."""
        kept = self._kept.get(repo.key, ())
        if len(kept) < limit:
            kept = self._kept[repo.key] = self._github.recent_issues(repo, limit)
        return list(kept[:limit])


def count_words(stats: WordStats, issues: Iterable[Issue]) -> None:
    """Add issues to the statistics."""
    stats.add({issue.number: read(issue.title, issue.body).counted() for issue in issues})


def ensure_word_stats(github: RecentReader, stats: WordStats, repo: RepoRef) -> bool:
    """Count the words of a repository on first contact; return whether there are statistics now.

    If that fails, all words count alike for now, and the find goes on.
    """
    if stats.total():
        return True
    try:
        recent = github.recent_issues(repo, RECENT_ISSUES)
    except (GitHubError, Retryable) as failure:
        log.warning("the recent issues of %s could not be read, all words count alike: %s", repo, failure)
        return False
    count_words(stats, recent)
    return True
