"""What the pages read: the store, the index, the queue's dead letters, and the settings file; and what they write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from bot.deliveries.events import EvaluationEvent
from bot.deliveries.inbox import Inbox
from bot.deliveries.inspection import DeadLetter, DeadLetters
from bot.domain.decisions import Decision
from bot.domain.entities import same_login
from bot.domain.errors import DoppelError
from bot.domain.judgements import KeptCalibration, Kind, Signal, Who
from bot.interfaces.dashboard.views import IssuePair, side_by_side
from bot.quality.calibration import WINDOW, Point, Threshold, feedback_since, points, threshold_in_force
from bot.quality.digest import WEEK, CommentRating, Digest, digest_of
from bot.quality.evaluation.measures import without_pairs
from bot.quality.evaluation.runs import EvaluationRuns, Stage, StoredEvaluation
from bot.quality.feedback import Example, decided_in
from bot.quality.scanning.groups import ScanResult
from bot.search.index import Index
from bot.search.indexing.status import Status, statuses
from bot.search.repository_settings import Loaded
from bot.storage import Store, StoredRepository
from bot.storage.judging import Kept as Judgement
from bot.storage.judging import Spent
from bot.storage.sessions import Session

PAGE = 50
MOST_LOOKED_AT = 1_000
"""Decisions among which those are looked for that nobody has judged."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What people said, the threshold that holds, and how it was reached (None: nothing was ever calibrated)."""

    examples: tuple[Example, ...]
    points: tuple[Point, ...]
    threshold: Threshold
    kept: KeptCalibration | None


