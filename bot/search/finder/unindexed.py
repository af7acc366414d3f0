"""P2: scores hits that are in no index. Puts them into a temporary index, and applies the usual weights.

Most hits have the words of the search. An index of hits alone would count these words as common, so the temporary
index also holds the repository's latest issues, as background.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from bot.domain.entities import Issue, IssueRef
from bot.domain.errors import GitHubError, Retryable
from bot.search.embedding import Embedder, EmbeddingError
from bot.search.embedding.local_models import TextModel, default_model, fast_model
from bot.search.finder.options import FindOptions
from bot.search.finder.scoring import ScoredIssue
from bot.search.index import Index, IndexedIssue, TextAnalyser
from bot.search.index.analysis import FormLines, RepositoryInfo
from bot.search.index.index import index_in_memory
from bot.search.matching import Matcher, SearchSession
from bot.search.sources import Hit
from bot.search.sources.federated import RECENT_ISSUES, RecentIssuesCache

log = logging.getLogger(__name__)

#: The most hits to score, best ranks first. One such hit costs as much as a dozen indexed ones.
MOST_UNINDEXED = 100
# If an incomplete index has fewer issues than this, GitHub's list of the latest issues is the better background.
_ENOUGH_BACKGROUND = 100
# `issues_before` looks up this many numbers before the target. Pull requests may have most of these numbers.
_NUMBERS_SEARCHED = 1_000


@dataclass(frozen=True, slots=True)
class TemporaryIndexes:
    """Makes the temporary indexes. `matcher_for` makes an index's matcher.

    Temporary indexes use the analyser and models of the host's `index`, which may be incomplete. Without `index`, they
    use `embedder` and `text_model`. In both cases, the default model replaces a slow or remote embedder.
    """

    index: Index | None = None
    embedder: Embedder | None = field(default_factory=default_model)
    text_model: Embedder | None = field(default_factory=TextModel)
    matcher_for: Callable[[Index], Matcher] = Matcher

    def forms(self, repo_id: int) -> FormLines:
        """The lines of the repository's forms. The caller must hold no database connection: this call may need one."""
        return FormLines(() if self.index is None else self.index.about.form_lines(repo_id))

    def background(self, recent: RecentIssuesCache, target: Issue, repo_id: int) -> list[IndexedIssue]:
        """The repository's latest issues: from the incomplete index, or from GitHub if the index has too few.

        The caller must hold no database connection: this call may need one.
        """
        stored = [] if self.index is None else self.index.latest(repo_id, RECENT_ISSUES)
        if len(stored) >= _ENOUGH_BACKGROUND:
            return stored
        try:
            issues = recent.recent_issues(target.repo, RECENT_ISSUES)
        except (GitHubError, Retryable) as failure:
            log.warning("the recent issues of %s could not be read: %s", target.repo, failure)
            return stored
        return [IndexedIssue.of(issue) for issue in issues] or stored

    @contextmanager
    def opened(self, about: RepositoryInfo) -> Iterator[Index]:
        """Open an empty temporary index."""
        analyser = TextAnalyser() if self.index is None else self.index.analyser
        embedder = self.embedder if self.index is None else self.index.embedder
        text_model = self.text_model if self.index is None else self.index.text_model
        with index_in_memory(analyser, fast_model(embedder), about, text_model) as index:
            yield index


def issues_before(session: SearchSession, target: Issue) -> list[IndexedIssue]:
    """The background from a complete index: the latest issues before the target."""
    found = session.issues(range(max(1, target.number - _NUMBERS_SEARCHED), target.number))
    latest = sorted(found, reverse=True)[:RECENT_ISSUES]
    return [found[number]._replace(body=body) for number, (_, body) in session.texts(latest).items()]


UnindexedScorer = Callable[[Sequence[Hit]], list[ScoredIssue]]
"""`score_unindexed`, given all arguments but the hits."""


def score_unindexed(
    stack: ExitStack,
    temporary: TemporaryIndexes,
    forms: FormLines,
    background: Callable[[], Sequence[IndexedIssue]],
    target: Issue,
    repo_id: int,
    options: FindOptions,
    total: int,
    hits: Sequence[Hit],
) -> list[ScoredIssue]:
    """The best hits, most likely first. Call their `reasons` before `stack` closes the temporary index.

    Uses only `words` and `earlier_only` of `options`. At most `total` issues came before the
    target. Without hits, this reads nothing and makes no index.
    """
    if not hits:
        return []
    hits = hits[:MOST_UNINDEXED]
    rows, numbers, target_number = renumbered(target, [hit.issue for hit in hits], background())
    index = stack.enter_context(temporary.opened(forms))
    try:
        index.put(repo_id, rows)
    except EmbeddingError as failure:
        log.warning("the hits of the searches are judged without the embedding model: %s", failure)
        index.put(repo_id, rows, embed=False)
    below = target_number if options.earlier_only else None
    numbered = replace(target, number=target_number)
    matcher = temporary.matcher_for(index)
    session = stack.enter_context(matcher.session(repo_id, numbered, words=options.words, below=below, total=total))
    by_number = {numbers[hit.issue.key]: hit for hit in hits}
    # Keep only hits: `numbers=()` leaves out the background issues that the session found.
    judged = [(match, by_number[match.number]) for match in session.judge(numbers=(), also=by_number)]
    return [ScoredIssue(hit.issue, match.confidence, hit.sources, match.explain) for match, hit in judged]


def renumbered(
    target: Issue, hits: Sequence[Issue], background: Sequence[IndexedIssue]
) -> tuple[list[IndexedIssue], Mapping[str, int], int]:
    """Give hits and background new numbers by age, because issues of several repositories can share numbers.

    Returns the rows, their new numbers by key, and the target's new number. Only background issues later than the
    target get higher numbers than the target, so the matcher leaves out no hit as too late.
    """
    found = {hit.key: IndexedIssue.of(hit) for hit in hits}
    others = {IssueRef(target.repo, row.number).key: row for row in background}
    rows = others | found
    rows.pop(target.key, None)
    moment = target.created_at.timestamp()
    later = {key for key, row in rows.items() if key not in found and row.created_at > moment}
    order = sorted(rows, key=lambda key: (key in later, rows[key].created_at, rows[key].number))
    target_number = 1 + len(rows) - len(later)
    numbers = {key: at if at < target_number else at + 1 for at, key in enumerate(order, 1)}
    return [rows[key]._replace(number=numbers[key]) for key in order], numbers, target_number
