"""Finds earlier issues in a repository's index, and judges how likely they report the same thing as the target.

The finder opens a session for each issue; training and replays do, too.
"""

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
from bot.search.matching.probability import CLOSEST, LEADERS, TextSimilarity, smallness, stands_out, usual_cosine
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

#: If candidates lack the text model's vectors, a judgement makes at most this many: each takes 20 ms.
MADE_AT_ONCE = 12
#: An issue with this many closed duplicates is treated like those in the setting `known_issues`.
LEAST_DUPLICATES = 3
_MOST_ORIGINALS = 20
# A title is no evidence if at least _COMMON_TITLE other issues share it. Only the _MOST_TITLES closest are compared.
_COMMON_TITLE, _MOST_TITLES = 4, 12
# The report names this many of the question's words, the rarest ones.
_MOST_WORDS_NAMED = 12


class Match(NamedTuple):
    """One candidate. `confidence` is the probability in [0, 1] that it reports the same thing as the question.

    `score` comes from the ranking (`weights.py`). Only scores of one list can be compared. `row` is
    the candidate's row in the pool, for `explain_row`.
    """

    number: int
    confidence: float
    score: float
    row: int
    explain_row: Callable[[int], tuple[Reason, ...]]

    def explain(self) -> tuple[Reason, ...]:
        """The reasons (C3). Call this while the session is open, because it reads the texts."""
        return self.explain_row(self.row)


class AnalysedText(NamedTuple):
    """A title and body as the index analyses them. Without a `pair` of vectors, only words are compared."""

    text: tuple[str, str]
    analysis: Analysis
    pair: Vectors | None
    problems: tuple[SourceProblem, ...]


