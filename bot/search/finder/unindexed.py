"""P2: what no index holds is put into one that lives as long as the find, and judged there as everything else is.

An index that holds nothing but hits would take the question's words for common ones, since by them the hits were found.
So it holds some of the repository's other issues as well: its latest.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from bot.domain.entities import Issue, IssueRef
from bot.domain.errors import GitHubError, Retryable
from bot.search.embedding import Embedder, EmbeddingError
from bot.search.embedding.local import TextModel, default_model, fast_model
from bot.search.finder.scoring import ScoredIssue, said
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.index.analysis import FormLines, RepositoryInfo
from bot.search.index.index import index_in_memory
from bot.search.matching import Matcher, SearchSession
from bot.search.sources import Hit
from bot.search.sources.federated import RECENT_ISSUES, RecentReader

log = logging.getLogger(__name__)

#: Hits that are judged, best ranks first: each costs as much as a dozen that an index holds.
MOST_UNINDEXED = 100
# With fewer of its issues, an index that is still being filled says less of a repository than GitHub's list does.
_ENOUGH = 100
# Numbers among which the latest issues are looked for; most may be those of pull requests.
_NUMBERS = 1_000


@dataclass(frozen=True, slots=True)
class TemporaryIndexes:
    """What judges hits that no index holds.

    `index` is the host's, complete or not: texts are read as there. Without one `embedder` and `text_model`
    read them. `over` makes what judges over an index.
    """

    index: Index | None = None
    embedder: Embedder | None = field(default_factory=default_model)
    text_model: Embedder | None = field(default_factory=TextModel)
    over: Callable[[Index], Matcher] = Matcher

    def forms(self, repo_id: int) -> FormLines:
        """Not to be called while a connection to the database is held, since another one may be needed."""
        return FormLines(() if self.index is None else self.index.about.form_lines(repo_id))

    def background(self, github: RecentReader, target: Issue, repo_id: int) -> list[IndexedIssue]:
        """The repository's latest issues, from an index that is not complete, or from GitHub where it has few of them.

        Not to be called while a connection to the database is held, either.
        """
        stored = [] if self.index is None else self.index.latest(repo_id, RECENT_ISSUES)
        if len(stored) >= _ENOUGH:
            return stored
        try:
            recent = github.recent_issues(target.repo, RECENT_ISSUES)
        except (GitHubError, Retryable) as failure:
            log.warning("the recent issues of %s could not be read: %s", target.repo, failure)
            return stored
        return [IndexedIssue.of(issue) for issue in recent] or stored

    @contextmanager
    def opened(self, about: RepositoryInfo) -> Iterator[Index]:
        """An empty index that reads and embeds as the host's does."""
        analyser = TextAnalyser() if self.index is None else self.index.analyser
        embedder = self.embedder if self.index is None else self.index.embedder
        text_model = self.text_model if self.index is None else self.index.text_model
        with index_in_memory(analyser, fast_model(embedder), about, text_model) as index:
            yield index


def issues_before(look: SearchSession, target: Issue) -> list[IndexedIssue]:
    """The background from a complete index that is looked at already: the issues before the target."""
    found = look.issues(range(max(1, target.number - _NUMBERS), target.number))
    latest = sorted(found, reverse=True)[:RECENT_ISSUES]
    return [found[number]._replace(body=body) for number, (_, body) in look.texts(latest).items()]


class UnindexedScorer:
    """One find's look at what no index holds. Nothing is read or made before there is something to judge.

    `words` are searched for beside the target's text, `total` is how many issues the repository has, and with
    `earlier_only` what came after the target is nothing to compare hits with.
    """

    def __init__(
        self,
        stack: ExitStack,
        outside: TemporaryIndexes,
        forms: FormLines,
        background: Callable[[], Sequence[IndexedIssue]],
        target: Issue,
        repo_id: int,
        *,
        words: str = "",
        total: int,
        earlier_only: bool = False,
    ) -> None:
        self._stack, self._outside, self._forms, self._background = stack, outside, forms, background
        self._target, self._repo_id = target, repo_id
        self._words, self._total, self._earlier_only = words, total, earlier_only

    def weigh(self, hits: Sequence[Hit]) -> list[ScoredIssue]:
        """The hits that are judged, most likely first. Their reasons are to be had until the stack is closed."""
        if not hits:
            return []
        hits = hits[:MOST_UNINDEXED]
        rows, places, own = renumbered(self._target, [hit.issue for hit in hits], self._background())
        index = self._stack.enter_context(self._outside.opened(self._forms))
        try:
            index.put(self._repo_id, rows)
        except EmbeddingError as failure:
            log.warning("what searches found is judged by words alone: %s", failure)
            index.put(self._repo_id, rows, embed=False)
        look = self._stack.enter_context(
            self._outside.over(index).looking(
                self._repo_id,
                replace(self._target, number=own),
                words=self._words,
                below=own if self._earlier_only else None,
                total=self._total,
            )
        )
        by_number = {places[hit.issue.key]: hit for hit in hits}
        return [
            ScoredIssue(hit.issue, match.confidence, hit.sources, partial(said, match))
            for match in look.judge((), also=by_number)
            for hit in (by_number[match.number],)
        ]


def renumbered(
    target: Issue, hits: Sequence[Issue], background: Sequence[IndexedIssue]
) -> tuple[list[IndexedIssue], Mapping[str, int], int]:
    """Hits and background with numbers of their own, those of the hits by key, and the target's.

    Issues of several repositories can share numbers. In these, older ones come first; of the background what is later
    than the target comes after it.
    """
    found = {hit.key: IndexedIssue.of(hit) for hit in hits}
    rest = {IssueRef(target.repo, row.number).key: row for row in background}
    every = rest | found
    every.pop(target.key, None)
    moment = target.created_at.timestamp()

    def age(key: str) -> tuple[bool, float, int]:
        row = every[key]
        return key not in found and row.created_at > moment, row.created_at, row.number

    order = sorted(every, key=age)
    own = 1 + sum(not age(key)[0] for key in order)
    numbers = {key: at + (at >= own) for at, key in enumerate(order, 1)}
    return [every[key]._replace(number=numbers[key]) for key in order], numbers, own
