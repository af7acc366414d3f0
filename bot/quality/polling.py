"""Reads reactions to the bot's comments in one repository, folds rejected comments, and reads answers to suggestions.

On GitHub, a folded comment is hidden until somebody opens it. A 👎 by the issue's author or by somebody with triage
access folds the comment once, unless somebody with triage access gives a 👍. If people take the 👎 back or overrule it,
the bot unfolds the comment and never folds it again. The bot does not touch a comment that a person
has folded. After a person changes the bot's fold, the bot never touches the comment again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from bot.domain.entities import RepoRef, name_key, same_login
from bot.domain.errors import GitHubError, NotFound, Unavailable
from bot.domain.feedback import FeedbackKind, FeedbackSignal, Fold, Role
from bot.domain.formats import batches
from bot.github.feedback import ADD_LABEL, CLOSE, FOLDED_AS, PAGE, Votes, VotesPage, duplicate_label
from bot.github.repository import RepoClient
from bot.storage import Store
from bot.storage.feedback import WatchedComment

logger = logging.getLogger(__name__)

WATCHED_FOR = 30 * 86_400.0
"""Reactions to a comment are read for this many seconds after its last edit; hardly anybody votes later."""

MOST_WATCHED = 500
"""Reactions are read for at most this many comments of a repository, the latest ones."""

MOST_REQUESTS = 250
"""The most requests for one installation in one turn: a twentieth of GitHub's hourly limit. Turns are an hour apart."""

SHARE_LEFT = 0.5
"""Reading stops once less than this share of the hourly limit is left: new issues need the rest more."""


@dataclass(slots=True)
class RequestBudget:
    """The number of requests to GitHub that one installation may still make in this turn."""

    requests: int = MOST_REQUESTS

    def take(self) -> bool:
        """Count a request; return whether the budget allows the request."""
        self.requests -= 1
        return self.requests >= 0

    def end_if_low(self, page: VotesPage) -> None:
        """End the turn if too little of the hourly limit is left."""
        if page.remaining is not None and page.limit and page.remaining < SHARE_LEFT * page.limit:
            self.requests = 0