class Matcher:
    """Opens sessions over an index. Cheap to build and stateless.

    Without a `model`, the first judgement reads the shipped model. Training never judges, so it needs no model. `most`
    limits how many missing vectors of the text model a judgement makes. Without a limit (None), a judgement makes all
    missing vectors, so its result does not depend on vectors that earlier sessions stored.
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
        """Search for issues like `target`. Inside the `with` block, the session can judge any number of times.

        `words` replace the target's text in the search, but the results are judged by both. The
        search finds only numbers in `only` that are less than `below`, and never the target. With `stored`,
        the index supplies the target's vectors. If embedding fails, `problems` says so, and only
        words are compared. `total` is the repository's number of issues, if the index lacks some.
        """
        own = self._analyse(repo_id, target.title, target.body, target.number, embedded=not stored)
        searched = self._analyse(repo_id, words, "", target.number, embedded=not stored) if words else None
        with self._index.view(repo_id) as view:
            if target.body.strip() and _title_is_no_evidence(view, own.analysis, target, below):
                own = self._analyse(repo_id, "", target.body, target.number, embedded=not stored)
            own = own._replace(pair=view.pair(target.number)) if stored else self._checked(view, own)
            text_vectors = self._index.text_vectors
            by_text = TextComparison(text_vectors, repo_id, view, own.analysis, self._most) if text_vectors else None
            make_session = partial(SearchSession, view, self._model, target, only=only, total=total)
            by_target = make_session(own, below, by_text)
            session = make_session(self._checked(view, searched), below, by_text, by_target) if searched else by_target
            yield session
        if text_vectors is not None and by_text is not None:
            text_vectors.put(repo_id, by_text.fresh)

    def _analyse(self, repo_id: int, title: str, body: str, number: int, *, embedded: bool) -> AnalysedText:
        analysis = self._index.analyse(repo_id, title, body, number)
        try:
            pair = self._index.embed(repo_id, analysis) if embedded else None
        except EmbeddingError as failure:
            # The report has only the public message.
            if failure.public_message != str(failure):
                _log.warning("repository %d is searched by words alone: %s", repo_id, failure)
            return AnalysedText((title, body), analysis, None, (_problem(failure),))
        return AnalysedText((title, body), analysis, pair, ())

    def _checked(self, view: View, analysed: AnalysedText) -> AnalysedText:
        if analysed.pair is None:
            return analysed
        try:
            self._index.check(view, analysed.pair)
        except EmbeddingError as failure:
            return analysed._replace(pair=None, problems=(_problem(failure),))
        return analysed


def _problem(failure: EmbeddingError) -> SourceProblem:
    return SourceProblem(VECTORS, RemarkCode.OTHERS.of(failure.public_message))


class TextComparison:
    """Compares a text with its candidates by the text model. `fresh` has new vectors, for the caller to store."""

    def __init__(
        self, text_vectors: TextVectors, repo_id: int, view: View, analysis: Analysis, most: int | None
    ) -> None:
        self._text_vectors, self._repo_id, self._view = text_vectors, repo_id, view
        self._analysis, self._most = analysis, most
        self.fresh: NewVectors = {}

    @cached_property
    def _own(self) -> Vectors:
        return self._text_vectors.of_text(self._analysis)

    def likeness(self, numbers: Integers, total: int, order: Integers, leaders: int) -> TextSimilarity | None:
        """Compare the question with a pool; None if the model fails or cannot read the texts.

        `numbers` has each row's issue; `order` lists rows, best first. The model reads the first
        `leaders` rows, or all rows if `total` is small. In training, `leaders` may exceed LEADERS.
        """
        rows = order if smallness(total) > 0 else order[:leaders]
        try:
            own = self._own
            found, vectors, fresh = self._view.text_vectors(self._text_vectors, numbers[rows].tolist(), self._most)
        except EmbeddingError as failure:
            _log.warning("repository %d is judged without the text model: %s", self._repo_id, failure)
            return None
        self.fresh |= fresh
        if not len(found) or not own.any():
            return None
        cosines = vectors @ own
        closest = np.argsort(-cosines, kind="stable")[:CLOSEST]
        # `found` holds positions in `rows`. The first `leaders` positions are the leaders'.
        selected = np.unique(np.concatenate([np.flatnonzero(found < leaders), closest]))
        excess = stands_out(own, vectors, selected, total)
        # `leaders` can be greater than LEADERS, but the usual cosine always comes from the first LEADERS rows.
        usual = usual_cosine(cosines[(found < LEADERS) & vectors.any(axis=1)])
        compared = cosines[selected].astype(np.float64)
        return TextSimilarity(rows[found[selected]], compared, excess, smallness(total), usual)


class SearchSession:
    """One search, made by `Matcher.session`. Do not share it between threads.

    `found` lists each source's numbers worth comparing, best first. It leaves out sources that could not be asked.
    `runs` lists the queries, and `problems` lists the failures. In a session for a person's search
    words, `by_target` is the session for the target's own text.
    """

    def __init__(
        self,
        view: View,
        model: Model | None,
        target: Issue,
        analysed: AnalysedText,
        below: int | None,
        by_text: TextComparison | None = None,
        by_target: SearchSession | None = None,
        *,
        only: Collection[int] | None = None,
        total: int | None = None,
    ) -> None:
        self._view, self._model, self._text, pair = view, model, analysed.text, analysed.pair
        self._question = make_query(view, target, analysed.text[0], analysed.analysis, pair)
        self._below, self._by_text, self._by_target, self._total = below, by_text, by_target, total
        self._retrieved = {FULL_TEXT: by_words(view, self._question, below)}
        if pair is not None:
            self._retrieved[VECTORS] = by_vectors(view, pair, below)
        lists = (numbers for retrieved in self._retrieved.values() for numbers in retrieved.values())
        candidates = fused(lists, target.number)
        self._candidates = candidates if only is None else candidates[np.isin(candidates, list(only))]
        self.problems: tuple[SourceProblem, ...] = tuple(
            dict.fromkeys((*analysed.problems, *(by_target.problems if by_target else ())))
        )

    @cached_property
    def found(self) -> Mapping[str, tuple[int, ...]]:
        found = {}
        for source, lists in self._retrieved.items():
            ranked = fused(lists.values(), skip=self._question.number, most=None)
            found[source] = tuple(ranked[np.isin(ranked, self._candidates)].tolist())
        return found

    @cached_property
    def runs(self) -> tuple[QueryRun, ...]:
        return tuple(self._run(source, one) for source, one in self._retrieved.items())

    def judge(self, numbers: Collection[int] | None = None, also: Collection[int] = ()) -> list[Match]:
        """Judge the candidates in `numbers` (by default all) and the issues in `also`; best first.

        All candidates are judged together, because a probability depends on the rest of the pool. If a person searches
        with their own words, the results are judged by the target's text, too, and the higher probability counts.
        """
        matches = self._judge_all(also)
        if self._by_target is not None:
            found = {match.number for match in matches}
            matches = _likelier(matches, self._by_target.judge(found, also=found))
        return matches if numbers is None else [one for one in matches if one.number in {*numbers, *also}]

    def _judge_all(self, also: Collection[int]) -> list[Match]:
        wanted = [number for number in also if number != self._question.number and not self._is_too_late(number)]
        together = np.unique(np.concatenate([self._candidates, np.array(wanted, dtype=np.int64)]))
        present, pool = load(self._view, together, self._question.vectors is not None)
        if not len(present):
            return []
        rarity = TermRarity.of(self._view, without=self._question.number)
        values = features.compute_features(self._question, pool, rarity)
        explainer, labels = Explainer(self._question, *self._text, rarity), self._question.labels
        compared = Comparison(
            values,
            present,
            [issue.title for issue in pool.issues],
            others=by_other_author(self._question, pool),
            title=self._question.title,
            total=rarity.total if self._total is None else self._total,
            vague=explainer.vague,
            signed=bool(self._question.author),
            apart=np.array(
                [bool(labels and surfaces_apart(labels, issue.labels)) for issue in pool.issues],
                dtype=np.bool_,
            ),
        )
        judged = (self._model or shipped_model()).judge(compared, partial(self.likeness, present, compared.total))
        numbers, confidences, scores = present.tolist(), judged.confidences.tolist(), judged.scores.tolist()
        explain_row = partial(self._explain, explainer, pool)
        return [Match(numbers[row], confidences[row], scores[row], row, explain_row) for row in judged.order.tolist()]

    def likeness(self, numbers: Integers, total: int, order: Integers, leaders: int) -> TextSimilarity | None:
        """`TextComparison.likeness`, or None without a text model."""
        return self._by_text.likeness(numbers, total, order, leaders) if self._by_text else None

    def compared(self) -> tuple[Integers, Floats]:
        """The candidates' numbers, and their features in the shape (candidates, features.NAMES), for training."""
        present, pool = load(self._view, self._candidates, self._question.vectors is not None)
        rarity = TermRarity.of(self._view, without=self._question.number)
        return present, features.compute_features(self._question, pool, rarity)

    def frequent_originals(self) -> list[int]:
        """Issues with many closed duplicates, except those that this session leaves out because of `below`."""
        return [
            number
            for number in self._view.frequent_originals(LEAST_DUPLICATES, _MOST_ORIGINALS)
            if not self._is_too_late(number)
        ]

    def issues(self, numbers: Collection[int]) -> dict[int, IndexedIssue]:
        """Issues by number, without bodies. Numbers that are not in the index are left out."""
        return self._view.issues(numbers)

    def texts(self, numbers: Collection[int]) -> Mapping[int, tuple[str, str]]:
        """Titles and bodies by number."""
        return self._view.texts(numbers)

    def _explain(self, explainer: Explainer, pool: Pool, row: int) -> tuple[Reason, ...]:
        number = pool.issues[row].number
        return explainer.reasons(pool, row, *self.texts([number]).get(number, ("", "")))

    def _is_too_late(self, number: int) -> bool:
        return self._below is not None and number >= self._below

    def _run(self, source: str, retrieved: Retrieved) -> QueryRun:
        hits = len(np.unique(np.concatenate([*retrieved.values()])))
        return QueryRun(source, self._rarest_words() if source == FULL_TEXT else self._text[0], hits)

    def _rarest_words(self) -> str:
        """The rarest search words, as their author spells them."""
        words = self._question.known["words"]
        rarest = np.argsort(words.issues, kind="stable")
        return " ".join(
            as_written((words.words[at] for at in rarest.tolist()), "\n".join(self._text))[:_MOST_WORDS_NAMED]
        )


