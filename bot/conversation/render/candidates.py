"""One earlier issue, as the list of a comment shows it, and as the reply to `/duplicates explain #N` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.conversation.messages.catalogue import Words
from bot.conversation.render.details import bullets, problems_block, query_line, sentence, source_names
from bot.conversation.render.escape import Place, escape
from bot.conversation.render.phrases import reason_words, strongest
from bot.domain.entities import Closer
from bot.domain.likelihood import LIKELY, Likelihood, likelihood
from bot.domain.report import Candidate, Report

ALSO_MAX = 10


def candidate_lines(
    candidate: Candidate, place: Place, say: Words, likely: float = LIKELY, closer: Closer | None = None
) -> list[str]:
    """Markdown of one list item: its first line, then one line a fact, and the strongest reason alone (C3).

    Facts are separate short lines instead of a table's columns, because a table of titles has to be scrolled sideways
    on a phone. `likely` is where the upper tier begins, `closer` what closed the issue, where that is known.
    """
    judged = [] if candidate.confidence is None else [confidence_words(candidate.confidence, say, likely)]
    state = [*judged, closed_words(candidate, place, say, closer)]
    if closer and closer.release:
        state.append(say.may_be_fixed(release=escape(closer.release, 60)))
    elif mended(candidate):
        state.append(say.state_regression())
    state.append(say.reported(day=candidate.created_at.date()))
    if candidate.workflow_state:
        state.append(say.workflow(status=escape(candidate.workflow_state, 60)))
    if candidate.named:
        state.append(say.named())
    also = [also_words(candidate, place, say)] if candidate.also else []
    facts = (
        " · ".join(state),
        *reason_words(replace(candidate, reasons=tuple(strongest(candidate.reasons))), say),
        *also,
    )
    return [f"{place.candidate(candidate)} {escape(candidate.title)}", *map(sentence, facts)]


def also_words(candidate: Candidate, place: Place, say: Words) -> str:
    """The other issues that report the same as this one."""
    issues = [place.issue(number) for number in candidate.also[:ALSO_MAX]]
    if len(candidate.also) > ALSO_MAX:
        issues.append(say.also_more(count=len(candidate.also) - ALSO_MAX))
    return say.also(issues=say.comma().join(issues))


def state_words(candidate: Candidate, say: Words) -> str:
    """Open, or closed and why."""
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
    by_reason = {
        "completed": say.state_completed(),
        "not_planned": say.state_not_planned(),
        "duplicate": say.state_duplicate(),
    }
    return by_reason.get(candidate.state_reason or "", say.state_closed())


def closed_words(candidate: Candidate, place: Place, say: Words, closer: Closer | None = None) -> str:
    """The same with the day on which it was closed, and with what closed it."""
    state = state_words(candidate, say)
    if candidate.state == "open" or candidate.closed_at is None:
        return state
    day = candidate.closed_at.date()
    if closer and (closer.pull or closer.commit):
        return say.closed_by(state=state, day=day, by=place.closer(closer))
    return say.closed_on(state, day)


def mended(candidate: Candidate) -> bool:
    """Whether to mark that a problem may be back: it was closed as completed, and may be the same (C3)."""
    told = candidate.confidence is None or likelihood(candidate.confidence) is not Likelihood.UNLIKELY
    return candidate.regression and told


def confidence_words(confidence: float, say: Words, likely: float = LIKELY) -> str:
    """The learned probability in words, with the number behind them (P4)."""
    match likelihood(confidence, likely):
        case Likelihood.VERY_LIKELY:
            return say.very_likely(percent=confidence)
        case Likelihood.LIKELY:
            return say.likely(percent=confidence)
        case Likelihood.POSSIBLY:
            return say.possibly(percent=confidence)
        case Likelihood.UNLIKELY:
            return say.unlikely(percent=confidence)


def explain(
    report: Report,
    candidate: Candidate,
    place: Place,
    say: Words,
    duplicates: Sequence[Candidate] = (),
    likely: float = LIKELY,
) -> str:
    """What speaks for `candidate` being the same as the report's issue, and which searches found it.

    It need not be one of the report's candidates: one without sources is said to have been found by none of them.
    `duplicates` of it that were found, likeliest first, are told after that: they may be why the comment shows it.
    """
    state = closed_words(candidate, place, say)
    facts = [
        f"{state} · {say.state_regression()}" if mended(candidate) else state,
        say.titles_alike(percent=candidate.similarity),
    ]
    if candidate.confidence is None:
        facts.append(say.explain_no_confidence())
    else:
        facts.append(say.explain_confidence(confidence=confidence_words(candidate.confidence, say, likely)))
    facts += reason_words(candidate, say) or [say.explain_no_reason()]
    sources = source_names(candidate, say)
    facts.append(say.explain_found_by(sources=sources) if sources else say.explain_not_found())
    facts += [
        say.explain_duplicate(
            issue=place.issue(one.number),
            confidence=confidence_words(one.confidence or 0.0, say, likely),
            sources=source_names(one, say),
        )
        for one in duplicates[:ALSO_MAX]
    ]
    blocks = [
        say.explain_heading(issue=place.issue(candidate.number), title=escape(candidate.title)),
        bullets(map(sentence, facts)),
    ]
    asked = [query_line(query, say) for query in report.queries if query.source in candidate.sources]
    if asked:
        blocks += [sentence(say.explain_queries()), bullets(asked)]
    # Where a source failed, that no search found the issue says little (F9).
    blocks.append(problems_block(report.problems, say))
    return "\n\n".join(filter(None, blocks))
