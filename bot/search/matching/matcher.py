"""Finds and judges earlier issues of one repository, over its index."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from bot.domain.entities import Issue
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.report import QueryRun, Reason
from bot.search.embedding import EmbeddingError
from bot.search.index import Analysis, Index, IndexedIssue, Query, View, binary, idf
from bot.search.index.arrays import Floats, Integers
from bot.search.index.text_vectors import NewVectors, TextVectors
from bot.search.index.vectors import Vectors
from bot.search.matching import features
from bot.search.matching.explanation import Explainer, as_written
from bot.search.matching.features import TermRarity
from bot.search.matching.probability import CLOSEST, TextSimilarity, smallness, stands_out
from bot.search.matching.retrieval import (
    FULL_TEXT,
    VECTORS,
    Pool,
    Retrieved,
    by_other_author,
    by_vectors,
    by_words,
    fused,
    load,
    make_query,
)
from bot.search.matching.weights import Comparison, Model, shipped_model
from bot.text.surfaces import surfaces_apart
from bot.text.titles import says_nothing, subject

_log = logging.getLogger(__name__)

#: Missing vectors of candidates that one find makes at most: each takes some 20 ms, and somebody waits.
MADE_AT_ONCE = 12
#: An issue of which this many were closed as duplicates is known without being named in the settings.
LEAST_DUPLICATES = 3
_MOST_ORIGINALS = 20
# A title that this many other issues share says nothing; this many of the most similar titles are compared.
_COMMON_TITLE, _MOST_TITLES = 4, 12
# The report names this many of the question's words, the rarest.
_MOST_NAMED = 12


class Match(NamedTuple):
    """One candidate. `confidence` is the probability that it reports the same thing, in [0, 1]; the ranking goes by
    `score`, in log-odds against the others of its list.
    """

    number: int
    confidence: float
    score: float
    explain: Callable[[], tuple[Reason, ...]]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """What it shares with the question (C3), looked up on demand while the session is open."""
        return self.explain()


class AnalysedText(NamedTuple):
    """A title and body as the index analyses them; without a `pair` of vectors only words are compared."""

    text: tuple[str, str]
    analysis: Analysis
    pair: Vectors | None
    problems: tuple[SourceProblem, ...]


class Matcher:
    """Opens sessions over an index. Cheap to build and stateless.

    Without a `model` the shipped one is read at the first judgement; training never judges, as the shipped weights may
    be for other features. A session makes at most `most` missing vectors of candidates. None makes all, so that answers
    do not depend on earlier ones.
    """

    def __init__(self, index: Index, model: Model | None = None, *, most: int | None = MADE_AT_ONCE) -> None:
        self._index = index
        self._model = model
        self._most = most

    @contextmanager
    def session(
        self,
        repo_id: int,
        target: Issue,
        *,
        words: str = "",
        below: int | None = None,
        only: Collection[int] | None = None,
        stored: bool = False,
        total: int | None = None,
    ) -> Iterator[SearchSession]:
        """Search for a target now; the session judges as often as you ask inside the `with` block.

        `words` replace the target's text in the search; their results are judged by both. `below` leaves out issues
        with that number and higher ones, `only` all but these. The target itself is never found. With `stored` its
        vectors come from the index instead of the model. If the model fails, `problems` says so, and only words are
        compared. `total` is how many issues the repository has, if the index holds only some.
        """
        own = self._read(repo_id, target.title, target.body, target.number, embedded=not stored)
        searched = self._read(repo_id, words, "", target.number, embedded=not stored) if words else None
        with self._index.view(repo_id) as view:
            if target.body.strip() and _is_no_evidence(view, own.analysis, target, below):
                own = self._read(repo_id, "", target.body, target.number, embedded=not stored)
            own = own._replace(pair=view.pair(target.number)) if stored else self._checked(view, own)
            texts = self._index.texts
            closely = TextComparison(texts, repo_id, view, own.analysis, self._most) if texts else None
            session = SearchSession(view, self._model, target, own, below, closely, only=only, total=total)
            if searched:
                reading = self._checked(view, searched)
                session = SearchSession(
                    view, self._model, target, reading, below, closely, session, only=only, total=total
                )
            yield session
        if texts is not None and closely is not None:
            texts.keep(repo_id, closely.fresh)

    def _read(self, repo_id: int, title: str, body: str, number: int, *, embedded: bool) -> AnalysedText:
        analysis = self._index.analyse(repo_id, title, body, number)
        try:
            pair = self._index.embed(repo_id, analysis) if embedded else None
        except EmbeddingError as failure:
            if failure.public_message != str(failure):
                _log.warning("repository %d is searched by words alone: %s", repo_id, failure)
            return AnalysedText((title, body), analysis, None, (_problem(failure),))
        return AnalysedText((title, body), analysis, pair, ())

    def _checked(self, view: View, reading: AnalysedText) -> AnalysedText:
        if reading.pair is None:
            return reading
        try:
            self._index.check(view, reading.pair)
        except EmbeddingError as failure:
            return reading._replace(pair=None, problems=(_problem(failure),))
        return reading


def _problem(failure: EmbeddingError) -> SourceProblem:
    return SourceProblem(VECTORS, RemarkCode.OTHERS.of(failure.public_message))


class TextComparison:
    """Compares a text with its candidates by the text model. `fresh` are new vectors, to be stored.

    If the model fails, `problem` says why.
    """

    def __init__(self, texts: TextVectors, repo_id: int, view: View, analysis: Analysis, most: int | None) -> None:
        self._texts, self._repo_id, self._view, self._analysis, self._most = texts, repo_id, view, analysis, most
        self.fresh: NewVectors = {}
        self.problem = ""

    @cached_property
    def _own(self) -> Vectors:
        return self._texts.of_text(self._analysis)

    def likeness(self, numbers: Integers, order: Integers, leaders: int, total: int) -> TextSimilarity | None:
        """A `weights.TextReader` for a pool with these numbers; None if the model fails, or can read nothing.

        Only small repositories need more than the leaders.
        """
        rows = order if smallness(total) else order[:leaders]
        try:
            own = self._own
            there, vectors, fresh = self._view.texts_by(self._texts, numbers[rows].tolist(), self._most)
        except EmbeddingError as failure:
            _log.warning("repository %d is judged without the text model: %s", self._repo_id, failure)
            self.problem = f"{VECTORS}: {failure.public_message}"
            return None
        self.fresh |= fresh
        if not len(there) or not own.any():
            return None
        cosines = vectors @ own
        closest = np.argsort(-cosines, kind="stable")[:CLOSEST]
        places = np.unique(np.concatenate([np.flatnonzero(there < leaders), closest]))
        out = stands_out(own, vectors, places, total)
        return TextSimilarity(rows[there[places]], cosines[places].astype(np.float64), out, smallness(total))


class SearchSession:
    """One search, made by `Matcher.session`. Do not share it between threads.

    `found` has the numbers that each source found and that are worth comparing, best first; a source that could not be
    asked is missing. `runs` tell what was asked, `problems` what went wrong. In a session for a person's words,
    `itself` is that for the target's own text.
    """

    def __init__(
        self,
        view: View,
        model: Model | None,
        target: Issue,
        reading: AnalysedText,
        below: int | None,
        closely: TextComparison | None = None,
        itself: SearchSession | None = None,
        *,
        only: Collection[int] | None = None,
        total: int | None = None,
    ) -> None:
        self._view, self._model, self._text, pair = view, model, reading.text, reading.pair
        self._question = make_query(view, target, reading.text[0], reading.analysis, pair)
        self._below, self._closely, self._itself, self._total = below, closely, itself, total
        self._retrieved = {FULL_TEXT: by_words(view, self._question, below)}
        if pair is not None:
            self._retrieved[VECTORS] = by_vectors(view, pair, below)
        lists = (numbers for one in self._retrieved.values() for numbers in one.values())
        pool = fused(lists, target.number)
        self._pool = pool if only is None else pool[np.isin(pool, list(only))]
        self.problems: tuple[SourceProblem, ...] = tuple(
            dict.fromkeys((*reading.problems, *(itself.problems if itself else ())))
        )

    @cached_property
    def found(self) -> Mapping[str, tuple[int, ...]]:
        own, pool = self._question.number, frozenset(self._pool.tolist())
        ranked = {source: fused(one.values(), own, None).tolist() for source, one in self._retrieved.items()}
        return {source: tuple(one for one in numbers if one in pool) for source, numbers in ranked.items()}

    @cached_property
    def runs(self) -> tuple[QueryRun, ...]:
        return tuple(self._run(source, one) for source, one in self._retrieved.items())

    def judge(self, numbers: Collection[int] | None = None, also: Collection[int] = ()) -> list[Match]:
        """Judge candidates in `numbers` (by default all), and issues `also`; best first.

        All are judged together, because how far one stands out depends on the others. Results of a person's words are
        judged by the target's text, too, and the higher probability counts.
        """
        matches = self._judged(also)
        if self._itself is not None:
            found = {match.number for match in matches}
            matches = _likelier(matches, self._itself.judge(found, also=found))
        return matches if numbers is None else [one for one in matches if one.number in {*numbers, *also}]

    def _judged(self, also: Collection[int]) -> list[Match]:
        wanted = [number for number in also if number != self._question.number and not self._late(number)]
        pool = np.unique(np.concatenate([self._pool, np.array(wanted, dtype=np.int64)]))
        there, candidates = load(self._view, pool, self._question.vectors is not None)
        if not len(there):
            return []
        rarity = TermRarity.of(self._view, without=self._question.number)
        values = features.compute_features(self._question, candidates, rarity)
        explainer = Explainer(self._question, *self._text, rarity)
        compared = Comparison(
            values,
            there,
            [issue.title for issue in candidates.issues],
            others=by_other_author(self._question, candidates),
            title=self._question.title,
            total=rarity.total if self._total is None else self._total,
            vague=explainer.vague,
            signed=bool(self._question.author),
            apart=np.array(
                [surfaces_apart(self._question.labels, issue.labels) is not None for issue in candidates.issues],
                dtype=np.bool_,
            ),
        )
        judged = (self._model or shipped_model()).judge(compared, partial(self.likeness, there, compared.total))
        numbers, confidences, scores = there.tolist(), judged.confidences.tolist(), judged.scores.tolist()
        return [
            Match(numbers[row], confidences[row], scores[row], partial(self._explain, explainer, candidates, row))
            for row in judged.order.tolist()
        ]

    def likeness(self, numbers: Integers, total: int, order: Integers, leaders: int) -> TextSimilarity | None:
        """`TextComparison.likeness`, or None without a text model."""
        return self._closely.likeness(numbers, order, leaders, total) if self._closely else None

    def compared(self) -> tuple[Integers, Floats]:
        """Its candidates and their features, (candidates, features.NAMES), to learn models from."""
        there, candidates = load(self._view, self._pool, self._question.vectors is not None)
        rarity = TermRarity.of(self._view, without=self._question.number)
        return there, features.compute_features(self._question, candidates, rarity)

    def frequent_originals(self) -> list[int]:
        """Issues that are reported again and again, but not those that came later than is looked at."""
        return [
            number
            for number in self._view.frequent_originals(LEAST_DUPLICATES, _MOST_ORIGINALS)
            if not self._late(number)
        ]

    def issues(self, numbers: Collection[int]) -> dict[int, IndexedIssue]:
        """Issues by number, without bodies; those that are not in the index are left out."""
        return self._view.issues(numbers)

    def texts(self, numbers: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Titles and bodies by number."""
        return self._view.texts(numbers)

    def _explain(self, explainer: Explainer, pool: Pool, row: int) -> tuple[Reason, ...]:
        number = pool.issues[row].number
        return explainer.reasons(pool, row, *self.texts([number]).get(number, ("", "")))

    def _late(self, number: int) -> bool:
        return self._below is not None and number >= self._below

    def _run(self, source: str, retrieved: Retrieved) -> QueryRun:
        hits = len(frozenset().union(*(numbers.tolist() for numbers in retrieved.values())))
        return QueryRun(source, self._asked() if source == FULL_TEXT else self._text[0], hits)

    def _asked(self) -> str:
        """The rarest words that were searched for, as the target spells them."""
        words = self._question.known["words"]
        rarest = np.argsort(words.issues, kind="stable")
        return " ".join(as_written((words.words[at] for at in rarest.tolist()), "\n".join(self._text))[:_MOST_NAMED])


def _is_no_evidence(view: View, analysis: Analysis, target: Issue, below: int | None) -> bool:
    """Whether the target's title says nothing (P3), or many other issues have it."""
    known = view.look_up(analysis)["title"]
    (found,) = view.search_all([Query("title", known.terms, idf(view.count, known.issues), binary(3))], below=below)
    issues = view.issues(found.best(_MOST_TITLES).numbers.tolist())
    mine = subject(target.title).casefold().split()
    same = [n for n, one in issues.items() if n != target.number and subject(one.title).casefold().split() == mine]
    if not says_nothing(target.title) and len(same) < _COMMON_TITLE:
        return False
    # The title of a copy counts all the same.
    return not any(body.split() == target.body.split() for _, body in view.texts(same).values())


def _likelier(matches: Sequence[Match], others: Sequence[Match]) -> list[Match]:
    """Each number once, with the higher of its probabilities, most likely first."""
    likeliest: dict[int, Match] = {}
    for match in sorted((*matches, *others), key=lambda one: -one.confidence):
        likeliest.setdefault(match.number, match)
    return list(likeliest.values())
