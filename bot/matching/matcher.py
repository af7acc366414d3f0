"""Finding and judging earlier issues of one repository, over its index."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import repeat
from typing import NamedTuple

import numpy as np

from bot.embedding import EmbeddingError
from bot.index import Analysis, Index, IndexedIssue, View
from bot.index.postings.packing import Floats, Integers
from bot.index.postings.scoring import distinct
from bot.index.vectors.vectors import Vectors
from bot.matching import features
from bot.matching.bounds import Compared
from bot.matching.evidence import Evidence, Witness, as_written
from bot.matching.model import Model, shipped_model
from bot.matching.pool import Pool, by_author, by_others, load
from bot.matching.question import pose
from bot.matching.rarity import Rarity
from bot.matching.retrieval import FULL_TEXT, VECTORS, Retrieved, among, by_vectors, by_words, fused
from bot.model import Issue
from bot.report import QueryRun

_log = logging.getLogger(__name__)

# Words of the question that its report names, the rarest.
_MOST_NAMED = 12


class Match(NamedTuple):
    """One candidate of the question's own repository.

    `confidence` is the probability that it reports the same thing, in [0, 1]; `score` is what it is ranked by, in
    log-odds against the others of its list. `row` is its place among all that `explain` knows.
    """

    number: int
    confidence: float
    score: float
    row: int
    explain: Callable[[int], Evidence]

    @property
    def evidence(self) -> Evidence:
        """What it shares with the question; looked up while its `Look` is open, since few candidates are shown."""
        return self.explain(self.row)


class Reading(NamedTuple):
    """A title and a body as the index reads them; without a `pair` of vectors they are compared by words alone."""

    text: tuple[str, str]
    analysis: Analysis
    pair: Vectors | None
    problems: tuple[str, ...]


class Matcher:
    """Cheap to build, without state of its own; one serves a whole process.

    Without a `model` the shipped one is read where something is first judged, and not before: whoever learns weights
    compares without any, and the shipped ones may be for other features.
    """

    def __init__(self, index: Index, model: Model | None = None) -> None:
        self._index = index
        self._model = model

    @contextmanager
    def looking(
        self, repo_id: int, target: Issue, *, words: str = "", below: int | None = None, stored: bool = False
    ) -> Iterator[Look]:
        """One find: search now, judge as often as needed until the end.

        `words` are searched for instead of the target's text, and what they find is judged by both; `below` leaves out
        issues with that number and higher ones. The target itself is never found. A model that fails costs the vectors,
        which `problems` says. With `stored` the target's vectors are those that the index has of it, and no model is
        asked.
        """
        own = self._read(repo_id, target.title, target.body, target.number, embedded=not stored)
        searched = self._read(repo_id, words, "", target.number, embedded=not stored) if words else None
        with self._index.view(repo_id) as view:
            own = own._replace(pair=view.pair(target.number)) if stored else self._checked(view, own)
            look = Look(view, self._model, target, own, below)
            if searched:
                look = Look(view, self._model, target, self._checked(view, searched), below, itself=look)
            yield look

    def _read(self, repo_id: int, title: str, body: str, number: int, *, embedded: bool) -> Reading:
        analysis = self._index.analyse(repo_id, title, body, number)
        pair, problems = self._embed(repo_id, analysis) if embedded else (None, ())
        return Reading((title, body), analysis, pair, problems)

    def _embed(self, repo_id: int, analysis: Analysis) -> tuple[Vectors | None, tuple[str, ...]]:
        try:
            return self._index.embed(repo_id, analysis), ()
        except EmbeddingError as failure:
            if failure.told != str(failure):
                _log.warning("repository %d is searched by words alone: %s", repo_id, failure)
            return None, (f"{VECTORS}: {failure.told}",)

    def _checked(self, view: View, reading: Reading) -> Reading:
        if reading.pair is None:
            return reading
        try:
            self._index.check(view, reading.pair)
        except EmbeddingError as failure:
            return reading._replace(pair=None, problems=(f"{VECTORS}: {failure.told}",))
        return reading


class Look:
    """Made by `Matcher.looking`; not to be shared between threads.

    `found` are the numbers that each source found, best first, of those that are worth comparing; a source that could
    not be asked is missing. `runs` say what was asked, `problems` what went wrong. `itself` is the look for the
    target's own text, where this one is for words in its place.
    """

    def __init__(
        self,
        view: View,
        model: Model | None,
        target: Issue,
        reading: Reading,
        below: int | None,
        itself: Look | None = None,
    ) -> None:
        self._view, self._model, self._text, pair = view, model, reading.text, reading.pair
        self._question = pose(view, target, reading.text[0], reading.analysis, pair)
        self._below, self._itself = below, itself
        self._retrieved = {FULL_TEXT: by_words(view, self._question, below)}
        if pair is not None:
            self._retrieved[VECTORS] = by_vectors(view, pair, below)
        lists = (numbers for one in self._retrieved.values() for numbers in one.values())
        self._pool = fused(lists, target.number)
        self.problems: tuple[str, ...] = tuple(dict.fromkeys((*reading.problems, *(itself.problems if itself else ()))))

    @cached_property
    def found(self) -> Mapping[str, tuple[int, ...]]:
        own = self._question.number
        ranked = {source: fused(one.values(), own, None) for source, one in self._retrieved.items()}
        return {source: among(numbers, self._pool) for source, numbers in ranked.items()}

    @cached_property
    def runs(self) -> tuple[QueryRun, ...]:
        return tuple(self._run(source, one) for source, one in self._retrieved.items())

    def judge(self, numbers: Collection[int] | None = None, also: Collection[int] = ()) -> list[Match]:
        """Those of its own candidates that are in `numbers` (all by default) and those of `also` that are in the
        index, best first.

        Whatever is asked for, all are judged together: how far a candidate stands out depends on the others. What words
        found is judged by the target's own text as well, and the likelier counts: a few words say less than the issue.
        """
        matches = self._judged(also)
        if self._itself is not None:
            found = {match.number for match in matches}
            matches = _likelier(matches, self._itself.judge(found, also=found))
        return matches if numbers is None else [one for one in matches if one.number in {*numbers, *also}]

    def _judged(self, also: Collection[int]) -> list[Match]:
        """All of its own candidates and those of `also` that are in the index, best first."""
        wanted = [number for number in also if number != self._question.number and not self._late(number)]
        pool = distinct(np.concatenate([self._pool, np.array(wanted, dtype=np.int64)]))
        there, candidates = load(self._view, pool, self._question.vectors is not None)
        if not len(there):
            return []
        rarity = Rarity.of(self._view, without=self._question.number)
        values = features.features(self._question, candidates, rarity)
        witness = Witness(self._question, *self._text, rarity)
        compared = Compared(
            values,
            there,
            [issue.title for issue in candidates.issues],
            others=by_others(self._question, candidates),
            own=by_author(self._question, candidates),
            title=self._question.title,
            total=rarity.total,
            vague=witness.vague,
            signed=bool(self._question.author),
        )
        judged = (self._model or shipped_model()).judge(compared)
        order = judged.order
        told = zip(
            there[order].tolist(),
            judged.confidences[order].tolist(),
            judged.scores[order].tolist(),
            order.tolist(),
            repeat(partial(self._explain, witness, candidates)),
        )
        return list(map(Match._make, told))

    def compared(self) -> tuple[Integers, Floats]:
        """Its own candidates and their features, (candidates, features.NAMES): what models are learned from."""
        there, candidates = load(self._view, self._pool, self._question.vectors is not None)
        rarity = Rarity.of(self._view, without=self._question.number)
        return there, features.features(self._question, candidates, rarity)

    def issues(self, numbers: Collection[int]) -> dict[int, IndexedIssue]:
        """Issues by number, without bodies; those that are not in the index are left out."""
        return self._view.issues(numbers)

    def texts(self, numbers: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Titles and bodies by number."""
        return self._view.texts(numbers)

    def _explain(self, witness: Witness, pool: Pool, row: int) -> Evidence:
        number = pool.issues[row].number
        return witness.of(pool, row, *self.texts([number]).get(number, ("", "")))

    def _late(self, number: int) -> bool:
        return self._below is not None and number >= self._below

    def _run(self, source: str, retrieved: Retrieved) -> QueryRun:
        hits = len(frozenset().union(*(numbers.tolist() for numbers in retrieved.values())))
        return QueryRun(source, self._asked() if source == FULL_TEXT else self._text[0], hits)

    def _asked(self) -> str:
        """The rarest words that were searched for, as the target has written them."""
        words = self._question.known["words"]
        rarest = np.argsort(words.issues, kind="stable")
        return " ".join(as_written((words.words[at] for at in rarest.tolist()), "\n".join(self._text))[:_MOST_NAMED])


def _likelier(matches: Sequence[Match], others: Sequence[Match]) -> list[Match]:
    """Each number once, as whichever judged it likelier has it, most likely first."""
    likeliest: dict[int, Match] = {}
    for match in sorted((*matches, *others), key=lambda one: -one.confidence):
        likeliest.setdefault(match.number, match)
    return list(likeliest.values())
