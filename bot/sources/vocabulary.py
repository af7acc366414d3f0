"""Where the word statistics of a repository come from, and where they are kept (`ranking/rarity.py` says what for)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from bot.errors import GitHubError, Retryable
from bot.model import Issue, RepoRef
from bot.ranking.rarity import WordStats
from bot.ranking.text import read

log = logging.getLogger(__name__)

#: Issues that are read on first contact with a repository. They cost no search.
FIRST_CONTACT = 200


class WordTable(Protocol):
    """The store's table of words; `Store.words` is one."""

    def add(self, repo_id: int, issues: Mapping[int, Collection[str]]) -> Any: ...
    def counts(self, repo_id: int, wanted: Collection[str]) -> Mapping[str, int]: ...
    def total(self, repo_id: int) -> int: ...


class StoredWords:
    """The statistics of one repository, kept in the store."""

    def __init__(self, table: WordTable, repo_id: int) -> None:
        self._table = table
        self._repo_id = repo_id

    def total(self) -> int:
        return self._table.total(self._repo_id)

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        return self._table.counts(self._repo_id, words)

    def add(self, issues: Mapping[int, Collection[str]]) -> None:
        self._table.add(self._repo_id, issues)


class RecentReader(Protocol):
    """The list of a repository's issues; `RepoClient` has it."""

    def recent_issues(self, repo: RepoRef, limit: int) -> list[Issue]: ...


def count_words(stats: WordStats, issues: Iterable[Issue]) -> None:
    """Add issues to the statistics."""
    stats.add({issue.number: read(issue.title, issue.body).counted() for issue in issues})


def make_acquaintance(github: RecentReader, stats: WordStats, repo: RepoRef) -> None:
    """Learn the words of a repository that was never seen before.

    Where that fails, all words count alike for now: the find goes on, a little less sharp.
    """
    if stats.total():
        return
    try:
        recent = github.recent_issues(repo, FIRST_CONTACT)
    except (GitHubError, Retryable) as failure:
        log.warning("the recent issues of %s could not be read, all words count alike: %s", repo, failure)
        return
    count_words(stats, recent)
