"""What the advisory comment is to say, and what is kept of a look at an issue with its evidence (C7;
`bot/domain/decisions` is where that is read again).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.conversation.commands import Command, Options
from bot.conversation.config.schema import MIN_CONFIDENCE
from bot.conversation.posts.comments import digest
from bot.conversation.posts.marker import fingerprint
from bot.conversation.posts.record import Draft
from bot.conversation.render import View, render_comment
from bot.domain.decisions import Decision, Evidence, Outcome, evidence
from bot.domain.entities import Closer, Issue
from bot.domain.report import Candidate, Report
from bot.domain.report import Outcome as Found
from bot.quality.calibration import ThresholdOrigin
from bot.search.finder import named_unasked
from bot.storage import KeptComment
from bot.text.versions import fixed_in
from handlers.visit import Visit


def draft(
    visit: Visit,
    issue: Issue,
    report: Report,
    named: Sequence[Candidate],
    command: Command | None,
    kept: KeptComment | None,
) -> Draft:
    """The comment that names these candidates, the first of the report's.

    `kept` is what is known of the comment before that. Where a `command` asked, it tells what that asked differently,
    and what is wrong with the settings file.
    """
    threshold, asked = visit.threshold, command is not None
    view = View(
        checked_at=visit.services.clock(),
        enterprise=visit.services.settings.enterprise,
        had_candidates=bool(kept and (kept.shown or (not named and names_something(visit)))),
        words=command.words if command else (),
        options=command.options if command else Options(),
        asked=asked,
        settings_problems=visit.settings.problems if asked else (),
        settings_private=visit.settings.private,
        say=visit.words(issue),
        labels=visit.config.label == "add",
        threshold=threshold.value,
        likely=visit.config.likely,
        unasked=named_unasked(visit.config, threshold.value, named)
        if command and named and not command.words
        else None,
        closers=_closers(visit, issue, named),
        moved=(threshold.value, MIN_CONFIDENCE) if threshold.origin is ThresholdOrigin.FEEDBACK else None,
    )
    body = render_comment(report, view)
    return Draft(body, fingerprint(body), text_hash(issue), own_numbers(named))


def _closers(visit: Visit, issue: Issue, named: Sequence[Candidate]) -> Mapping[int, Closer]:
    """What closed those that are closed, in one request for all of them, and in which release that may be mended."""
    completed = {one.number: one.regression for one in named if one.own and one.state == "closed"}
    closings, text = visit.github.closers(visit.repo, list(completed)), f"{issue.title}\n{issue.body}"
    return {
        number: replace(by, release=fixed_in(text, by, closings.releases) if completed[number] else "")
        for number, by in closings.by_issue.items()
    }


def text_hash(issue: Issue, *, shadow: bool = False) -> str:
    """What tells whether an issue's text has been answered already: on GitHub, or in `mode: shadow` alone."""
    return digest(issue.title, issue.body, *(["shadow"] if shadow else []))


def own_numbers(named: Sequence[Candidate]) -> list[int]:
    """The issues of this repository among the candidates, which is what the comment's row knows of them."""
    return [candidate.number for candidate in named if candidate.own]


def names_something(visit: Visit) -> bool:
    """Whether the comment names something now; its row knows this repository's issues alone."""
    looks = visit.decisions()
    last = next((look for look in reversed(looks) if look.outcome.seen), None)
    return last is not None and any(one.shown for one in last.evidence)


VERDICT = "verdict"
"""The cause where a person decided about a pair. Where one asked it is `COMMAND`, else an action of `issues`."""


def note(
    visit: Visit,
    report: Report,
    shown: Sequence[Candidate],
    outcome: Outcome,
    *,
    cause: str,
    threshold: float,
    reason: str = "",
) -> None:
    """Keep what was decided on a report, of which the comment names (or would name) what is `shown`."""
    _keep(visit, outcome, cause, threshold, reason, evidence(report, shown))


def note_left_alone(visit: Visit, cause: str, reason: str) -> None:
    """Keep why nobody looked."""
    _keep(visit, Outcome.LEFT_ALONE, cause, visit.threshold.value, reason, ())


def why_nothing(report: Report, threshold: float) -> str:
    """Why a report without candidates is one: an outage is never said to be "no duplicates" (F9)."""
    if report.outcome is Found.DEGRADED:
        below = report.considered and report.indexed
        missing = f"not every search answered ({', '.join(report.failed)})"
        return f"the best was below the threshold, and {missing}" if below else missing
    if report.outcome is Found.INCONCLUSIVE:
        return "there was nothing to search for properly"
    if report.considered and report.considered[0].confidence < threshold:
        return "the best was below the threshold"
    return "nothing was found"


def _keep(
    visit: Visit, outcome: Outcome, cause: str, threshold: float, reason: str, found: tuple[Evidence, ...]
) -> None:
    decision = Decision(visit.number, visit.services.now(), cause, visit.config.mode, outcome, threshold, reason, found)
    visit.services.store.decisions.add(visit.repository.id, decision)
