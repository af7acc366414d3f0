"""The advisory comment: kept as the finder's report says (C2)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from bot.calibration.bar import Origin
from bot.commands import Options
from bot.config import ConfigError
from bot.config.model import MIN_CONFIDENCE
from bot.decisions import COMMAND, Outcome
from bot.model import Issue
from bot.posts.comments import Draft, digest
from bot.posts.marker import fingerprint
from bot.render import View, render_comment
from bot.report import Report
from bot.store import CommentState, KeptComment
from bot.telemetry.metrics import SHADOW
from handlers.deciding import VERDICT, note, why_nothing
from handlers.finding import find
from handlers.labelling import label, unlabel
from handlers.offering import offer, remember
from handlers.visit import Visit

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
    if kept is not None and kept.text_hash == text_hash(issue) and not anew and _is_done(visit, kept):
        # A repeated delivery, or the later of several edits that waited together.
        return
    posted = kept is not None and kept.state is CommentState.POSTED
    # What the issue names already is no news; but where a comment shows it, it must not say that nothing is left.
    report = find(visit, issue, show_named=posted)
    if not report.candidates:
        _log_silence(visit, report)
    if posted and anew and not report.candidates and not _names_something(visit):
        bar = visit.bar.value
        note(visit, report, (), Outcome.UNCHANGED, cause=cause, bar=bar, reason=why_nothing(report, bar))
    elif visit.config.mode == "shadow":
        _note(visit, issue, report, cause)
    else:
        post(visit, issue, report, cause=cause, create=bool(report.candidates))


def refresh(visit: Visit, issue: Issue) -> None:
    """Bring the comment up to date with what people decided, if there is one."""
    kept = visit.kept_comment()
    if kept is not None and kept.state is CommentState.POSTED:
        post(visit, issue, find(visit, issue), cause=VERDICT, create=False)


def post(
    visit: Visit,
    issue: Issue,
    report: Report,
    *,
    cause: str = COMMAND,
    create: bool = True,
    options: Options | None = None,
    words: tuple[str, ...] = (),
    problems: Sequence[ConfigError] = (),
) -> bool:
    """Keep the one comment as the report says; False where a maintainer deleted it.

    `options`, `words` and `problems` (of the settings file) are given where a command asked.
    """
    services, options = visit.services, options or Options()
    kept = visit.kept_comment()
    most = options.limit or visit.config.max_candidates
    named = report.candidates[:most]
    closing = offer(visit, issue, named)
    bar = visit.bar
    view = View(
        checked_at=services.clock(),
        enterprise=services.settings.enterprise,
        max_candidates=most,
        had_candidates=bool(kept and (kept.shown or (not named and _names_something(visit)))),
        words=words,
        options=options,
        asked=cause == COMMAND,
        settings_problems=tuple(problems),
        settings_private=visit.settings.private,
        say=visit.words(issue),
        closing=closing,
        labels=visit.config.label == "add",
        moved=(bar.value, MIN_CONFIDENCE) if bar.origin is Origin.FEEDBACK else None,
    )
    body = render_comment(report, view)
    shown = [candidate.number for candidate in named if candidate.own]
    draft = Draft(body, fingerprint(body), text_hash(issue), shown)
    # A comment of ours can be there without our knowing only where anything is there at all. Who asks is answered by
    # the comment, so that it must say this now whatever became of it.
    stands = services.comments.keep(
        visit.github, visit.slot, draft, look=issue.comments > 0, create=create, anew=cause == COMMAND
    )
    if stands:
        remember(visit, closing)
    least = bar.value if options.confidence is None else options.confidence
    outcome = _outcome(visit, kept, visit.kept_comment())
    if outcome.speaks:
        label(visit, issue, named)
        if not words and not options.narrow:
            unlabel(visit, issue, report, named)
    reason = "" if outcome.speaks else why_nothing(report, least) if stands else "its comment was deleted"
    # The last thing to be done, by which `_is_done` tells that all of it is.
    note(visit, report, named, outcome, cause=cause, bar=least, reason=reason)
    return stands


def _names_something(visit: Visit) -> bool:
    """Whether the comment names something now; its row knows this repository's issues alone."""
    looks = visit.decisions()
    last = next((look for look in reversed(looks) if look.outcome.seen), None)
    return last is not None and any(one.shown for one in last.evidence)


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


def text_hash(issue: Issue) -> str:
    """What tells whether an issue's text has been answered already."""
    return digest(issue.title, issue.body)


def _log_silence(visit: Visit, report: Report) -> None:
    """For hosts who wonder why the bot said nothing: how near the nearest came. No word of the issue is logged."""
    best = "nothing to compare" if report.best_confidence is None else f"the best is {report.best_confidence:.2f}"
    bar, outcome = visit.bar.value, report.outcome.value
    if report.failed:
        outcome += f": {', '.join(report.failed)}"
    logger.info("%s#%d: silent (%s); %s, the bar %.2f", visit.repo, visit.number, outcome, best, bar)


def _note(visit: Visit, issue: Issue, report: Report, cause: str) -> None:
    """`mode: shadow`: record what would have been posted."""
    named, bar = report.candidates[: visit.config.max_candidates], visit.bar.value
    shown = [candidate.number for candidate in named if candidate.own]
    logger.info("shadow: %s#%d would show %s", visit.repo, visit.number, shown or "nothing")
    SHADOW.labels("found" if shown else "silent").inc()
    visit.services.store.comments.answer_silently(
        visit.repository.id, visit.number, text_hash=text_hash(issue), shown=shown, now=visit.services.now()
    )
    outcome = Outcome.SHADOW if named else Outcome.SILENT
    note(visit, report, named, outcome, cause=cause, bar=bar, reason="" if named else why_nothing(report, bar))
