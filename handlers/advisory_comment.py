"""Decides whether an issue gets an advisory comment (C2), writes it, and stores the decision with its evidence."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.conversation.commands.table import Command, CommandOptions
from bot.conversation.comments import CommentDraft
from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.conversation.marker import fingerprint
from bot.conversation.render.comment import CommentView, render_comment
from bot.domain.decisions import REFUSED, Decision, DecisionOutcome, evidence
from bot.domain.entities import Closer
from bot.domain.errors import Forbidden
from bot.domain.report import Candidate, Report, SearchOutcome
from bot.platform.lease import TRUSTED_SECONDS, check_lease
from bot.platform.metrics import SHADOW
from bot.quality.calibration import ThresholdOrigin
from bot.search.finder import named_unasked
from bot.storage import CommentState, StoredComment
from bot.text.versions import fixed_in
from handlers.answered import has_ended, is_answered, text_hash
from handlers.context import LOCKED, IssueContext
from handlers.suggestions import label, suggest_closing, unlabel

logger = logging.getLogger(__name__)

VERDICT = "verdict"
"""The cause of a decision that `refresh` stores. For all causes, see `bot.domain.decisions.Decision`."""


def advise(context: IssueContext, cause: str, *, force: bool = False) -> None:
    """Look for earlier reports of an issue that was opened or changed, and comment if the search finds any.

    `cause` is the event's action. If the search finds nothing, the bot posts no comment, but edits an existing one
    to say so. With `force` the bot searches again, even for a text that it has answered. If this search
    finds nothing, a comment that lists no issues keeps its text, which may answer a command's search words.
    """
    stored = context.stored_comment()
    if stored is not None and stored.state is CommentState.DELETED:
        # A maintainer deleted the comment, so nobody wants another.
        return
    if stored is not None and not force and is_answered(context, stored):
        # The delivery was repeated, or an earlier look has answered several queued edits at once.
        return
    posted = stored is not None and stored.state is CommentState.POSTED
    # Leave out issues that the text names: the author knows them. But a posted comment may list some; keep them.
    report = context.find(show_named=posted)
    if not report.candidates:
        _log_silence(context, report)
    if posted and force and not report.candidates and not _names_something(context):
        reason = why_nothing(report, context.threshold.value)
        note(context, report, (), DecisionOutcome.UNCHANGED, cause=cause, reason=reason)
    elif context.config.mode == "shadow":
        _note_shadow(context, report, cause)
    else:
        try:
            post(context, report, cause=cause, create=bool(report.candidates))
        except Forbidden as refusal:
            # The issue was locked after the bot read it, or the repository was archived. Unlocking causes a new look.
            locked = context.github.issue(context.repo, context.number).locked
            note_left_alone(context, cause, LOCKED if locked else f"{REFUSED}: {refusal.detail}")
            raise


def refresh(context: IssueContext) -> None:
    """After a person's decision about a pair, update the comment if it exists."""
    if context.services.comments.exists(context.github, context.slot, search=context.issue.comments > 0):
        post(context, context.find(), cause=VERDICT, create=False)


def post(
    context: IssueContext, report: Report, *, cause: str, create: bool = True, command: Command | None = None
) -> bool:
    """Update the comment, or post it if `create` is set, and store the decision. False if the comment was deleted."""
    options = command.options if command else CommandOptions()
    before, threshold = context.stored_comment(), context.threshold.value
    candidates = report.candidates
    # The store may have lost our comment, so search the issue's comments, if it has any. After a command, write the
    # comment even if the store has the same text: somebody may have changed the comment on GitHub.
    not_deleted = context.services.comments.write(
        context.github,
        context.slot,
        _draft(context, report, command, before),
        search=context.issue.comments > 0,
        create=create,
        force=command is not None,
    )
    outcome = _outcome(context, before, context.stored_comment())
    if outcome.speaks:
        label(context, candidates)
        suggest_closing(context, candidates)
        # Keep the label after a search by a command's words or filters: such a search can miss a likely candidate.
        if not (command and (command.words or options.narrow)):
            unlabel(context, report)
    threshold_used = threshold if options.confidence is None else options.confidence
    reason = ""
    if not outcome.speaks:
        reason = why_nothing(report, threshold_used) if not_deleted else "its comment was deleted"
    # A command's answer also lists candidates below the threshold. Do not note such candidates as shown.
    endorsed = [one for one in candidates if (one.confidence or 0.0) >= threshold_used]
    # Store the decision last: `has_ended` takes a stored decision as proof that every other step is done.
    note(context, report, endorsed, outcome, cause=cause, threshold=threshold_used, reason=reason)
    return not_deleted


def _draft(
    context: IssueContext, report: Report, command: Command | None, before: StoredComment | None
) -> CommentDraft:
    """The comment's new text. `before` is the comment's row before this look.

    The answer to a `command` also names the command's own options and the problems in the settings file.
    """
    threshold, asked, candidates = context.threshold, command is not None, report.candidates
    # `before.shown` has only this repository's issues. `_names_something` also looks for other repositories' issues.
    had_candidates = bool(before and not candidates and (before.shown or _names_something(context)))
    # A re-check also lists unlikely candidates, so the comment says which candidates the bot would show unasked.
    rechecked = bool(command and candidates and not command.words)
    view = CommentView(
        checked_at=context.services.clock(),
        enterprise=context.services.settings.enterprise,
        had_candidates=had_candidates,
        words=command.words if command else (),
        options=command.options if command else CommandOptions(),
        asked=asked,
        settings_problems=context.settings.problems if asked else (),
        settings_private=context.settings.private,
        say=context.messages,
        labels=context.config.label == "add",
        threshold=threshold.value,
        likely=context.config.likely,
        unasked=named_unasked(context.config, threshold.value, candidates) if rechecked else None,
        closers=_closers(context, candidates),
        # The threshold in force and the default threshold, if feedback has moved the threshold.
        moved=(threshold.value, MIN_CONFIDENCE) if threshold.origin is ThresholdOrigin.FEEDBACK else None,
    )
    body = render_comment(report, view)
    return CommentDraft(body, fingerprint(body), text_hash(context.issue), _own_numbers(candidates))


