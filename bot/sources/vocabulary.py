"""Where the word statistics of a repository come from (`ranking/rarity.py` says what they are for)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Protocol

from bot.errors import GitHubError, Retryable
from bot.model import Issue, RepoRef
from bot.ranking.rarity import WordStats
from bot.text.terms import read

log = logging.getLogger(__name__)

#: Issues that are read on first contact with a repository. They cost no search.
FIRST_CONTACT = 200


class RecentReader(Protocol):
    """The list of a repository's issues; `RepoClient` has it."""

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]: ...


class Remembered:
    """The latest issues of repositories, each repository's read once: what is learned of it needs no newer ones.

    One that has not so many yet is read again.
    """

    def __init__(self, github: RecentReader) -> None:
        self._github = github
        self._kept: dict[str, list[Issue]] = {}

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]:
        """Those opened last, at most `limit`. Raises what the reader raises."""
        kept = self._kept.get(repo.key, ())
        if len(kept) < limit:
            kept = self._kept[repo.key] = self._github.recent_issues(repo, limit)
        return list(kept[:limit])


def count_words(stats: WordStats, issues: Iterable[Issue]) -> None:
    """Add issues to the statistics."""
    stats.add({issue.number: read(issue.title, issue.body).counted() for issue in issues})


def make_acquaintance(github: RecentReader, stats: WordStats, repo: RepoRef) -> bool:
    """Learn the words of a repository that was never seen before. Returns whether anything is known of it now.

    Where that fails, all words count alike for now: the find goes on, a little less sharp.
    """
    if stats.total():
        return True
    try:
        recent = github.recent_issues(repo, FIRST_CONTACT)
    except (GitHubError, Retryable) as failure:
        log.warning("the recent issues of %s could not be read, all words count alike: %s", repo, failure)
        return False
    count_words(stats, recent)
    return True