@dataclass(slots=True)
class ReactionPoll:
    """Reads the reactions in a repository once.

    `rights` caches whether each person has triage access. `suggests` says whether the bot makes suggestions to
    maintainers: to add a label, or to close an issue.
    """

    github: RepoClient
    store: Store
    repo_id: int
    repo: RepoRef
    now: float
    budget: RequestBudget
    rights: dict[str, bool] = field(default_factory=dict)
    suggests: bool = False

    def poll(self) -> int:
        """Read the reactions to the latest comments, newest first; return the number of comments read.

        Raises RateLimited and Unavailable. Reactions read before the error are stored.
        """
        watched = self.store.watched.latest(self.repo_id, self.now - WATCHED_FOR, MOST_WATCHED)
        read = 0
        for batch in batches(watched, PAGE):
            comments = [known for known in map(self._with_node_id, batch) if known is not None]
            self._store_comments(comments)
            if not comments:
                continue
            if not self.budget.take():
                break
            page = self.github.votes([comment.node_id for comment in comments])
            self.budget.end_if_low(page)
            for comment in comments:
                if (votes := page.found.get(comment.node_id)) is not None:
                    self._store_comments([self._store_votes(comment, votes)])
                    self._store_decided_suggestion(comment.number)
                    read += 1
        return read

    def _store_comments(self, watched: Sequence[WatchedComment]) -> None:
        """Store the state of these comments. If an issue was erased meanwhile, erase its stored data again."""
        self.store.watched.put(self.repo_id, watched)
        for comment in watched:
            if self.store.comments.get(self.repo_id, comment.number) is None:
                self.store.forget_issue(self.repo_id, comment.number)

    def _with_node_id(self, comment: WatchedComment) -> WatchedComment | None:
        """The comment with its GraphQL node id, which may cost a request; None if it is gone or the budget is spent."""
        if comment.node_id:
            return comment
        if not self.budget.take():
            return None
        try:
            return replace(comment, node_id=self.github.comment(self.repo, comment.comment_id).node_id)
        except NotFound:
            # The `issue_comment.deleted` event has not arrived yet, or was lost.
            self.store.comments.mark_deleted(self.repo_id, comment.number, comment.comment_id, self.now)
            return None

    def _store_votes(self, comment: WatchedComment, votes: Votes) -> WatchedComment:
        """Store each person's last vote, and fold or unfold the comment. Returns the comment with its new state."""
        signals = self.store.signals
        before = signals.of_issue(self.repo_id, comment.number, FeedbackKind.REACTION)
        known_roles = {signal.login: signal.who for signal in before}
        reactions: list[FeedbackSignal] = []
        oldest_first = sorted(votes.votes, key=lambda one: (one.at, one.up))
        last = {name_key(vote.login): vote for vote in oldest_first}
        for login, vote in last.items():
            if who := known_roles.get(login) or self._role(login, votes.author):
                # The signal's `other` is 0, because a vote is about all candidates shown.
                reactions.append(FeedbackSignal(comment.number, FeedbackKind.REACTION, login, 0, vote.up, who, vote.at))
        reactions += _unread_votes(before, votes)
        signals.replace(self.repo_id, comment.number, FeedbackKind.REACTION, reactions)
        if votes.locked:
            # The votes count, but the bot changes nothing on a locked issue (C1).
            return comment
        step, fold = decide_fold(comment.fold, votes.folded, reactions)
        return replace(comment, fold=self._apply(comment, step, fold))

    def _store_decided_suggestion(self, number: int) -> None:
        """Store a maintainer's answer to a suggestion for this issue, as feedback on the suggested candidate.

        Costs at least one request a turn until a suggestion is approved or dismissed.
        """
        if not self.suggests or self.store.signals.of_issue(self.repo_id, number, FeedbackKind.SUGGESTION):
            return
        decisions = self.store.decisions.of_issue(self.repo_id, number)
        top_candidates = [(one.at, one.shown[0].number) for one in decisions if one.outcome.seen and one.shown]
        if not top_candidates or not self.budget.take():
            return
        for one in self.github.suggestions(self.repo, number) or ():
            duplicate = one.action == CLOSE or (one.action == ADD_LABEL and duplicate_label([one.value]))
            if not duplicate or one.state not in ("approved", "dismissed"):
                continue
            # The top candidates up to the answer, latest first. The answer's time has whole seconds, so cut `at`.
            named = dict.fromkeys(top for at, top in reversed(top_candidates) if int(at) <= one.at)
            # A suggested label names no candidate: take the latest. A suggested closing has the original's database id.
            other = next((top for top in named if one.action == ADD_LABEL or self._has_id(top, one.target)), None)
            if other is not None:
                # GitHub gives an id, not a login. The space keeps the name apart from all logins.
                name, same = f"id {one.by}", one.state == "approved"
                said = FeedbackSignal(number, FeedbackKind.SUGGESTION, name, other, same, Role.TRIAGE, one.at)
                self.store.signals.put(self.repo_id, said)

    def _has_id(self, number: int, issue_id: int) -> bool:
        """Whether an issue has this database id; False if the budget allows no request."""
        try:
            return self.budget.take() and self.github.issue(self.repo, number).id == issue_id
        except NotFound:
            return False

    def _role(self, login: str, author: str) -> Role | None:
        """A person's role in the repository; None if the budget allows no request."""
        if login not in self.rights:
            if not self.budget.take():
                return None
            self.rights[login] = self.github.permission(self.repo, login).triage
        if self.rights[login]:
            return Role.TRIAGE
        return Role.AUTHOR if same_login(login, author) else Role.OTHER

    def _apply(self, comment: WatchedComment, step: FoldStep, fold: Fold) -> Fold:
        """Take the step on GitHub. Returns the state to store: `fold`, if the step succeeds."""
        if step is FoldStep.NOTHING:
            return fold
        if not self.budget.take():
            return comment.fold
        try:
            change = self.github.fold if step is FoldStep.FOLD else self.github.unfold
            change(comment.node_id)
        except GitHubError as refusal:
            # GitHub would refuse again: do not try every hour.
            logger.warning("%s#%d: the comment cannot be folded or unfolded: %s", self.repo, comment.number, refusal)
            return Fold.LEFT
        except Unavailable as failure:
            # GitHub may fail on the same comment every time: still read the votes on all other comments.
            logger.warning("%s#%d: the comment is not folded or unfolded yet: %s", self.repo, comment.number, failure)
            return comment.fold
        logger.info("%s#%d: the comment is %s by a vote", self.repo, comment.number, step.name.lower() + "ed")
        return fold


def _unread_votes(before: Iterable[FeedbackSignal], votes: Votes) -> list[FeedbackSignal]:
    """Stored votes to keep: they count, but the bot read only a crowd's latest votes (`since`), and not these."""
    read = {name_key(vote.login) for vote in votes.votes}
    return [
        signal
        for signal in before
        if signal.who is not Role.OTHER and signal.login not in read and signal.at <= votes.since.get(signal.same, -1.0)
    ]


class FoldStep(Enum):
    NOTHING = auto()
    FOLD = auto()
    UNFOLD = auto()


def decide_fold(fold: Fold, reason: str, votes: Sequence[FeedbackSignal]) -> tuple[FoldStep, Fold]:
    """The step to take on GitHub, and the state to store afterwards. `fold` is the stored state.

    `reason` is GitHub's reason for the fold, empty if the comment is not folded. A vote with `same` is a 👍.
    """
    rejected = any(not vote.same and vote.who is not Role.OTHER for vote in votes)
    overruled = any(vote.same and vote.who is Role.TRIAGE for vote in votes)
    unwanted = rejected and not overruled
    if fold is Fold.OPEN and unwanted and not reason:
        return FoldStep.FOLD, Fold.FOLDED
    # A person has unfolded the comment, or folded it for another reason.
    if fold is Fold.FOLDED and reason != FOLDED_AS:
        return FoldStep.NOTHING, Fold.LEFT
    if fold is Fold.FOLDED and not unwanted:
        return FoldStep.UNFOLD, Fold.LEFT
    return FoldStep.NOTHING, fold
