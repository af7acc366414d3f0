"""The reply to `/duplicates explain #N`: how another issue compares with this one."""

from __future__ import annotations

from bot.render.candidates import confidence_words, reason_words, similarity_words, state_words
from bot.render.details import bullets, problems_block, query_line, sentence, source_name
from bot.render.escape import escape
from bot.render.links import Place
from bot.render.phrases import ENGLISH as SAY
from bot.report import Candidate, Report


def explain(report: Report, candidate: Candidate, place: Place) -> str:
    """What speaks for `candidate` being the same as the report's issue, and which searches found it.

    It need not be one of the report's candidates: one without sources is said to have been found by none of them.
    """
    facts = [state_words(candidate), similarity_words(candidate)]
    if candidate.confidence is None:
        facts.append(SAY.explain_no_confidence)
    else:
        facts.append(SAY.explain_confidence.format(confidence=confidence_words(candidate.confidence)))
    facts += reason_words(candidate) or [SAY.explain_no_reason]
    sources = ", ".join(map(source_name, candidate.sources))
    facts.append(SAY.explain_found_by.format(sources=sources) if sources else SAY.explain_not_found)
    blocks = [
        SAY.explain_heading.format(issue=place.issue(candidate.number), title=escape(candidate.title)),
        bullets(map(sentence, facts)),
    ]
    asked = [query_line(query) for query in report.queries if query.source in candidate.sources]
    if asked:
        blocks += [SAY.explain_queries, bullets(asked)]
    # Where a source failed, that no search found the issue says little (F9).
    blocks.append(problems_block(report.problems))
    return "\n\n".join(filter(None, blocks))
