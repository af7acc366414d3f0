"""The reply to `/duplicates explain #N`: how another issue compares with this one."""

from __future__ import annotations

from collections.abc import Sequence

from bot.likelihood import LIKELY
from bot.render.candidates import ALSO_MAX, closed_words, confidence_words, mended
from bot.render.details import bullets, problems_block, query_line, sentence, source_names
from bot.render.escape import escape
from bot.render.links import Place
from bot.render.reasons import reason_words
from bot.report import Candidate, Report
from bot.words import Words


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
