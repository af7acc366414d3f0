"""What the dashboard reads from store, index, queue and settings, and what it writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from bot.deliveries.dead_letters import DeadLetter, DeadLetters
from bot.deliveries.events import EvaluationEvent
from bot.deliveries.inbox import Inbox
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import same_login
from bot.domain.errors import DoppelError
from bot.domain.feedback import FeedbackKind, FeedbackSignal, KeptCalibration, Role
from bot.interfaces.dashboard import views
from bot.interfaces.dashboard.views import IssuePair, side_by_side
from bot.quality.calibration import WINDOW, Point, Threshold, feedback_since, points, threshold_in_force
from bot.quality.digest import WEEK, CommentRating, Digest, digest_of
from bot.quality.evaluation.measures import without_pairs
from bot.quality.evaluation.runs import EvaluationRuns, Stage, StoredEvaluation
from bot.quality.feedback import Example, decisions_on_pairs
from bot.quality.scanning.groups import ScanResult
from bot.search.index import Index
from bot.search.indexer import IndexStatus, index_statuses
from bot.search.repository_settings import LoadedSettings
from bot.storage import Store, StoredRepository
from bot.storage.decisions import JudgeUsage
from bot.storage.decisions import StoredJudgement as Judgement
from bot.storage.sessions import Session

PAGE = 50
MOST_LOOKED_AT = 1_000
"""Decisions that are searched for ones that nobody has judged."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """What people said, the threshold in force, and the stored calibration (None: there is none)."""

    examples: tuple[Example, ...]
    points: tuple[Point, ...]
    threshold: Threshold
    kept: KeptCalibration | None


@dataclass(frozen=True, slots=True)
class RepositoryHealth:
    """One repository's index, the deliveries that were given up, and what could not be found out."""

    index: IndexStatus | None
    letters: tuple[DeadLetter, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RepositorySummary:
    """One repository in a line: its mode, its index, and the ratings of its week's comments.

    `would` counts comments that `mode: shadow` held back.
    """

    mode: str
    index: IndexStatus | None
    comments: int
    would: int
    right: int
    wrong: int
    unknown: int


class DashboardData:
    """Reads, takes votes, and starts evaluations.

    `settings_of` reads a repository's settings, `mode_of` gives its mode without asking GitHub, `groups_of` the result
    of its last scan.
    """

    def __init__(
        self,
        store: Store,
        index: Index,
        letters: DeadLetters,
        queue: Inbox,
        settings_of: Callable[[StoredRepository], LoadedSettings],
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
        """Role is signed in, by the name in their browser's cookie."""
        return self.store.sessions.get(name, self.clock().timestamp())

    def begin_session(self, session: Session) -> str:
        """Store that somebody has signed in; return the name for their browser."""
        return self.store.sessions.begin(session, self.clock().timestamp())

    def of_issue(self, repository: StoredRepository, number: int) -> list[Decision]:
        """Everything that was decided about an issue, the latest first."""
        return self.store.decisions.of_issue(repository.id, number)[::-1]

    def judged(self, repository: StoredRepository, number: int) -> tuple[Mapping[int, Judgement], JudgeUsage, float]:
        """The judge's last verdicts on an issue's candidates, by number; the calls, and the seconds of the last one."""
        said, spent, seconds = self.store.judgements.of_issue(repository.id, number)
        return {one.other: one for one in said}, spent, seconds

    def titles(self, repository: StoredRepository, numbers: Collection[int]) -> Mapping[int, str]:
        """The titles of issues, as far as the index has them."""
        with self._index.view(repository.id) as view:
            return {number: title for number, (title, _) in view.texts(numbers).items()}

    def pair(self, repository: StoredRepository, number: int, other: int) -> IssuePair | None:
        """Two issues side by side; None if the index does not have both."""
        with self._index.view(repository.id) as view:
            texts, rows = view.texts({number, other}), view.issues([number, other])
        if len(texts) < 2:
            return None
        seen = (one for look in self.of_issue(repository, number) for one in look.evidence if one.own)
        probability = next((one.probability for one in seen if one.number == other), None)
        states = (views.state_since(rows[number], self.clock()), views.state_since(rows[other], self.clock()))
        return side_by_side(texts[number], texts[other], states, probability)

    def unjudged(self, repository: StoredRepository) -> list[Decision]:
        """The latest look at each issue whose comment, posted or not, nobody has judged; one page of them."""
        said = feedback_since(self.store, repository.id, self.clock().timestamp() - WINDOW)
        judged = {(one.number, one.other) for one in said}
        found: dict[int, Decision] = {}
        for one in self.store.decisions.latest(repository.id, MOST_LOOKED_AT):
            if one.outcome is not DecisionOutcome.LEFT_ALONE:
                found.setdefault(one.number, one)
        spoke = (one for one in found.values() if one.outcome.speaks and one.shown)
        open_ = (one for one in spoke if not any((one.number, its.number) in judged for its in one.shown))
        return list(islice(open_, PAGE))

    def summary(self, repository: StoredRepository) -> RepositorySummary:
        week = self.week(repository)
        said = (week.count(one) for one in (CommentRating.RIGHT, CommentRating.WRONG, CommentRating.UNKNOWN))
        return RepositorySummary(self._mode_of(repository), self._status(repository), week.commented, week.would, *said)

    def votes(self, repository: StoredRepository, number: int, login: str) -> Mapping[int, bool]:
        """This person's votes on an issue's candidates."""
        said = self.store.signals.of_issue(repository.id, number, FeedbackKind.VOTE)
        return {one.other: one.same for one in said if same_login(one.login, login)}

    def all_votes(self, repository: StoredRepository, login: str) -> Mapping[tuple[int, int], bool]:
        """This person's votes, by issue and candidate."""
        said = self.store.signals.since(repository.id, 0.0)
        return {
            (one.number, one.other): one.same
            for one in said
            if one.kind is FeedbackKind.VOTE and same_login(one.login, login)
        }

    def week(self, repository: StoredRepository) -> Digest:
        now = self.clock().timestamp()
        return digest_of(self.store, repository.id, now - WEEK, now)

    def vote(self, repository: StoredRepository, number: int, other: int, login: str, same: bool | None) -> None:
        """Store the vote of a person with triage access; None takes it back."""
        if same is None:
            self.store.signals.drop_own(repository.id, number, FeedbackKind.VOTE, login, other)
            return
        at = self.clock().timestamp()
        self.store.signals.put(
            repository.id, FeedbackSignal(number, FeedbackKind.VOTE, login, other, same, Role.TRIAGE, at)
        )

    def feedback(self, repository: StoredRepository) -> Feedback:
        """The feedback of the last year, including what came before the last reset."""
        made = feedback_since(self.store, repository.id, self.clock().timestamp() - WINDOW)
        decisions = self.store.decisions.of_issues(repository.id, {one.number for one in made})
        kept = self.store.calibrations.get(repository.id)
        return Feedback(tuple(made), tuple(points(decisions, made)), self.threshold(repository), kept)

    def threshold(self, repository: StoredRepository) -> Threshold:
        return threshold_in_force(self.settings_of(repository).config, self.store.calibrations.get(repository.id))

    def evaluation(self, repository: StoredRepository) -> StoredEvaluation:
        """The stored evaluation, without pairs that people have decided about since."""
        kept = self._runs.get(repository.id)
        if kept.result is None:
            return kept
        decided = decisions_on_pairs(self.store, repository.id)
        unmarked = without_pairs(kept.result.unmarked, decided.same | decided.different)
        return replace(kept, result=replace(kept.result, unmarked=unmarked))

    def evaluate(self, repository: StoredRepository) -> bool:
        """Start an evaluation in the background; False if none is allowed yet.

        Raises QueueUnavailable; nothing is started then.
        """
        now = self.clock().timestamp()
        chain = f"{now:.3f}"
        if not self.store.backfills.complete(repository.id) or not self._runs.begin(repository.id, chain, now):
            return False
        event = EvaluationEvent(repository.installation, repository.summary, chain)
        try:
            self._queue.put(event.delivery_id, event)
        except DoppelError as problem:
            self._runs.note(repository.id, chain, Stage.FAILED, str(problem))
            raise
        return True

    def health(self, repository: StoredRepository) -> RepositoryHealth:
        try:
            given_up = self._letters.of(repository.id)
        except DoppelError as problem:
            return RepositoryHealth(self._status(repository), (), str(problem))
        return RepositoryHealth(self._status(repository), given_up)

    def _status(self, repository: StoredRepository) -> IndexStatus | None:
        return next(index_statuses([repository], self.store.backfills, self._index), None)
