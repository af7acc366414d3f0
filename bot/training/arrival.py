"""What issues to learn from arrive in, and each arrival with the candidates that were compared with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bot.embedding import TextModel, choose_embedder
from bot.errors import UserError
from bot.index import Index, TextAnalyser
from bot.index.ephemeral import ephemeral_index
from bot.index.postings.packing import Floats, Integers
from bot.matching import Matcher
from bot.matching.readings import Likeness
from bot.model import Issue
from bot.replay import Mirror, PastIssue, ReplayGitHub
from bot.training.readings import Read

_REPO = 1


@dataclass(frozen=True, slots=True)
class Arrival:
    """One issue with its candidates: (candidates, features), which of the issues before it each is, counted back from
    0, and whether each is the `same`.

    `earlier` is how many issues there were before it, `stands_for` how many issues of its kind it is a sample of.
    `young` is one of a repository's first, which came when it was small itself. `read` is what careful readers said of
    its candidates; what was chosen for that alone stands for no issue.
    """

    earlier: int
    values: Floats
    back: Integers
    same: Floats
    stands_for: float
    young: bool = False
    read: Read | None = None


class Repository:
    """A repository in which issues arrive, and can be compared with those that came before them.

    What has arrived is put into the index where something is compared, many at once.
    """

    def __init__(self, index: Index) -> None:
        self._github = ReplayGitHub(searchable=False)
        self._mirror, self._matcher = Mirror(index, _REPO), Matcher(index, most=None)
        self._waiting: list[Issue] = []

    def arrive(self, past: PastIssue) -> Issue:
        """The next issue, numbered from 1 on."""
        return self._github.arrive(past)

    def compared(self, issue: Issue) -> tuple[Integers, Floats]:
        """The numbers of the candidates for the issue that arrived last, and (candidates, features)."""
        self._mirror.put(self._waiting)
        self._mirror.follow(self._github)
        self._waiting = []
        with self._matcher.looking(_REPO, issue, below=issue.number) as look:
            return look.compared()

    def likeness(self, issue: Issue, numbers: Integers, places: Integers) -> Likeness:
        """What the text model says of some of the candidates for the issue that arrived last, by their places."""
        others = np.setdiff1d(np.arange(len(numbers)), places)
        order = np.concatenate([places, others])
        with self._matcher.looking(_REPO, issue, below=issue.number) as look:
            found = look.likeness(numbers, issue.number - 1, order, len(places))
        if found is None:
            raise UserError("readings are compared by the text model, which failed; the log says why")
        # What the reader adds to those that it is asked about comes after them.
        return found.of(slice(len(places)))

    def keep(self, issue: Issue) -> None:
        """The issue that arrived last has been looked at, and is one of those before the next."""
        self._waiting.append(issue)


@contextmanager
def opened(text_model: Path | None) -> Iterator[Repository]:
    """An empty repository, compared by the text model in a folder (None: the one that Doppel comes with)."""
    with ephemeral_index(TextAnalyser(), choose_embedder(), text_model=_remembering(text_model)) as index:
        yield Repository(index)


class _Remembering:
    """A text model that makes each vector once, for the many repositories that are made of one file."""

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
