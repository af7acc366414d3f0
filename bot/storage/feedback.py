"""Records people's feedback: verdicts by command (C4), other signals, and the thresholds calibrated from both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.domain.entities import name_key
from bot.domain.feedback import (
    FeedbackKind,
    FeedbackSignal,
    Fold,
    Role,
    StoredCalibration,
    UserVerdict,
    UserVerdictKind,
)
from bot.storage.comments import ADVISORY, CommentState
from bot.storage.engine import TableGateway, with_key, write
from bot.storage.schema import calibrations, comments, signals, verdicts, watched

_REJECTED_ELSEWHERE = sa.select(verdicts.c.issue).where(
    with_key(verdicts, "repo_id", "number"),
    verdicts.c.kind == UserVerdictKind.NOT,
    verdicts.c.undone_at.is_(None),
    verdicts.c.issue != "",
)
_ORIGINALS = (
    sa.select(verdicts.c.number, verdicts.c.other)
    .where(with_key(verdicts, "repo_id"), verdicts.c.kind == UserVerdictKind.OF, verdicts.c.undone_at.is_(None))
    .order_by(verdicts.c.at, verdicts.c.id)
)
_SINCE = (
    sa.select(verdicts)
    .where(with_key(verdicts, "repo_id"), verdicts.c.issue == "", verdicts.c.undone_at.is_(None))
    .where(verdicts.c.at >= sa.bindparam("since"))
    .order_by(verdicts.c.id)
)
_SIGNALS = (
    sa.select(signals)
    # Leave out kinds that only another version knows.
    .where(with_key(signals, "repo_id"), signals.c.kind.in_([kind.value for kind in FeedbackKind]))
    .order_by(signals.c.at, signals.c.number, signals.c.login)
)
_DECIDING = _SIGNALS.where(
    sa.or_(signals.c.other != 0, signals.c.kind == FeedbackKind.REACTION.value), signals.c.who != Role.OTHER.value
)


class Verdicts(TableGateway):
    """The `verdicts` table: people's verdicts by the commands `not` and `of` (C4).

    An `undo` ends a verdict by setting `undone_at` and `undone_by`. `end_overtaken` sets only `undone_at`.
    """

    def add(
        self,
        repo_id: int,
        number: int,
        other: int,
        kind: UserVerdictKind,
        *,
        actor: str,
        command_id: int,
        now: float,
        details: Mapping[str, Any] | None = None,
        issue: str = "",
    ) -> None:
        """Store a verdict on issue `number` and issue `other`. `command_id` is the comment with the command.

        If the second issue is another repository's, `issue` names it (`owner/repo#number`), and `other` is 0. If GitHub
        delivers a command again while its verdict still holds, this method changes nothing.
        """
        undone = {"undone_at": None, "undone_by": None}
        values = {"actor": actor, "at": now, **undone, "details": json.dumps(dict(details or {}))}
        pair = {"number": number, "other": other, "issue": issue}
        key = {"repo_id": repo_id, "command_id": command_id, "kind": kind, **pair}
        # Replace the row only if its verdict has ended: after an edit, the comment can give the same command again.
        self._change(self._upsert(verdicts, key, values, where=verdicts.c.undone_at.is_not(None)))

    def remove(self, verdict_id: int) -> None:
        """Erase a verdict that the bot could not carry out, because GitHub refused."""
        self._change(sa.delete(verdicts).where(verdicts.c.id == verdict_id))

    def rejected(self, repo_id: int, number: int) -> set[int]:
        """The issues that people declared, by a `not` on either issue, to be no duplicates of this one."""
        either = sa.or_(verdicts.c.number == number, verdicts.c.other == number)
        pairs = sa.select(verdicts.c.number, verdicts.c.other).where(*_that_hold(repo_id, UserVerdictKind.NOT), either)
        # `other` is 0 for an issue of another repository.
        return {issue for pair in self._all(pairs) for issue in pair} - {number, 0}

    def rejected_elsewhere(self, repo_id: int, number: int) -> set[str]:
        """The issues of other repositories that are no duplicates of this one, by a `not` on this issue."""
        return {row.issue for row in self._all(_REJECTED_ELSEWHERE, repo_id=repo_id, number=number)}

    def of_pair(self, repo_id: int, number: int, other: int, issue: str = "") -> list[UserVerdict]:
        """The `not` verdicts that hold on a pair of issues; people give them on either. `issue` as in `add`."""
        on_both = (verdicts.c.number.in_((number, other)), verdicts.c.other.in_((number, other)))
        return self._find(*_that_hold(repo_id, UserVerdictKind.NOT), verdicts.c.issue == issue, *on_both)

    def last(self, repo_id: int, number: int, actor: str | None, *, up_to: int) -> UserVerdict | None:
        """The latest verdict on this issue that no `undo` has taken back. `actor` limits the search to one person.

        `up_to` is a comment's id: verdicts from later comments, which have greater ids, do not count.
        """
        where = (verdicts.c.repo_id == repo_id, verdicts.c.number == number)
        query = sa.select(verdicts).where(*where, verdicts.c.undone_by.is_(None), verdicts.c.command_id <= up_to)
        if actor is not None:
            query = query.where(sa.func.lower(verdicts.c.actor) == actor.lower())
        row = self._first(query.order_by(verdicts.c.at.desc(), verdicts.c.id.desc()).limit(1))
        return row and _verdict(row)

    def original(self, repo_id: int, number: int) -> int | None:
        """The original of an issue, by the last `of` that still holds; None without one."""
        query = sa.select(verdicts.c.other).where(*_that_hold(repo_id, UserVerdictKind.OF), verdicts.c.number == number)
        return self._scalar(query.order_by(verdicts.c.at.desc(), verdicts.c.id.desc()).limit(1))

    def originals(self, repo_id: int) -> dict[int, int]:
        """The original of each issue that was closed by an `of` that still holds."""
        return {row.number: row.other for row in self._all(_ORIGINALS, repo_id=repo_id)}

    def by_command(self, repo_id: int, command_id: int) -> list[UserVerdict]:
        """The verdicts of the commands in this comment, whether they still hold or not."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.command_id == command_id)

    def undone_by(self, repo_id: int, command_id: int) -> list[UserVerdict]:
        """The verdicts that the `undo` in this comment took back. A retried `undo` must take back no others."""
        return self._find(verdicts.c.repo_id == repo_id, verdicts.c.undone_by == command_id)

    def since(self, repo_id: int, since: float) -> list[UserVerdict]:
        """The verdicts that still hold, given at `since` (Unix time) or later, except on other repositories' issues."""
        return [_verdict(row) for row in self._all(_SINCE, repo_id=repo_id, since=since)]

    def _find(self, *conditions: sa.ColumnElement[bool]) -> list[UserVerdict]:
        return [_verdict(row) for row in self._all(sa.select(verdicts).where(*conditions).order_by(verdicts.c.id))]

    def undo(self, verdict_id: int, command_id: int, now: float) -> None:
        """Take a verdict back for the `undo` in comment `command_id`, unless another `undo` has done so before."""
        update = sa.update(verdicts).where(verdicts.c.id == verdict_id, verdicts.c.undone_by.is_(None))
        self._change(update.values(undone_at=now, undone_by=command_id))

    def end_overtaken(self, repo_id: int, number: int, now: float, *, but: int | None = None) -> None:
        """End the `of` verdicts on an issue that people closed or reopened, unless the original is issue `but`."""
        where = (verdicts.c.repo_id == repo_id, verdicts.c.number == number, verdicts.c.kind == UserVerdictKind.OF)
        update = sa.update(verdicts).where(*where, verdicts.c.undone_at.is_(None)).values(undone_at=now)
        self._change(update if but is None else update.where(verdicts.c.other != but))


