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
from bot.errors import Failed, Remark
from bot.index import Analysis, Index, IndexedIssue, Query, View, idf, shared
from bot.index.postings.packing import Floats, Integers
from bot.index.postings.scoring import distinct
from bot.index.text_vectors import Fresh, TextVectors
from bot.index.vectors.vectors import Vectors
from bot.matching import features
from bot.matching.bounds import Compared
from bot.matching.evidence import Evidence, Witness, as_written
from bot.matching.model import Model, shipped_model
from bot.matching.readings import CLOSEST, Likeness, smallness, stands_out
from bot.matching.retrieval import (
    FULL_TEXT,
    VECTORS,
    Pool,
    Retrieved,
    among,
    by_author,
    by_others,
    by_vectors,
    by_words,
    fused,
    load,
    pose,
)
from bot.matching.shared_terms import Rarity
from bot.model import Issue
from bot.report import QueryRun
from bot.text.surfaces import surfaces_apart
from bot.text.titles import says_nothing, subject

_log = logging.getLogger(__name__)

#: Vectors of candidates that one find makes where they are missing: each takes some 20 ms, and somebody waits.
MADE_AT_ONCE = 12
#: An issue of which so many were closed as duplicates is known without being named in the settings.
LEAST_DUPLICATES = 3
_MOST_MAGNETS = 20
# With so many other issues of the same title it says nothing, and so many of the likest titles are looked at.
_COMMON_TITLE, _MOST_TITLES = 4, 12
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
    problems: tuple[Failed, ...]


class Matcher:
    """Cheap to build, without state of its own; one serves a whole process.

    Without a `model` the shipped one is read where something is first judged, and not before: whoever learns weights
    compares without any, and the shipped ones may be for other features. `most` is how many vectors of candidates the
    text model makes for a find where they are missing; None for all, so that the answer does not depend on earlier
    ones.
    """

    def __init__(self, index: Index, model: Model | None = None, *, most: int | None = MADE_AT_ONCE) -> None:
        self._index = index
        self._model = model
        self._most = most

    @contextmanager
    def looking(
        self,
        repo_id: int,
        target: Issue,
        *,
        words: str = "",
        below: int | None = None,
        stored: bool = False,
        total: int | None = None,
    ) -> Iterator[Look]:
        """One find: search now, judge as often as needed until the end.

        `words` are searched for instead of the target's text, and what they find is judged by both; `below` leaves out
        issues with that number and higher ones. The target itself is never found. A model that fails costs the vectors,
        which `problems` says. With `stored` the target's vectors are those that the index has of it, and no model is
        asked. `total` is how many issues the repository has, where the index holds only some of them.
        """
        own = self._read(repo_id, target.title, target.body, target.number, embedded=not stored)
        searched = self._read(repo_id, words, "", target.number, embedded=not stored) if words else None
        with self._index.view(repo_id) as view:
            if target.body.strip() and _is_no_evidence(view, own.analysis, target, below):
                own = self._read(repo_id, "", target.body, target.number, embedded=not stored)
            own = own._replace(pair=view.pair(target.number)) if stored else self._checked(view, own)
            closely = self._closely(repo_id, view, own.analysis)
            look = Look(view, self._model, target, own, below, closely, total=total)
            if searched:
                reading = self._checked(view, searched)
                look = Look(view, self._model, target, reading, below, closely, itself=look, total=total)
            yield look
        if self._index.texts is not None and closely is not None:
            self._index.texts.keep(repo_id, closely.fresh)

    def _closely(self, repo_id: int, view: View, analysis: Analysis) -> Closely | None:
        return Closely(self._index.texts, repo_id, view, analysis, self._most) if self._index.texts else None

    def _read(self, repo_id: int, title: str, body: str, number: int, *, embedded: bool) -> Reading:
        analysis = self._index.analyse(repo_id, title, body, number)
        pair, problems = self._embed(repo_id, analysis) if embedded else (None, ())
        return Reading((title, body), analysis, pair, problems)

    def _embed(self, repo_id: int, analysis: Analysis) -> tuple[Vectors | None, tuple[Failed, ...]]:
        try:
            return self._index.embed(repo_id, analysis), ()
        except EmbeddingError as failure:
            if failure.told != str(failure):
                _log.warning("repository %d is searched by words alone: %s", repo_id, failure)
            return None, (_problem(failure),)

    def _checked(self, view: View, reading: Reading) -> Reading:
        if reading.pair is None:
            return reading
        try:
            self._index.check(view, reading.pair)
        except EmbeddingError as failure:
            return reading._replace(pair=None, problems=(_problem(failure),))
        return reading


def _problem(failure: EmbeddingError) -> Failed:
    return Failed(VECTORS, Remark.OTHERS.of(failure.told))


