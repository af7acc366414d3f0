"""Reads the data of the dashboard's pages from store, index, queue and settings, and writes votes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from bot.deliveries.dead_letters import DeadLetter, DeadLetters
from bot.deliveries.events import EvaluationEvent
from bot.deliveries.inbox import Inbox
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.entities import same_login
from bot.domain.errors import DoppelError
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Role
from bot.interfaces.dashboard.views import IssuePair, side_by_side
from bot.quality.calibration import WINDOW, Point, Threshold, feedback_since, points, threshold_in_force
from bot.quality.digest import WEEK, Digest, digest_of
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

PAGE = 50
LATEST_READ = 1_000
"""How many of the latest decisions `without_feedback` reads."""


@dataclass(slots=True)
class DashboardData:
    """Reads the data of the pages, stores votes, and starts evaluations.

    `settings_of` reads a repository's settings. `mode_of` gives the `mode` setting as last read, without asking GitHub.
    `groups_of` gives the result of the last backlog scan; None before the index is complete.
    """

    store: Store
    index: Index
    letters: DeadLetters
    queue: Inbox
    settings_of: Callable[[StoredRepository], LoadedSettings]
    mode_of: Callable[[StoredRepository], str]
    groups_of: Callable[[StoredRepository], ScanResult | None]
    clock: Callable[[], datetime]

    @property
    def _runs(self) -> EvaluationRuns:
        return EvaluationRuns(self.store.engine)

    def now(self) -> float:
        """The clock in seconds since 1970."""
        return self.clock().timestamp()

    def of_issue(self, repository: StoredRepository, number: int) -> list[Decision]:
        """All decisions on an issue, the latest first."""
        return self.store.decisions.of_issue(repository.id, number)[::-1]

    def verdicts(self, repository: StoredRepository, number: int) -> tuple[Mapping[int, Judgement], JudgeUsage, float]:
        """The judge's last verdicts by candidate, the usage of all calls on the issue, and the last call's seconds."""
        verdicts, usage, seconds = self.store.judgements.of_issue(repository.id, number)
        return {verdict.other: verdict for verdict in verdicts}, usage, seconds

    def titles(self, repository: StoredRepository, numbers: Collection[int]) -> Mapping[int, str]:
        with self.index.view(repository.id) as view:
            return {number: title for number, (title, _) in view.texts(numbers).items()}

    def pair(self, repository: StoredRepository, number: int, other: int) -> IssuePair | None:
        """Two issues side by side; None if the index lacks one of them."""
        with self.index.view(repository.id) as view:
            texts, rows = view.texts({number, other}), view.issues([number, other])
        if len(texts) < 2:
            return None
        candidates = (one for decision in self.of_issue(repository, number) for one in decision.evidence if one.own)
        probability = next((one.probability for one in candidates if one.number == other), None)
        return side_by_side(texts[number], texts[other], (rows[number], rows[other]), probability)

    def without_feedback(self, repository: StoredRepository) -> list[Decision]:
        """The latest decisions on up to PAGE issues. Their comments (also in shadow mode) have no feedback yet."""
        feedback = feedback_since(self.store, repository.id, self.now() - WINDOW)
        rated = {(one.number, one.other) for one in feedback}
        latest: dict[int, Decision] = {}
        for decision in self.store.decisions.latest(repository.id, LATEST_READ):
            # If the bot left an issue alone, the comment of its earlier decision is still there.
            if decision.outcome is not DecisionOutcome.LEFT_ALONE:
                latest.setdefault(decision.number, decision)
        comments = (decision for decision in latest.values() if decision.outcome.speaks and decision.shown)
        unrated = (
            decision
            for decision in comments
            if not any((decision.number, candidate.number) in rated for candidate in decision.shown)
        )
        return list(islice(unrated, PAGE))

    def votes(self, repository: StoredRepository, number: int, login: str) -> Mapping[int, bool]:
        """This person's votes on an issue's candidates; True means that the two are the same."""
        votes = self.store.signals.of_issue(repository.id, number, FeedbackKind.VOTE)
        return {vote.other: vote.same for vote in votes if same_login(vote.login, login)}

    def all_votes(self, repository: StoredRepository, login: str) -> Mapping[tuple[int, int], bool]:
        """This person's votes, by issue and candidate."""
        return {
            (signal.number, signal.other): signal.same
            for signal in self.store.signals.since(repository.id, 0.0)
            if signal.kind is FeedbackKind.VOTE and same_login(signal.login, login)
        }

    def week(self, repository: StoredRepository) -> Digest:
        now = self.now()
        return digest_of(self.store, repository.id, now - WEEK, now)

    def vote(self, repository: StoredRepository, number: int, other: int, login: str, same: bool | None) -> None:
        """Store the vote of a person with triage access; with `same` None, delete the vote."""
        if same is None:
            self.store.signals.drop_own(repository.id, number, FeedbackKind.VOTE, login, other)
            return
        vote = FeedbackSignal(number, FeedbackKind.VOTE, login, other, same, Role.TRIAGE, self.now())
        self.store.signals.put(repository.id, vote)

    def feedback(self, repository: StoredRepository) -> tuple[list[Example], list[Point]]:
        """The last year's feedback, also from before a reset of the threshold, and its calibration points."""
        examples = feedback_since(self.store, repository.id, self.now() - WINDOW)
        decisions = self.store.decisions.of_issues(repository.id, {example.number for example in examples})
        return examples, points(decisions, examples)

    def threshold(self, repository: StoredRepository) -> Threshold:
        return threshold_in_force(self.settings_of(repository).config, self.store.calibrations.get(repository.id))

    def evaluation(self, repository: StoredRepository) -> StoredEvaluation:
        """The stored evaluation, without pairs about which people have decided since."""
        stored = self._runs.get(repository.id)
        if stored.result is None:
            return stored
        decided = decisions_on_pairs(self.store, repository.id)
        unmarked = without_pairs(stored.result.unmarked, decided.same | decided.different)
        return replace(stored, result=replace(stored.result, unmarked=unmarked))

    def evaluate(self, repository: StoredRepository) -> bool:
        """Queue an evaluation; False if none is allowed yet, or the index is incomplete. Raises QueueUnavailable."""
        now = self.now()
        run_name = f"{now:.3f}"
        if not self.store.backfills.complete(repository.id) or not self._runs.begin(repository.id, run_name, now):
            return False
        event = EvaluationEvent(repository.installation, repository.summary, run_name)
        try:
            self.queue.put(event.delivery_id, event)
        except DoppelError as problem:
            self._runs.note(repository.id, run_name, Stage.FAILED, str(problem))
            raise
        return True

    def given_up(self, repository: StoredRepository) -> tuple[Sequence[DeadLetter], str]:
        """The deliveries that the queue gave up, and an empty text; or no deliveries, and why they cannot be read."""
        try:
            return self.letters.of(repository.id), ""
        except DoppelError as problem:
            return (), str(problem)

    def index_status(self, repository: StoredRepository) -> IndexStatus | None:
        return next(index_statuses([repository], self.store.backfills, self.index), None)
