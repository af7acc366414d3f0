"""The pages of changed issues that one step reads of GitHub."""

from __future__ import annotations

from dataclasses import dataclass

from bot.errors import Retryable
from bot.github.repository.changes import Budget
from bot.github.repository.repo import RepoClient
from bot.indexing.pace import PAGES
from bot.indexing.walk import Place, further, resting
from bot.model import Issue, Repository
from bot.store.parts.repositories import Progress


@dataclass(slots=True)
class Pages:
    """What a step has read: issues, the place to go on, and whether that is the end. `failure` is what stopped it."""

    place: Place
    issues: list[Issue]
    end: bool = False
    etag: str = ""
    requests: int = 0
    budget: Budget | None = None
    failure: Retryable | None = None


def read_pages(progress: Progress, repository: Repository, github: RepoClient) -> Pages:
    """Some pages from the place on that `progress` has come to. A failure keeps what was read before it."""
    read = Pages(Place.parse(progress.cursor), [])
    try:
        while read.requests < PAGES and not read.end:
            etag = progress.etag if not read.requests else ""
            place = read.place
            page = github.changed_issues(
                repository.ref, since=place.since, after=place.after, page=place.page, etag=etag
            )
            read.requests += 1
            read.budget = page.budget
            read.issues += page.issues
            read.end = not page.more
            read.etag = page.etag
            if page.more:
                read.place = further(place, page.last, page.after)
            elif not page.unchanged:
                read.place = resting(place, page.last)
    except Retryable as failure:
        read.failure = failure
    return read