def _that_hold(repo_id: int, kind: UserVerdictKind) -> tuple[sa.ColumnElement[bool], ...]:
    return verdicts.c.repo_id == repo_id, verdicts.c.kind == kind, verdicts.c.undone_at.is_(None)


def _verdict(row: sa.Row[Any]) -> UserVerdict:
    # The columns have the names of the fields.
    return UserVerdict(**row._asdict() | {"kind": UserVerdictKind(row.kind), "details": json.loads(row.details)})


class Signals(TableGateway):
    """The `signals` table. A person has at most one signal of each kind on a pair of issues, or on a whole comment."""

    def put(self, repo_id: int, signal: FeedbackSignal) -> None:
        """Store a signal, in place of the person's earlier one of this kind about this pair."""
        self._change(self._put(repo_id, signal))

    def replace(self, repo_id: int, number: int, kind: FeedbackKind, present: Iterable[FeedbackSignal]) -> None:
        """Replace an issue's signals of this kind with `present`: people have taken back all others."""
        with write(self._engine) as connection:
            connection.execute(sa.delete(signals).where(*_signals_of(repo_id, number, kind)))
            for signal in present:
                connection.execute(self._put(repo_id, signal))

    def drop(self, repo_id: int, number: int, kind: FeedbackKind, other: int | None = None) -> None:
        """Forget the signals of this kind about an issue; with `other`, only those about this pair."""
        where = _signals_of(repo_id, number, kind)
        if other is not None:
            where = (*where, signals.c.other == other)
        self._change(sa.delete(signals).where(*where))

    def drop_own(self, repo_id: int, number: int, kind: FeedbackKind, login: str, other: int) -> None:
        """Forget one person's signal of this kind about a pair."""
        where = (*_signals_of(repo_id, number, kind), signals.c.login == name_key(login), signals.c.other == other)
        self._change(sa.delete(signals).where(*where))

    def of_issue(self, repo_id: int, number: int, kind: FeedbackKind) -> list[FeedbackSignal]:
        return self._read(_SIGNALS.where(signals.c.number == number, signals.c.kind == kind.value), repo_id)

    def since(self, repo_id: int, since: float) -> list[FeedbackSignal]:
        """All signals at `since` (seconds since 1970) or later, the earliest first."""
        return self._read(_SIGNALS.where(signals.c.at >= since), repo_id)

    def deciding(self, repo_id: int) -> list[FeedbackSignal]:
        """The maintainers' and authors' signals about pairs of issues, and their reactions to the bot's comments."""
        return self._read(_DECIDING, repo_id)

    def prune(self, before: float) -> int:
        """Erase all repositories' signals before a time; returns how many."""
        return self._change(sa.delete(signals).where(signals.c.at < before))

    def _put(self, repo_id: int, signal: FeedbackSignal) -> Any:
        person, about = name_key(signal.login), {"number": signal.number, "kind": signal.kind.value}
        key = {"repo_id": repo_id, **about, "login": person, "other": signal.other}
        return self._upsert(signals, key, {"same": signal.same, "who": signal.who.value, "at": signal.at})

    def _read(self, query: sa.Select[Any], repo_id: int) -> list[FeedbackSignal]:
        return [
            FeedbackSignal(row.number, FeedbackKind(row.kind), row.login, row.other, row.same, Role(row.who), row.at)
            for row in self._all(query, repo_id=repo_id)
        ]


