"""The advisory comment: kept as the finder's report says (C2)."""

from __future__ import annotations

import logging

from bot.conversation.commands import Command, Options
from bot.domain.decisions import REFUSED, Outcome
from bot.domain.entities import Issue
from bot.domain.errors import Forbidden
from bot.domain.report import Report
from bot.platform.metrics import SHADOW
from bot.storage import CommentState, KeptComment
from handlers.advice.drafting import (
    VERDICT,
    draft,
    names_something,
    note,
    note_left_alone,
    own_numbers,
    text_hash,
    why_nothing,
)
from handlers.advice.labelling import label, suggest_closing, unlabel
from handlers.finding import find
from handlers.visit import LOCKED, Visit

logger = logging.getLogger(__name__)

_TRIED_AGAIN = 86_400.0


def advise(visit: Visit, issue: Issue, cause: str, *, anew: bool = False) -> None:
    """Look for earlier reports of an issue that appeared or changed by itself, and speak if there are any.

    `cause` is the action of `issues` that made us look. Where there are none, nothing is said on a new issue; a comment
    that stands there already says so. A text that was answered before is looked at only `anew`; finding nothing more
    then leaves a comment that names nothing as it is, since it may answer words that somebody searched for.
    """
    kept = visit.kept_comment()
    if kept is not None and kept.state is CommentState.DELETED:
        # A maintainer's wish.
        return
    if kept is not None and _is_answered(visit, issue, kept) and not anew and _is_done(visit, kept):
        # A repeated delivery, or the later of several edits that waited together.
        return
    posted = kept is not None and kept.state is CommentState.POSTED
    # What the issue names already is no news; but where a comment shows it, it must not say that nothing is left.
    report = find(visit, issue, show_named=posted)
    if not report.candidates:
        _log_silence(visit, report)
    if posted and anew and not report.candidates and not names_something(visit):
        threshold = visit.threshold.value
        note(
            visit,
            report,
            (),
            Outcome.UNCHANGED,
            cause=cause,
            threshold=threshold,
            reason=why_nothing(report, threshold),
        )
    elif visit.config.mode == "shadow":
        _note(visit, issue, report, cause)
    else:
        try:
            post(visit, issue, report, cause=cause, create=bool(report.candidates))
        except Forbidden as refusal:
            # It was locked, or the repository archived, since it was read. The next look is that of its unlocking.
            locked = visit.github.issue(visit.repo, issue.number).locked
            note_left_alone(visit, cause, LOCKED if locked else f"{REFUSED}: {refusal.detail}")
            raise


def refresh(visit: Visit, issue: Issue) -> None:
    """Bring the comment up to date with what people decided, if there is one."""
    if visit.services.comments.stands(visit.github, visit.slot, look=issue.comments > 0):
        post(visit, issue, find(visit, issue), cause=VERDICT, create=False)


def post(
    visit: Visit, issue: Issue, report: Report, *, cause: str, create: bool = True, command: Command | None = None
) -> bool:
    """Keep the one comment as the report says; False where a maintainer deleted it. `command` is what asked, if any."""
    options = command.options if command else Options()
    before, threshold = visit.kept_comment(), visit.threshold.value
    named = report.candidates
    # A comment of ours can be there without our knowing only where anything is there at all. Who asks is answered by
    # the comment, so that it must say this now whatever became of it.
    stands = visit.services.comments.keep(
        visit.github,
        visit.slot,
        draft(visit, issue, report, named, command, before),
        look=issue.comments > 0,
        create=create,
        anew=command is not None,
    )
    outcome = _outcome(visit, before, visit.kept_comment())
    if outcome.speaks:
        label(visit, issue, named)
        suggest_closing(visit, issue, named)
        if not (command and (command.words or options.narrow)):
            unlabel(visit, issue, report, named)
    least = threshold if options.confidence is None else options.confidence
    reason = "" if outcome.speaks else why_nothing(report, least) if stands else "its comment was deleted"
    # The last thing to be done, by which `_is_done` tells that all of it is.
    stood_by = [one for one in named if (one.confidence or 0.0) >= least]
    note(visit, report, stood_by, outcome, cause=cause, threshold=least, reason=reason)
    return stands


def _is_answered(visit: Visit, issue: Issue, kept: KeptComment) -> bool:
    """Whether the text was answered before. What was only noted in `mode: shadow` is an answer in that mode alone."""
    if kept.text_hash == text_hash(issue):
        return True
    return visit.config.mode == "shadow" and kept.text_hash == text_hash(issue, shadow=True)


def _is_done(visit: Visit, kept: KeptComment) -> bool:
    """Whether the look that wrote the comment came to its end: a worker can be killed between any two steps of it.

    A delivery is tried again for less than a day.
    """
    if visit.services.now() - kept.updated_at > _TRIED_AGAIN:
        return True
    noted = visit.decisions()
    return any(decision.at >= kept.updated_at for decision in noted)


def _outcome(visit: Visit, before: KeptComment | None, now: KeptComment | None) -> Outcome:
    """What became of the comment, from its rows before and now, and of what no earlier attempt has noted."""
    if now is None or now.state is not CommentState.POSTED:
        return Outcome.SILENT
    if before is None or before.comment_id is None:
        return Outcome.POSTED
    if _is_done(visit, before):
        return Outcome.UNCHANGED if before.body_hash == now.body_hash else Outcome.EDITED
    noted = visit.decisions()
    return Outcome.EDITED if any(decision.outcome.speaks for decision in noted) else Outcome.POSTED


def _log_silence(visit: Visit, report: Report) -> None:
    """For hosts who wonder why the bot said nothing: how near the nearest came. No word of the issue is logged."""
    best = "nothing to compare" if report.best_confidence is None else f"the best is {report.best_confidence:.2f}"
    threshold, outcome = visit.threshold.value, report.outcome.value
    if report.failed:
        outcome += f": {', '.join(report.failed)}"
    logger.info("%s#%d: silent (%s); %s, the threshold %.2f", visit.repo, visit.number, outcome, best, threshold)


def _note(visit: Visit, issue: Issue, report: Report, cause: str) -> None:
    """`mode: shadow`: record what would have been posted."""
    named, threshold = report.candidates, visit.threshold.value
    shown = own_numbers(named)
    logger.info("shadow: %s#%d would show %s", visit.repo, visit.number, shown or "nothing")
    SHADOW.labels("found" if shown else "silent").inc()
    visit.services.store.comments.answer_silently(
        visit.repository.id,
        visit.number,
        text_hash=text_hash(issue, shadow=True),
        shown=shown,
        now=visit.services.now(),
    )
    outcome = Outcome.SHADOW if named else Outcome.SILENT
    note(
        visit,
        report,
        named,
        outcome,
        cause=cause,
        threshold=threshold,
        reason="" if named else why_nothing(report, threshold),
    )
