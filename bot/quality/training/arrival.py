"""A repository in which issues to learn from arrive, and each arrival with its candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.domain.entities import Issue
from bot.domain.errors import UserError
from bot.quality.replay import Mirror, PastIssue, ReplayGitHub
from bot.quality.training.readings import Read
from bot.search.embedding.local import TextModel, choose_embedder
from bot.search.index import Index, TextAnalyser
from bot.search.index.arrays import Floats, Integers
from bot.search.index.index import ephemeral_index
from bot.search.matching import Matcher
from bot.search.matching.probability import TextSimilarity

_REPO = 1


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: their features, (candidates, features), and whether each is the `same`.

    `back` counts how many issues each candidate lies back, from 0. `earlier` is the number of issues before this one,
    `stands_for` how many issues of its kind it is a sample of (0 if it was chosen only because it was read). `young`
    marks one of a repository's first issues. `read` is what careful readers said of its candidates.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False
    read: Read | None = None


class Repository:
    """A repository in which issues arrive and are compared with those before them.

    Issues wait here until the next comparison, and then enter the index together.
    """

    def __init__(self, index: Index) -> None:
        self._github = ReplayGitHub(searchable=False)
        self._mirror, self._matcher = Mirror(index, _REPO), Matcher(index, most=None)
        self._waiting: list[Issue] = []

    def arrive(self, past: PastIssue) -> Issue:
        """Open the next issue, numbered from 1 on."""
        return self._github.arrive(past)

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        """The numbers of the candidates for the issue that arrived last, and (candidates, features)."""
        self._mirror.put(self._waiting)
        self._mirror.follow(self._github)
        self._waiting = []
        with self._matcher.session(_REPO, issue, below=issue.number) as session:
            return session.compared()

    def likeness(self, issue: Issue, numbers: Integers, places: Integers) -> TextSimilarity:
        """What the text model says of the candidates at these places, for the issue that arrived last."""
        others = np.setdiff1d(np.arange(len(numbers)), places)
        order = np.concatenate([places, others])
        with self._matcher.session(_REPO, issue, below=issue.number) as session:
            found = session.likeness(numbers, issue.number - 1, order, len(places))
        if found is None:
            raise UserError("readings are compared by the text model, which failed; the log says why")
        # Candidates that the reader adds come after those it was asked about.
        return found.of(slice(len(places)))

    def keep(self, issue: Issue) -> None:
        """Keep the issue that arrived last, for the next ones to be compared with."""
        self._waiting.append(issue)


@contextmanager
def opened(text_model: Path | None) -> Iterator[Repository]:
    """An empty repository that compares by the text model in a folder (None: the shipped model)."""
    with ephemeral_index(TextAnalyser(), choose_embedder(), text_model=_remembering(text_model)) as index:
        yield Repository(index)


class _Remembering:
    """A text model with a cache, because many repositories are made of the texts of one file."""

    remote = False

    def __init__(self, model: TextModel) -> None:
        self._model, self._made = model, dict[str, NDArray[np.float32]]()

    @property
    def name(self) -> str:
        return self._model.name

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in self._made]
        if new:
            self._made |= zip(new, self._model.embed(new), strict=True)
        return np.array([self._made[text] for text in texts])


@cache
def _remembering(folder: Path | None) -> _Remembering:
    return _Remembering(TextModel(folder))