def _signals_of(repo_id: int, number: int, kind: FeedbackKind) -> tuple[sa.ColumnElement[bool], ...]:
    return signals.c.repo_id == repo_id, signals.c.number == number, signals.c.kind == kind.value


@dataclass(frozen=True, slots=True)
class WatchedComment:
    """An advisory comment. `node_id` is its GraphQL id, or "" if unknown."""

    number: int
    comment_id: int
    node_id: str = ""
    fold: Fold = Fold.OPEN


class WatchedComments(TableGateway):
    """The `watched` table. A comment's row appears when its reactions are first read."""

    def latest(self, repo_id: int, since: float, most: int) -> list[WatchedComment]:
        """The posted advisory comments that the bot wrote or edited at `since` or later, newest first."""
        same_issue = sa.and_(watched.c.repo_id == comments.c.repo_id, watched.c.number == comments.c.number)
        query = (
            sa.select(comments.c.number, comments.c.comment_id, watched.c.comment_id, watched.c.node_id, watched.c.fold)
            .select_from(comments.outerjoin(watched, same_issue))
            .where(
                comments.c.repo_id == repo_id,
                comments.c.command_id == ADVISORY,
                comments.c.state == CommentState.POSTED,
                comments.c.comment_id.is_not(None),
                comments.c.updated_at >= since,
            )
            .order_by(comments.c.updated_at.desc(), comments.c.number.desc())
            .limit(most)
        )
        return [
            # If the `watched` row is about an earlier comment of the issue, leave out its values.
            WatchedComment(number, comment_id, node_id, Fold(fold))
            if watched_id == comment_id
            else WatchedComment(number, comment_id)
            for number, comment_id, watched_id, node_id, fold in self._all(query)
        ]

    def put(self, repo_id: int, watched_comments: Sequence[WatchedComment]) -> None:
        with write(self._engine) as connection:
            for comment in watched_comments:
                values = {"comment_id": comment.comment_id, "node_id": comment.node_id, "fold": comment.fold.value}
                connection.execute(self._upsert(watched, {"repo_id": repo_id, "number": comment.number}, values))


_CALIBRATION = sa.select(calibrations).where(with_key(calibrations, "repo_id"))


class Calibrations(TableGateway):
    """The `calibrations` table: a row for each repository that was calibrated or reset. `bar` is the threshold."""

    def get(self, repo_id: int) -> StoredCalibration | None:
        """The calibration in force; None if there never was one."""
        row = self._first(_CALIBRATION, repo_id=repo_id)
        if row is None:
            return None
        basis = json.loads(row.basis)
        return StoredCalibration(row.bar, row.since, row.changed_at, basis["right"], basis["wrong"])

    def move(
        self,
        repo_id: int,
        old: StoredCalibration | None,
        threshold: float | None,
        right: float,
        wrong: float,
        now: float,
    ) -> bool:
        """Store a threshold, unless a reset came after the caller read `old`. Returns whether the threshold changed.

        `right` and `wrong`: see `StoredCalibration`.
        """
        moved = threshold != (old.threshold if old else None)
        last_move = old.changed_at if old else 0.0
        values = {"bar": threshold, "changed_at": now if moved else last_move, "basis": _basis(right, wrong)}
        if old is None:
            new = self._insert(calibrations).values(repo_id=repo_id, since=0.0, **values).on_conflict_do_nothing()
            return self._write(new) and moved
        # If a reset came after the caller read `old`, `since` has changed, and no row matches.
        update = sa.update(calibrations).where(calibrations.c.repo_id == repo_id, calibrations.c.since == old.since)
        return bool(self._change(update.values(**values))) and moved

    def reset(self, repo_id: int, now: float) -> None:
        """Go back to the settings' threshold. Feedback before `now` no longer counts."""
        values = {"bar": None, "since": now, "changed_at": now, "basis": _basis(0.0, 0.0)}
        self._change(self._upsert(calibrations, {"repo_id": repo_id}, values))


def _basis(right: float, wrong: float) -> str:
    return json.dumps({"right": right, "wrong": wrong})
