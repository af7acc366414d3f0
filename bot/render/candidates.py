"""One earlier issue, as the list of a comment shows it."""

from __future__ import annotations

from bot.render.details import sentence
from bot.render.escape import escape
from bot.render.links import Place
from bot.render.reasons import reason_words
from bot.report import LIKELY, Candidate
from bot.words import Words

ALSO_MAX = 10
#: From this probability on, what was mended once is marked as perhaps being back.
SURE = 0.4


def candidate_lines(candidate: Candidate, place: Place, say: Words) -> list[str]:
    """Markdown of one list item: its first line, then one line a fact.

    Facts are separate short lines instead of a table's columns, because a table of titles has to be scrolled sideways
    on a phone.
    """
    return [f"{place.candidate(candidate)} {escape(candidate.title)}", *_facts(candidate, place, say)]


def _facts(candidate: Candidate, place: Place, say: Words) -> list[str]:
    judged = [] if candidate.confidence is None else [confidence_words(candidate.confidence, say)]
    state = [state_words(candidate, say), say.reported(day=candidate.created_at.date())]
    if candidate.workflow_state:
        state.append(say.workflow(status=escape(candidate.workflow_state, 60)))
    if candidate.named:
        state.append(say.named())
    also = [also_words(candidate, place, say)] if candidate.also else []
    alike = similarity_words(candidate, say)
    reasons = reason_words(candidate, say)
    return [sentence(fact) for fact in (" · ".join(state), " · ".join([*judged, alike]), *also, *reasons)]


def also_words(candidate: Candidate, place: Place, say: Words) -> str:
    """The other issues that report the same as this one."""
    issues = [place.issue(number) for number in candidate.also[:ALSO_MAX]]
    if len(candidate.also) > ALSO_MAX:
        issues.append(say.also_more(count=len(candidate.also) - ALSO_MAX))
    return say.also(issues=say.comma().join(issues))


def state_words(candidate: Candidate, say: Words) -> str:
    """Open, or closed and why. Closed as completed means that the same thing may have come back (C3), if it is the
    same: the mark is for candidates of which that is fairly sure, and for those that no model judged.
    """
    if candidate.kind == "pull request":
        if candidate.state == "open":
            return say.pull_open()
        return say.pull_merged() if candidate.state_reason == "merged" else say.pull_closed()
    if candidate.kind == "discussion":
        if candidate.state == "closed":
            return say.discussion_closed()
        return say.discussion_answered() if candidate.state_reason == "answered" else say.discussion_open()
    if candidate.state == "open":
        return say.state_open()
    sure = candidate.confidence is None or candidate.confidence >= SURE
    by_reason = {
        "completed": say.state_regression() if sure else say.state_completed(),
        "not_planned": say.state_not_planned(),
        "duplicate": say.state_duplicate(),
    }
    return by_reason.get(candidate.state_reason or "", say.state_closed())


def confidence_words(confidence: float, say: Words) -> str:
    """The learned probability in words and per cent."""
    if confidence >= LIKELY:
        return say.likely(percent=confidence)
    if confidence >= 0.3:
        return say.possibly(percent=confidence)
    return say.perhaps(percent=confidence) if confidence >= 0.1 else say.unlikely(percent=confidence)


def similarity_words(candidate: Candidate, say: Words) -> str:
    """Both title scores side by side: Dice-Sorensen on letter pairs, and rapidfuzz's ratio of the words."""
    return say.titles_alike(letters=candidate.similarity, words=candidate.title_ratio)
