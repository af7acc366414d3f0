"""What the advisory comment is to say, and what is kept of a look at an issue with its evidence (C7;
`bot/domain/decisions` is where that is read again).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.conversation.commands.table import Command, CommandOptions
from bot.conversation.comments import CommentDraft, hash_texts
from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.conversation.marker import fingerprint
from bot.conversation.render.comment import CommentView, render_comment
from bot.domain.decisions import REFUSED, Decision, DecisionOutcome, Evidence, evidence
from bot.domain.entities import Closer, Issue
from bot.domain.errors import Forbidden
from bot.domain.report import Candidate, Report
from bot.domain.report import SearchOutcome as Found
from bot.platform.metrics import SHADOW
from bot.quality.calibration import Origin
from bot.search.finder import named_unasked
from bot.storage import CommentState, KeptComment
from bot.text.versions import fixed_in
from handlers.context import LOCKED, IssueContext, find
from handlers.suggestions import label, suggest_closing, unlabel


def draft(
    visit: IssueContext,
    issue: Issue,
    report: Report,
    named: Sequence[Candidate],
    command: Command | None,
    kept: KeptComment | None,
) -> CommentDraft:
    """The comment that names these candidates, the first of the report's.

    `kept` is what is known of the comment before that. Where a `command` asked, it tells what that asked differently,
    and what is wrong with the settings file.
    """
    bar, asked = visit.bar, command is not None
    view = CommentView(
        checked_at=visit.services.clock(),
        enterprise=visit.services.settings.enterprise,
        had_candidates=bool(kept and (kept.shown or (not named and names_something(visit)))),
        words=command.words if command else (),
        options=command.options if command else CommandOptions(),
        asked=asked,
        settings_problems=visit.settings.problems if asked else (),
        settings_private=visit.settings.private,
        say=visit.words(issue),
        labels=visit.config.label == "add",
        bar=bar.value,
        likely=visit.config.likely,
        unasked=named_unasked(visit.config, bar.value, named) if command and named and not command.words else None,
        closers=_closers(visit, issue, named),
        moved=(bar.value, MIN_CONFIDENCE) if bar.origin is Origin.FEEDBACK else None,
    )
    body = render_comment(report, view)
    return CommentDraft(body, fingerprint(body), text_hash(issue), own_numbers(named))


def _closers(visit: IssueContext, issue: Issue, named: Sequence[Candidate]) -> Mapping[int, Closer]:
    """What closed those that are closed, in one request for all of them, and in which release that may be mended."""
    completed = {one.number: one.regression for one in named if one.own and one.state == "closed"}
    closings, text = visit.github.closers(visit.repo, list(completed)), f"{issue.title}\n{issue.body}"
    return {
        number: replace(by, release=fixed_in(text, by, closings.releases) if completed[number] else "")
        for number, by in closings.by_issue.items()
    }


def text_hash(issue: Issue, *, shadow: bool = False) -> str:
    """What tells whether an issue's text has been answered already: on GitHub, or in `mode: shadow` alone."""
    return hash_texts(issue.title, issue.body, *(["shadow"] if shadow else []))


def own_numbers(named: Sequence[Candidate]) -> list[int]:
    """The issues of this repository among the candidates, which is what the comment's row knows of them."""
    return [candidate.number for candidate in named if candidate.own]


def names_something(visit: IssueContext) -> bool:
    """Whether the comment names something now; its row knows this repository's issues alone."""
    looks = visit.decisions()
    last = next((look for look in reversed(looks) if look.outcome.seen), None)
    return last is not None and any(one.shown for one in last.evidence)


VERDICT = "verdict"
"""The cause where a person decided about a pair. Where one asked it is `COMMAND`, else an action of `issues`."""


def note(
    visit: IssueContext,
    report: Report,
    shown: Sequence[Candidate],
    outcome: DecisionOutcome,
    *,
    cause: str,
    bar: float,
    reason: str = "",
) -> None:
    """Keep what was decided on a report, of which the comment names (or would name) what is `shown`."""
    _keep(visit, outcome, cause, bar, reason, evidence(report, shown))


def note_left_alone(visit: IssueContext, cause: str, reason: str) -> None:
    """Keep why nobody looked."""
    _keep(visit, DecisionOutcome.LEFT_ALONE, cause, visit.bar.value, reason, ())