def _title_is_no_evidence(view: View, analysis: Analysis, target: Issue, below: int | None) -> bool:
    """Whether the target's title is no evidence: it says nothing (P3), or many other issues have the same title."""
    known, vague = view.look_up(analysis)["title"], says_nothing(target.title)
    if not vague and len(known.issues) and known.issues.min() < _COMMON_TITLE:
        # One of the title's words is in fewer than _COMMON_TITLE titles, so the title cannot be common.
        return False
    # `binary` scores longer titles lower. This favours equal titles.
    query = Query("title", known.terms, idf(view.count, known.issues), binary(offset=3))
    (found,) = view.search_all([query], below=below)
    issues = view.issues(found.best(_MOST_TITLES).numbers.tolist())
    words = subject(target.title).casefold().split()
    same_title = [
        n for n, one in issues.items() if n != target.number and subject(one.title).casefold().split() == words
    ]
    if not vague and len(same_title) < _COMMON_TITLE:
        return False
    # If one of these issues has the target's text as well, that issue is a copy, and the title is evidence.
    return not any(body.split() == target.body.split() for _, body in view.texts(same_title).values())


def _likelier(matches: Sequence[Match], others: Sequence[Match]) -> list[Match]:
    """Merge both lists: each number once, with the higher of its two probabilities, most likely first."""
    likeliest: dict[int, Match] = {}
    for match in sorted((*matches, *others), key=lambda one: -one.confidence):
        likeliest.setdefault(match.number, match)
    return list(likeliest.values())
