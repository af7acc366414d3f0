"""Reads the reactions to the bot's comments in one repository and folds comments that were voted down; and reads what
became of its suggestions.

A 👎 of the issue's author or of somebody with triage access folds the comment, once, unless somebody with triage access
gives it a 👍. If the 👎 is taken back or overruled, the comment is unfolded and never folded again. A comment that a
person has folded or unfolded stays as it is.
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
from bot.github.feedback import ADD_LABEL, CLOSE, FOLDED_AS, PAGE, Vote, Votes, VotesPage, duplicate_label
from bot.github.repository import RepoClient
from bot.storage import Store
from bot.storage.feedback import WatchedComment

logger = logging.getLogger(__name__)

WATCHED_FOR = 30 * 86_400.0
"""Seconds after it was last written for which a comment's reactions are read; hardly anybody votes later."""

MOST_WATCHED = 500
"""Comments of one repository, those written last."""

MOST_REQUESTS = 250
"""Requests for one installation in one turn: a twentieth of what GitHub grants it in the hour between two turns."""

SHARE_LEFT = 0.5
"""Reading stops where less than this share of the hour's budget is left: new issues need it more."""


@dataclass(slots=True)
class RequestBudget:
    """The requests to GitHub that are left in this turn, for one installation."""

    requests: int = MOST_REQUESTS

    def take(self) -> bool:
        """Count one more request; return whether it may be made."""
        self.requests -= 1
        return self.requests >= 0

    def heed(self, page: VotesPage) -> None:
        """End the turn if too little is left of the hour's limit."""
        if page.remaining is not None and page.limit and page.remaining < SHARE_LEFT * page.limit:
            self.requests = 0


@dataclass(slots=True)
class ReactionPoll:
    """One look at the reactions in a repository. `rights` caches who may triage; `suggests` says whether the bot makes
    suggestions there.
    """

    github: RepoClient
    store: Store
    repo_id: int
    repo: RepoRef
    now: float
    allowance: RequestBudget
    rights: dict[str, bool] = field(default_factory=dict)
    suggests: bool = False

    def look(self) -> int:
        """Read the reactions to the latest comments, last one first; return how many comments were read.

        Raises RateLimited and Unavailable; what was read until then is stored.
        """
        watched = self.store.watched.latest(self.repo_id, self.now - WATCHED_FOR, MOST_WATCHED)
        read = 0
        for together in batches(watched, PAGE):
            part = [known for one in together if (known := self._named(one)) is not None]
            self._keep(part)
            if not part or not self.allowance.take():
                break
            page = self.github.votes([one.node_id for one in part])
            self.allowance.heed(page)
            for one in part:
                if (votes := page.found.get(one.node_id)) is not None:
                    self._keep([self._take(one, votes)])
                    self._take_suggestions(one.number)
                    read += 1
        return read

    def _keep(self, watched: Sequence[WatchedComment]) -> None:
        """Store the state of these comments, but nothing about an issue that was erased meanwhile."""
        self.store.watched.put(self.repo_id, watched)
        for one in watched:
            if self.store.comments.get(self.repo_id, one.number) is None:
                self.store.forget_issue(self.repo_id, one.number)

    def _named(self, one: WatchedComment) -> WatchedComment | None:
        """The comment with its name in GraphQL, which takes one request, once."""
        if one.node_id:
            return one
        if not self.allowance.take():
            return None
        try:
            return replace(one, node_id=self.github.comment(self.repo, one.comment_id).node_id)
        except NotFound:
            # Its `issue_comment.deleted` is on its way, or was lost.
            self.store.comments.mark_deleted(self.repo_id, one.number, one.comment_id, self.now)
            return None

    def _take(self, one: WatchedComment, votes: Votes) -> WatchedComment:
        signals = self.store.signals
        before = signals.of_issue(self.repo_id, one.number, FeedbackKind.REACTION)
        known = {signal.login: signal.who for signal in before}
        said: list[FeedbackSignal] = []
        for vote in _last_of_each(votes.votes):
            login = name_key(vote.login)
            if who := known.get(login) or self._who(login, votes.author):
                said.append(FeedbackSignal(one.number, FeedbackKind.REACTION, login, 0, vote.up, who, vote.at))
        said += _unread_votes(before, votes)
        signals.replace(self.repo_id, one.number, FeedbackKind.REACTION, said)
        if votes.locked:
            # What was said counts, but nothing is done there (C1).
            return one
        step, fold = decide_fold(one.fold, votes.folded, FOLDED_AS, said)
        return replace(one, fold=self._do(one, step, fold))

    def _take_suggestions(self, number: int) -> None:
        """Store what a maintainer said to a suggestion on this issue, about the candidate that it was made for.

        Each issue takes a request until one suggestion is decided.
        """
        if not self.suggests or self.store.signals.of_issue(self.repo_id, number, FeedbackKind.SUGGESTION):
            return
        looks = self.store.decisions.of_issue(self.repo_id, number)
        firsts = [(one.at, one.shown[0].number) for one in looks if one.outcome.seen and one.shown]
        if not firsts or not self.allowance.take():
            return
        for one in self.github.suggestions(self.repo, number) or ():
            duplicate = one.action == CLOSE or (one.action == ADD_LABEL and duplicate_label([one.value]))
            if not duplicate or one.state not in ("approved", "dismissed"):
                continue
            # A label names no candidate: what the comment named first when the maintainer decided, in whole seconds.
            named = dict.fromkeys(first for at, first in reversed(firsts) if int(at) <= one.at)
            other = next((first for first in named if one.action != CLOSE or self._is(first, one.target)), None)
            if other is not None:
                # GitHub gives the id of who decided; no login contains a space.
                who, same = f"id {one.by}", one.state == "approved"
                said = FeedbackSignal(number, FeedbackKind.SUGGESTION, who, other, same, Role.TRIAGE, one.at)
                self.store.signals.put(self.repo_id, said)

    def _is(self, number: int, issue_id: int) -> bool:
        """Whether an issue has this database id; False if that cannot be asked in this turn."""
        try:
            return self.allowance.take() and self.github.issue(self.repo, number).id == issue_id
        except NotFound:
            return False

    def _who(self, login: str, author: str) -> Role | None:
        """A person's role here; None if it cannot be asked in this turn."""
        if login not in self.rights:
            if not self.allowance.take():
                return None
            self.rights[login] = self.github.permission(self.repo, login).triage
        if self.rights[login]:
            return Role.TRIAGE
        return Role.AUTHOR if same_login(login, author) else Role.OTHER

    def _do(self, one: WatchedComment, step: FoldStep, fold: Fold) -> Fold:
        if step is FoldStep.NOTHING:
            return fold
        if not self.allowance.take():
            return one.fold
        try:
            (self.github.fold if step is FoldStep.FOLD else self.github.unfold)(one.node_id)
        except GitHubError as refusal:
            # Locked or archived, for example; do not try every hour.
            logger.warning("%s#%d: the comment cannot be folded or unfolded: %s", self.repo, one.number, refusal)
            return Fold.LEFT
        except Unavailable as failure:
            # GitHub can fail at one comment each time; the others' votes must be read all the same.
            logger.warning("%s#%d: the comment is not folded or unfolded yet: %s", self.repo, one.number, failure)
            return one.fold
        logger.info("%s#%d: the comment is %s by a vote", self.repo, one.number, step.name.lower() + "ed")
        return fold