class Closely:
    """What the text model says of a text and its candidates. What it makes of candidates is `fresh`, to be kept.

    A model that fails costs this kind of likeness; `problem` says why.
    """

    def __init__(self, texts: TextVectors, repo_id: int, view: View, analysis: Analysis, most: int | None) -> None:
        self._texts, self._repo_id, self._view, self._analysis, self._most = texts, repo_id, view, analysis, most
        self.fresh: Fresh = {}
        self.problem = ""

    @cached_property
    def _own(self) -> Vectors:
        return self._texts.of_text(self._analysis)

    def likeness(self, numbers: Integers, order: Integers, leaders: int, total: int) -> Likeness | None:
        """As `model.Reader` says, of a pool with these issue numbers; None where the model fails, or can read nothing.

        In a large repository only leaders are looked at,
        since a small one alone has a use for the others.
        """
        rows = order if smallness(total) else order[:leaders]
        try:
            own = self._own
            there, vectors, fresh = self._view.texts_by(self._texts, numbers[rows].tolist(), self._most)
        except EmbeddingError as failure:
            _log.warning("repository %d is judged without the text model: %s", self._repo_id, failure)
            self.problem = f"{VECTORS}: {failure.told}"
            return None
        self.fresh |= fresh
        if not len(there) or not own.any():
            return None
        cosines = vectors @ own
        closest = np.argsort(-cosines, kind="stable")[:CLOSEST]
        places = distinct(np.concatenate([np.flatnonzero(there < leaders), closest]))
        out = stands_out(own, vectors, places, total)
        return Likeness(rows[there[places]], cosines[places].astype(np.float64), out, smallness(total))


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
        closely: Closely | None = None,
        itself: Look | None = None,
        total: int | None = None,
    ) -> None:
        self._view, self._model, self._text, pair = view, model, reading.text, reading.pair
        self._question = pose(view, target, reading.text[0], reading.analysis, pair)
        self._below, self._closely, self._itself, self._total = below, closely, itself, total
        self._retrieved = {FULL_TEXT: by_words(view, self._question, below)}
        if pair is not None:
            self._retrieved[VECTORS] = by_vectors(view, pair, below)
        lists = (numbers for one in self._retrieved.values() for numbers in one.values())
        self._pool = fused(lists, target.number)
        self.problems: tuple[Failed, ...] = tuple(
            dict.fromkeys((*reading.problems, *(itself.problems if itself else ())))
        )

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
            total=rarity.total if self._total is None else self._total,
            vague=witness.vague,
            signed=bool(self._question.author),
            apart=np.array(
                [surfaces_apart(self._question.labels, issue.labels) is not None for issue in candidates.issues],
                dtype=np.bool_,
            ),
        )
        judged = (self._model or shipped_model()).judge(compared, partial(self.likeness, there, compared.total))
        order = judged.order
        told = zip(
            there[order].tolist(),
            judged.confidences[order].tolist(),
            judged.scores[order].tolist(),
            order.tolist(),
            repeat(partial(self._explain, witness, candidates)),
        )
        return list(map(Match._make, told))

    def likeness(self, numbers: Integers, total: int, order: Integers, leaders: int) -> Likeness | None:
        """As `Closely.likeness` says; None without a text model, too."""
        return self._closely.likeness(numbers, order, leaders, total) if self._closely else None

    def compared(self) -> tuple[Integers, Floats]:
        """Its own candidates and their features, (candidates, features.NAMES): what models are learned from."""
        there, candidates = load(self._view, self._pool, self._question.vectors is not None)
        rarity = Rarity.of(self._view, without=self._question.number)
        return there, features.features(self._question, candidates, rarity)

    def magnets(self) -> list[int]:
        """Issues that are reported again and again, but not those that came later than is looked at."""
        return [number for number in self._view.magnets(LEAST_DUPLICATES, _MOST_MAGNETS) if not self._late(number)]

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


def _is_no_evidence(view: View, analysis: Analysis, target: Issue, below: int | None) -> bool:
    """Whether the target's title says nothing (P3): by itself, or since many other issues have it above other texts."""
    known = view.look_up(analysis)["title"]
    (found,) = view.search_all([Query("title", known.terms, idf(view.count, known.issues), shared(3))], below=below)
    issues = view.issues(found.best(_MOST_TITLES).numbers.tolist())
    mine = subject(target.title).casefold().split()
    same = [n for n, one in issues.items() if n != target.number and subject(one.title).casefold().split() == mine]
    if not says_nothing(target.title) and len(same) < _COMMON_TITLE:
        return False
    # Of a copy the title is a part, whatever it says.
    return not any(body.split() == target.body.split() for _, body in view.texts(same).values())


def _likelier(matches: Sequence[Match], others: Sequence[Match]) -> list[Match]:
    """Each number once, as whichever judged it likelier has it, most likely first."""
    likeliest: dict[int, Match] = {}
    for match in sorted((*matches, *others), key=lambda one: -one.confidence):
        likeliest.setdefault(match.number, match)
    return list(likeliest.values())
