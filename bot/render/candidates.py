"""One earlier issue, as the list of a comment shows it."""

from __future__ import annotations

from bot.render.details import sentence
from bot.render.escape import escape
from bot.render.links import Place
from bot.render.phrases import ENGLISH as SAY
from bot.report import Candidate

REASONS_MAX = 4
ALSO_MAX = 10
_VECTORS = "vectors"
#: From this probability on, what was mended once is marked as perhaps being back.
SURE = 0.4


def percent(share: float) -> str:
    """A share as people write it. Only certainty is 100%, only impossibility 0%."""
    rounded = round(share * 100)
    if rounded == 100 and share < 1:
        rounded = 99
    return f"{rounded if rounded or share <= 0 else 1}%"


def candidate_lines(candidate: Candidate, place: Place) -> list[str]:
    """Markdown of one list item: its first line, then one line a fact.

    Facts are separate short lines instead of a table's columns, because a table of titles has to be scrolled sideways
    on a phone.
    """
    return [f"{place.candidate(candidate)} {escape(candidate.title)}", *_facts(candidate, place)]


def _facts(candidate: Candidate, place: Place) -> list[str]:
    judged = [] if candidate.confidence is None else [confidence_words(candidate.confidence)]
    state = [state_words(candidate), SAY.reported.format(day=candidate.created_at.date().isoformat())]
    if candidate.workflow_state:
        state.append(SAY.workflow.format(status=escape(candidate.workflow_state, 60)))
    if candidate.named:
        state.append(SAY.named)
    also = [also_words(candidate, place)] if candidate.also else []
    alike = similarity_words(candidate)
    reasons = reason_words(candidate)
    return [sentence(fact) for fact in (" · ".join(state), " · ".join([*judged, alike]), *also, *reasons)]


def reason_words(candidate: Candidate) -> list[str]:
    """The strongest reasons; where there are no words to name, that the index of meanings found it, if it did."""
    reasons = [reason for reason in map(escape, candidate.reasons[:REASONS_MAX]) if reason]
    return reasons or ([SAY.by_meaning] if _VECTORS in candidate.sources else [])


def also_words(candidate: Candidate, place: Place) -> str:
    """The other issues that report the same as this one."""
    issues = [place.issue(number) for number in candidate.also[:ALSO_MAX]]
    if len(candidate.also) > ALSO_MAX:
        issues.append(SAY.also_more.format(count=len(candidate.also) - ALSO_MAX))
    return SAY.also.format(issues=", ".join(issues))


def state_words(candidate: Candidate) -> str:
    """Open, or closed and why. Closed as completed means that the same thing may have come back (C3), if it is the
    same: the mark is for candidates of which that is fairly sure, and for those that no model judged.
    """
    if candidate.kind == "pull request":
        closed = SAY.pull_merged if candidate.state_reason == "merged" else SAY.pull_closed
        return SAY.pull_request.format(state=SAY.state_open if candidate.state == "open" else closed)
    if candidate.kind == "discussion":
        answered = SAY.discussion_answered if candidate.state_reason == "answered" else SAY.state_open
        return SAY.discussion.format(state=answered if candidate.state == "open" else SAY.state_closed)
    if candidate.state == "open":
        return SAY.state_open
    sure = candidate.confidence is None or candidate.confidence >= SURE
    by_reason = {
        "completed": SAY.state_regression if sure else SAY.state_completed,
        "not_planned": SAY.state_not_planned,
        "duplicate": SAY.state_duplicate,
    }
    return by_reason.get(candidate.state_reason or "", SAY.state_closed)


def confidence_words(confidence: float) -> str:
    """The learned probability in words and per cent."""
    if confidence >= 0.85:
        phrase = SAY.confidence_very_likely
    elif confidence >= 0.6:
        phrase = SAY.confidence_likely
    elif confidence >= 0.3:
        phrase = SAY.confidence_possible
    else:
        phrase = SAY.confidence_unlikely
    return phrase.format(percent=percent(confidence))


def similarity_words(candidate: Candidate) -> str:
    """Both title scores side by side: Dice-Sorensen on letter pairs, and rapidfuzz's ratio of the words."""
    return SAY.titles_alike.format(letters=percent(candidate.similarity), words=percent(candidate.title_ratio))