def _closers(context: IssueContext, candidates: Sequence[Candidate]) -> Mapping[int, Closer]:
    """What closed each closed candidate of this repository, and the release with the fix. Costs one request."""
    closed = [item for item in candidates if item.own and item.state == "closed"]
    fixed = {item.number for item in closed if item.regression}
    closings = context.github.closers(context.repo, [item.number for item in closed])
    text = f"{context.issue.title}\n{context.issue.body}"
    return {
        number: replace(closer, release=fixed_in(text, closer, closings.releases) if number in fixed else "")
        for number, closer in closings.by_issue.items()
    }


def _own_numbers(candidates: Sequence[Candidate]) -> list[int]:
    """The numbers of this repository's candidates, which the comment's row keeps as `shown`."""
    return [candidate.number for candidate in candidates if candidate.own]


def _names_something(context: IssueContext) -> bool:
    """Whether the last decision with a readable comment marks an issue, of any repository, as shown."""
    last = next((decision for decision in reversed(context.decisions()) if decision.outcome.seen), None)
    return last is not None and any(item.shown for item in last.evidence)


def _outcome(context: IssueContext, before: StoredComment | None, now: StoredComment | None) -> DecisionOutcome:
    """How this look, including its unfinished attempts, changed the comment."""
    if now is None or now.state is not CommentState.POSTED:
        return DecisionOutcome.SILENT
    if before is None or before.comment_id is None:
        return DecisionOutcome.POSTED
    if has_ended(context, before):
        return DecisionOutcome.UNCHANGED if before.body_hash == now.body_hash else DecisionOutcome.EDITED
    # `before` comes from an unfinished attempt. If no earlier decision `speaks`, that attempt posted the comment.
    spoke = any(decision.outcome.speaks for decision in context.decisions())
    return DecisionOutcome.EDITED if spoke else DecisionOutcome.POSTED


def _log_silence(context: IssueContext, report: Report) -> None:
    """Log why the bot stayed silent and how likely the best candidate was. The log never quotes the issue."""
    best = "nothing to compare" if report.best_confidence is None else f"the best is {report.best_confidence:.2f}"
    threshold, outcome = context.threshold.value, report.outcome.value
    if report.failed:
        outcome += f": {', '.join(report.failed)}"
    logger.info("%s#%d: silent (%s); %s, the threshold %.2f", context.repo, context.number, outcome, best, threshold)


def _note_shadow(context: IssueContext, report: Report, cause: str) -> None:
    """`mode: shadow`: record what the bot would have posted."""
    candidates, shown = report.candidates, _own_numbers(report.candidates)
    logger.info("shadow: %s#%d would show %s", context.repo, context.number, shown or "nothing")
    SHADOW.labels("found" if shown else "silent").inc()
    check_lease(TRUSTED_SECONDS)
    context.services.store.comments.record_silence(
        context.repository.id,
        context.number,
        text_hash=text_hash(context.issue, shadow=True),
        shown=shown,
        now=context.services.now(),
    )
    outcome = DecisionOutcome.SHADOW if candidates else DecisionOutcome.SILENT
    reason = "" if candidates else why_nothing(report, context.threshold.value)
    note(context, report, candidates, outcome, cause=cause, reason=reason)


def note(
    context: IssueContext,
    report: Report | None,
    shown: Sequence[Candidate],
    outcome: DecisionOutcome,
    *,
    cause: str,
    threshold: float | None = None,
    reason: str = "",
) -> None:
    """Store a decision and its evidence. `shown` are the candidates that the evidence marks as shown.

    `threshold` is the repository's, unless a command sets another.
    """
    found = evidence(report, shown) if report else ()
    mode, now = context.config.mode, context.services.now()
    threshold_used = context.threshold.value if threshold is None else threshold
    check_lease(TRUSTED_SECONDS)
    decision = Decision(context.number, now, cause, mode, outcome, threshold_used, reason, found)
    context.services.store.decisions.add(context.repository.id, decision)


def note_left_alone(context: IssueContext, cause: str, reason: str) -> None:
    note(context, None, (), DecisionOutcome.LEFT_ALONE, cause=cause, reason=reason)


def why_nothing(report: Report, threshold: float) -> str:
    """Why a report has no candidates. An outage is never reported as "no duplicates" (F9)."""
    if report.outcome is SearchOutcome.DEGRADED:
        best_is_known = report.considered and report.indexed
        missing = f"not every search answered ({', '.join(report.failed)})"
        return f"the best was below the threshold, and {missing}" if best_is_known else missing
    if report.outcome is SearchOutcome.INCONCLUSIVE:
        return "the search was incomplete, had no usable words, or could ask no source"
    if report.considered and report.considered[0].probability < threshold:
        return "the best was below the threshold"
    return "nothing was found"