def _unread_votes(before: Iterable[FeedbackSignal], votes: Votes) -> list[FeedbackSignal]:
    """Earlier votes that count and lie behind more later votes than are read: a crowd must not remove them."""
    read = {name_key(vote.login) for vote in votes.votes}
    return [
        signal
        for signal in before
        if signal.who is not Role.OTHER and signal.login not in read and signal.at <= votes.since.get(signal.same, -1.0)
    ]


def _last_of_each(votes: Iterable[Vote]) -> list[Vote]:
    """Each person's last vote."""
    last: dict[str, Vote] = {}
    for vote in sorted(votes, key=lambda one: (one.at, one.up)):
        last[name_key(vote.login)] = vote
    return list(last.values())


class FoldStep(Enum):
    NOTHING = auto()
    FOLD = auto()
    UNFOLD = auto()


def decide_fold(fold: Fold, present: str, ours: str, votes: Iterable[FeedbackSignal]) -> tuple[FoldStep, Fold]:
    """What to do on GitHub, and the state to store after that.

    `present` is the reason with which GitHub shows the comment folded, empty if it is not; `ours` is the bot's own.
    """
    votes = list(votes)
    against = any(not vote.same and vote.who is not Role.OTHER for vote in votes)
    overruled = any(vote.same and vote.who is Role.TRIAGE for vote in votes)
    unwanted = against and not overruled
    if fold is Fold.OPEN and unwanted and not present:
        return FoldStep.FOLD, Fold.FOLDED
    if fold is Fold.FOLDED and present != ours:
        return FoldStep.NOTHING, Fold.LEFT
    if fold is Fold.FOLDED and not unwanted:
        return FoldStep.UNFOLD, Fold.LEFT
    return FoldStep.NOTHING, fold