@dataclass(frozen=True, slots=True)
class RepositoryHealth:
    """One repository's index, what was given up, and what could not be found out."""

    index: Status | None
    letters: tuple[DeadLetter, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RepositorySummary:
    """One repository in a line: its mode as it was last read, its index, and of its week's comments what people said.

    `would` counts those that it would have posted.
    """

    mode: str
    index: Status | None
    comments: int
    would: int
    right: int
    wrong: int
    unknown: int


class DashboardData:
    """Reads, takes votes, and has evaluations done.

    `settings_of` reads a repository's settings, `mode_of` gives its mode without asking GitHub, `groups_of` what its
    last scan found.
    """

    def __init__(
        self,
        store: Store,
        index: Index,
        letters: DeadLetters,
        queue: Inbox,
        settings_of: Callable[[StoredRepository], Loaded],
        mode_of: Callable[[StoredRepository], str],
        groups_of: Callable[[StoredRepository], ScanResult | None],
        clock: Callable[[], datetime],
    ) -> None:
        self.store = store
        self.clock = clock
        self.settings_of = settings_of
        self.groups_of = groups_of
        self._mode_of = mode_of
        self._index = index
        self._letters = letters
        self._queue = queue
        self._runs = EvaluationRuns(store.engine)

    def session(self, name: str) -> Session | None:
        """Who is signed in under the name that their browser has."""
        return self.store.sessions.get(name, self.clock().timestamp())

    def begin_session(self, session: Session) -> str:
        """Note that somebody has signed in; returns the name for their browser."""
        return self.store.sessions.begin(session, self.clock().timestamp())

    def latest(self, repository: StoredRepository, before: float | None) -> list[Decision]:
        """The latest decisions, one more than a page holds where there are more."""
        return self.store.decisions.latest(repository.id, PAGE + 1, before)

    def last_looks(self, repository: StoredRepository, numbers: Collection[int]) -> Mapping[int, float]:
        """When these issues were looked at for the last time, in seconds since 1970."""
        return self.store.decisions.last_looks(repository.id, numbers)

    def of_issue(self, repository: StoredRepository, number: int) -> list[Decision]:
        """Everything that was decided about an issue, the latest first."""
        return self.store.decisions.of_issue(repository.id, number)[::-1]

    def judged(self, repository: StoredRepository, number: int) -> tuple[Mapping[int, Judgement], Spent, float]:
        """What the judge said last of an issue's candidates, by number; what that took, and how long the last time."""
        said, spent, seconds = self.store.judgements.of_issue(repository.id, number)
        return {one.other: one for one in said}, spent, seconds

    def titles(self, repository: StoredRepository, numbers: Collection[int]) -> Mapping[int, str]:
        """The titles of issues as the index has them; what it does not have is left out."""
        with self._index.view(repository.id) as view:
            return {number: title for number, (title, _) in view.texts(numbers).items()}

    def pair(self, repository: StoredRepository, number: int, other: int) -> IssuePair | None:
        """Two issues side by side; None where the index does not have both."""
        with self._index.view(repository.id) as view:
            texts = view.texts({number, other})
        return side_by_side(texts[number], texts[other]) if len(texts) == 2 else None

    def unjudged(self, repository: StoredRepository) -> list[Decision]:
        """The latest decision on each issue whose comment, posted or not, nobody has judged; one page of them."""
        said = feedback_since(self.store, repository.id, self.clock().timestamp() - WINDOW)
        judged = {(one.number, one.other) for one in said}
        found: dict[int, Decision] = {}
        for one in self.store.decisions.latest(repository.id, MOST_LOOKED_AT):
            found.setdefault(one.number, one)
        spoke = (one for one in found.values() if one.outcome.speaks and one.shown)
        open_ = (one for one in spoke if not any((one.number, its.number) in judged for its in one.shown))
        return list(islice(open_, PAGE))

    def scanned(self, repository: StoredRepository) -> float | None:
        """When the bot's issue with the groups was written last."""
        kept = self.store.scan_issues.get(repository.id)
        return kept.updated_at if kept else None

    def summary(self, repository: StoredRepository) -> RepositorySummary:
        """What the first page says of a repository."""
        week = self.week(repository)
        said = (week.count(one) for one in (CommentRating.RIGHT, CommentRating.WRONG, CommentRating.UNKNOWN))
        return RepositorySummary(self._mode_of(repository), self._status(repository), week.commented, week.would, *said)

    def votes(self, repository: StoredRepository, number: int, login: str) -> Mapping[int, bool]:
        """What this person has said here of an issue's candidates."""
        said = self.store.signals.of_issue(repository.id, number, Kind.VOTE)
        return {one.other: one.same for one in said if same_login(one.login, login)}

    def all_votes(self, repository: StoredRepository, login: str) -> Mapping[tuple[int, int], bool]:
        """What this person has said here, by issue and candidate."""
        said = self.store.signals.since(repository.id, 0.0)
        return {
            (one.number, one.other): one.same for one in said if one.kind is Kind.VOTE and same_login(one.login, login)
        }

    def week(self, repository: StoredRepository) -> Digest:
        """The digest of the last seven days."""
        now = self.clock().timestamp()
        return digest_of(self.store, repository.id, now - WEEK, now)

    def vote(self, repository: StoredRepository, number: int, other: int, login: str, same: bool | None) -> None:
        """Keep what a person who may triage says of a pair; None takes it back."""
        if same is None:
            self.store.signals.drop_own(repository.id, number, Kind.VOTE, login, other)
            return
        at = self.clock().timestamp()
        self.store.signals.put(repository.id, Signal(number, Kind.VOTE, login, other, same, Who.TRIAGE, at))

    def feedback(self, repository: StoredRepository) -> Feedback:
        """What was said within the last year, also what the threshold was put back from."""
        made = feedback_since(self.store, repository.id, self.clock().timestamp() - WINDOW)
        decisions = self.store.decisions.of_issues(repository.id, {one.number for one in made})
        kept = self.store.calibrations.get(repository.id)
        return Feedback(tuple(made), tuple(points(decisions, made)), self.threshold(repository), kept)

    def threshold(self, repository: StoredRepository) -> Threshold:
        """The threshold in force, by the settings and by what was said."""
        return threshold_in_force(self.settings_of(repository).config, self.store.calibrations.get(repository.id))

    def ready(self, repository: StoredRepository) -> bool:
        """Whether the repository's past is in the index."""
        return self.store.backfills.complete(repository.id)

    def evaluation(self, repository: StoredRepository) -> StoredEvaluation:
        """The newest evaluation, without pairs that people decided about since, and how far the present one is."""
        kept = self._runs.get(repository.id)
        if kept.result is None:
            return kept
        decided = decided_in(self.store, repository.id)
        unmarked = without_pairs(kept.result.unmarked, decided.same | decided.different)
        return replace(kept, result=replace(kept.result, unmarked=unmarked))

    def evaluate(self, repository: StoredRepository) -> bool:
        """Have the repository evaluated in the background; False where that may not be yet.

        Raises QueueUnavailable; nothing is begun then.
        """
        now = self.clock().timestamp()
        chain = f"{now:.3f}"
        if not self.ready(repository) or not self._runs.begin(repository.id, chain, now):
            return False
        event = EvaluationEvent(repository.installation, repository.summary, chain)
        try:
            self._queue.put(event.delivery_id, event)
        except DoppelError as problem:
            self._runs.note(repository.id, chain, Stage.FAILED, str(problem))
            raise
        return True

    def health(self, repository: StoredRepository) -> RepositoryHealth:
        """How the bot is in this repository."""
        try:
            given_up = self._letters.of(repository.id)
        except DoppelError as problem:
            return RepositoryHealth(self._status(repository), (), str(problem))
        return RepositoryHealth(self._status(repository), given_up)

    def _status(self, repository: StoredRepository) -> Status | None:
        return next(statuses([repository], self.store.backfills, self._index), None)
