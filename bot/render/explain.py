"""The reply to `/duplicates explain #N`: how another issue compares with this one."""

from __future__ import annotations

from bot.ranking.keywords import STOP_WORDS
from bot.ranking.words import split_words
from bot.render.candidates import confidence_words, similarity_words, state_words
from bot.render.details import bullets, query_line, source_name
from bot.render.escape import code, escape
from bot.render.links import Place
from bot.render.phrases import ENGLISH as SAY
from bot.report import Report

WORDS_MAX = 12


def explain(report: Report, number: int, place: Place) -> str:
    """What speaks for issue `number` being the same as the report's, or that the last search did not find it."""
    candidate = next((candidate for candidate in report.candidates if candidate.number == number), None)
    if candidate is None:
        return SAY.explain_missing.format(issue=place.issue(number))
    facts = [state_words(candidate), similarity_words(candidate), _shared_words(report.title, candidate.title)]
    if candidate.confidence is None:
        facts.append(SAY.explain_no_confidence)
    else:
        facts.append(SAY.explain_confidence.format(confidence=confidence_words(candidate.confidence)))
    facts += [reason for reason in map(escape, candidate.reasons) if reason]
    if candidate.sources:
        facts.append(SAY.explain_found_by.format(sources=", ".join(map(source_name, candidate.sources))))
    blocks = [SAY.explain_heading.format(issue=place.issue(number), title=escape(candidate.title)), bullets(facts)]
    asked = [query_line(query) for query in report.queries if query.source in candidate.sources]
    if asked:
        blocks += [SAY.explain_queries, bullets(asked)]
    return "\n\n".join(blocks)


def _shared_words(one: str, other: str) -> str:
    """The words of both titles that mean something, in the order of the first."""
    others = {word.lower() for word in split_words(other)} - STOP_WORDS
    shared = dict.fromkeys(word for word in split_words(one) if word.lower() in others)
    if not shared:
        return SAY.explain_no_words
    return SAY.explain_words.format(words=", ".join(code(word, 40) for word in list(shared)[:WORDS_MAX]))