def why_nothing(report: Report, bar: float) -> str:
    """Why a report without candidates is one: an outage is never said to be "no duplicates" (F9)."""
    if report.outcome is Found.DEGRADED:
        below = report.considered and report.indexed
        missing = f"not every search answered ({', '.join(report.failed)})"
        return f"the best was below the threshold, and {missing}" if below else missing
    if report.outcome is Found.INCONCLUSIVE:
        return "there was nothing to search for properly"
    if report.considered and report.considered[0].confidence < bar:
        return "the best was below the threshold"
    return "nothing was found"


def _keep(
    visit: IssueContext, outcome: DecisionOutcome, cause: str, bar: float, reason: str, found: tuple[Evidence, ...]
) -> None:
    decision = Decision(visit.number, visit.services.now(), cause, visit.config.mode, outcome, bar, reason, found)
    visit.services.store.decisions.add(visit.repository.id, decision)


logger = logging.getLogger(__name__)

_TRIED_AGAIN = 86_400.0


def advise(visit: IssueContext, issue: Issue, cause: str, *, anew: bool = False) -> None:
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
        bar = visit.bar.value
        note(visit, report, (), DecisionOutcome.UNCHANGED, cause=cause, bar=bar, reason=why_nothing(report, bar))
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


def refresh(visit: IssueContext, issue: Issue) -> None:
    """Bring the comment up to date with what people decided, if there is one."""
    if visit.services.comments.stands(visit.github, visit.slot, look=issue.comments > 0):
        post(visit, issue, find(visit, issue), cause=VERDICT, create=False)


def post(
    visit: IssueContext,
    issue: Issue,
    report: Report,
    *,
    cause: str,
    create: bool = True,
    command: Command | None = None,
) -> bool:
    """Keep the one comment as the report says; False where a maintainer deleted it. `command` is what asked, if any."""
    options = command.options if command else CommandOptions()
    before, bar = visit.kept_comment(), visit.bar.value
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
    least = bar if options.confidence is None else options.confidence
    reason = "" if outcome.speaks else why_nothing(report, least) if stands else "its comment was deleted"
    # The last thing to be done, by which `_is_done` tells that all of it is.
    stood_by = [one for one in named if (one.confidence or 0.0) >= least]
    note(visit, report, stood_by, outcome, cause=cause, bar=least, reason=reason)
    return stands


def _is_answered(visit: IssueContext, issue: Issue, kept: KeptComment) -> bool:
    """Whether the text was answered before. What was only noted in `mode: shadow` is an answer in that mode alone."""
    if kept.text_hash == text_hash(issue):
        return True
    return visit.config.mode == "shadow" and kept.text_hash == text_hash(issue, shadow=True)


def _is_done(visit: IssueContext, kept: KeptComment) -> bool:
    """Whether the look that wrote the comment came to its end: a worker can be killed between any two steps of it.

    A delivery is tried again for less than a day.
    """
    if visit.services.now() - kept.updated_at > _TRIED_AGAIN:
        return True
    noted = visit.decisions()
    return any(decision.at >= kept.updated_at for decision in noted)


def _outcome(visit: IssueContext, before: KeptComment | None, now: KeptComment | None) -> DecisionOutcome:
    """What became of the comment, from its rows before and now, and of what no earlier attempt has noted."""
    if now is None or now.state is not CommentState.POSTED:
        return DecisionOutcome.SILENT
    if before is None or before.comment_id is None:
        return DecisionOutcome.POSTED
    if _is_done(visit, before):
        return DecisionOutcome.UNCHANGED if before.body_hash == now.body_hash else DecisionOutcome.EDITED
    noted = visit.decisions()
    return DecisionOutcome.EDITED if any(decision.outcome.speaks for decision in noted) else DecisionOutcome.POSTED


def _log_silence(visit: IssueContext, report: Report) -> None:
    """For hosts who wonder why the bot said nothing: how near the nearest came. No word of the issue is logged."""
    best = "nothing to compare" if report.best_confidence is None else f"the best is {report.best_confidence:.2f}"
    bar, outcome = visit.bar.value, report.outcome.value
    if report.failed:
        outcome += f": {', '.join(report.failed)}"
    logger.info("%s#%d: silent (%s); %s, the threshold %.2f", visit.repo, visit.number, outcome, best, bar)


def _note(visit: IssueContext, issue: Issue, report: Report, cause: str) -> None:
    """`mode: shadow`: record what would have been posted."""
    named, bar = report.candidates, visit.bar.value
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
    outcome = DecisionOutcome.SHADOW if named else DecisionOutcome.SILENT
    note(visit, report, named, outcome, cause=cause, bar=bar, reason="" if named else why_nothing(report, bar))
