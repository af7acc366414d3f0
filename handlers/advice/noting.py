"""What a look at an issue came to, kept with its evidence (C7); `bot/decisions` is where it is read again."""

from __future__ import annotations

from collections.abc import Sequence

from bot.decisions import Decision, Evidence, Outcome
from bot.decisions.evidence import evidence
from bot.report import Candidate, Report
from bot.report import Outcome as Found
from handlers.visit import Visit

VERDICT = "verdict"
"""The cause where a person decided about a pair. Where one asked it is `COMMAND`, else an action of `issues`."""


def note(
    visit: Visit,
    report: Report,
    shown: Sequence[Candidate],
    outcome: Outcome,
    *,
    cause: str,
    bar: float,
    reason: str = "",
) -> None:
    """Keep what was decided on a report, of which the comment names (or would name) what is `shown`."""
    _keep(visit, outcome, cause, bar, reason, evidence(report, shown))


def note_left_alone(visit: Visit, cause: str, reason: str) -> None:
    """Keep why nobody looked."""
    _keep(visit, Outcome.LEFT_ALONE, cause, visit.bar.value, reason, ())


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


def _keep(visit: Visit, outcome: Outcome, cause: str, bar: float, reason: str, found: tuple[Evidence, ...]) -> None:
    decision = Decision(visit.number, visit.services.now(), cause, visit.config.mode, outcome, bar, reason, found)
    visit.services.store.decisions.add(visit.repository.id, decision)
