"""A repository on GitHub and in an index, for tests of the finder over both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from bot.domain.entities import Issue
from bot.domain.report import Report
from bot.quality.replay.archive import PastIssue
from bot.quality.replay.replay import ReplayGitHub
from bot.search.embedding import EmbeddingError
from bot.search.finder import Finder, FinderSettings, FindOptions, TemporaryIndexes
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.matching import Matcher
from bot.search.sources import Source
from bot.search.sources.federated import only_sources
from bot.storage.engine import make_engine
from tests.index.conftest import HashingModel

START = datetime(2024, 1, 1, tzinfo=UTC)
LOCAL = ("full-text", "vectors")
REPO_ID = 7
SUBJECTS = (
    ("Upload fails with LS-2014", "ERROR upload could not store asset: database is locked"),
    ("Map stays grey", "Only markers are shown, tile requests are answered with 403"),
    ("Grey map without tiles", "Markers are there, tile requests get 403"),
    ("Portrait videos lie on their side", "Thumbnails are right, the player ignores the rotation"),
    ("Disks never go to sleep", "A few bytes are written to the cache every half minute"),
    ("Map has no tiles, markers only", "403 for each tile request"),
)
TARGET = ("The map is grey", "I see markers, but tile requests are answered with 403")


class Silent:
    """A model that cannot be loaded."""

    name, remote = "hashing", False

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbeddingError("the model could not be loaded: no such file")


class Bench:
    """A repository on GitHub and in the index, with one more issue that is asked about."""

    def __init__(self, index: Index, github: ReplayGitHub) -> None:
        self.index = index
        self.github = github
        self.issues = [self.arrive(*subject) for subject in SUBJECTS]
        self.target = self.arrive(*TARGET)
        self.put(*range(1, len(SUBJECTS) + 1))

    def arrive(self, title: str, body: str) -> Issue:
        number = len(getattr(self, "issues", [])) + len(SUBJECTS) * hasattr(self, "target") + 1
        return self.github.arrive(
            PastIssue(str(number), title, body, START + timedelta(days=number), None, f"user{number}", ())
        )

    def put(self, *numbers: int, of: int | None = None, state: str = "open", reason: str | None = None) -> None:
        """Have issues in the index, in this state."""
        found = (self.github.issue(self.target.repo, number) for number in numbers)
        rows = [IndexedIssue.of(issue, of)._replace(state=state, state_reason=reason) for issue in found]  # type: ignore[arg-type]
        self.index.put(REPO_ID, [row._replace(updated_at=row.updated_at + self.index.count(REPO_ID)) for row in rows])

    def find(
        self,
        *names: str,
        matcher: Matcher | None = None,
        known: tuple[int, ...] = (),
        further: Sequence[Source] = (),
        **asked: object,
    ) -> Report:
        settings = FinderSettings(sources=only_sources(*(names or LOCAL)), known_issues=known)
        matcher = matcher or Matcher(self.index)
        outside = TemporaryIndexes(self.index)
        finder = Finder(
            self.github, settings=settings, matcher=matcher, repo_id=REPO_ID, temporary=outside, further=further
        )
        options = FindOptions(**({"threshold": 0.0, "state": "all"} | asked))  # type: ignore[arg-type]
        return finder.find(self.target, options)


@contextmanager
def opened(url: str, model: object | None) -> Iterator[Index]:
    engine = make_engine(url)
    yield Index(engine, TextAnalyser(), model)  # type: ignore[arg-type]
    engine.dispose()


@pytest.fixture
def url(new_store: Callable[[str], str]) -> str:
    return new_store("sqlite")


@pytest.fixture
def bench(url: str) -> Iterator[Bench]:
    with opened(url, HashingModel()) as index:
        yield Bench(index, ReplayGitHub())


def numbers(report: Report) -> list[int]:
    return [one.number for one in report.candidates]
