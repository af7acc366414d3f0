"""Makes the values for the templates of the dashboard's pages. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from itertools import chain, groupby
from typing import Any, NamedTuple

from bot.conversation.config.schema import MIN_CONFIDENCE, RepoConfig
from bot.domain.decisions import Decision, DecisionOutcome
from bot.domain.report import Evidence, Reason
from bot.quality.scanning.groups import DuplicateGroup
from bot.search.index import IndexedIssue
from bot.search.matching.explanation import ComparedText, says_something, shared_message, shared_reasons, shared_words
from bot.text.error_messages import error_messages
from bot.text.terms import raw_words, terms, terms_of
from bot.text.words import is_function_word

LONGEST = 20_000
"""How many characters of each text the page of a pair shows."""

_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
# A heading (often part of an issue form), or a word. Words may contain the characters that join names in code.
_HEADING_OR_WORD = re.compile(rf"{_HEADING.pattern}|\w[\w.:/\\-]*\w|\w", re.MULTILINE)

Text = tuple[str, str]
"""Title and body."""
Marked = list[tuple[str, bool]]
"""A text in parts; True means that the page marks the part."""


@dataclass(frozen=True, slots=True)
class IssuePair:
    """Two issues. `titles` and `texts` mark the shared words. `reasons` come strongest first.

    Of the decisions about the first issue, the latest that lists the second gives `probability`; None if there is none.
    """

    titles: tuple[Marked, Marked]
    texts: tuple[Marked, Marked]
    reasons: tuple[Reason, ...]
    issues: tuple[IndexedIssue, IndexedIssue]
    probability: float | None


def side_by_side(
    one: Text, other: Text, issues: tuple[IndexedIssue, IndexedIssue], probability: float | None
) -> IssuePair:
    """Compare two issues by their words only. Reads at most LONGEST characters of each body."""
    both = tuple((title, body[:LONGEST]) for title, body in (one, other))
    without_headings = tuple((title, _HEADING.sub("", body)) for title, body in both)
    one_text, other_text = (ComparedText(*text) for text in without_headings)
    one_terms, other_terms = (list(dict.fromkeys(terms(f"{title}\n{body}"))) for title, body in without_headings)
    shared = set(one_terms).intersection(other_terms)
    message = shared_message(one_text, other_text, error_messages("\n".join(without_headings[0])))
    names, title_words, other_words = shared_words(one_text, other_text, (term for term in one_terms if term in shared))
    titles, texts = zip(*((_marked(title, shared), _marked(body, shared)) for title, body in both), strict=True)
    reasons = shared_reasons(message, names, title_words, other_words)
    return IssuePair(titles, texts, reasons, issues, probability)


def _marked(text: str, shared: Collection[str]) -> Marked:
    runs = groupby(_parts(text, shared), key=lambda part: part[1])
    return [("".join(part for part, _ in run), marked) for marked, run in runs]


def _parts(text: str, shared: Collection[str]) -> Iterator[tuple[str, bool]]:
    """The headings, the words, and the text between them, in order. True marks a word that has a `shared` term."""
    at = 0
    for found in _HEADING_OR_WORD.finditer(text):
        if found.start() > at:
            yield text[at : found.start()], False
        raws = [] if found[0].startswith("#") else raw_words(found[0])
        meaningful = (raw for raw in raws if says_something(raw) and not is_function_word(raw))
        yield found[0], any(term in shared for term in chain.from_iterable(map(terms_of, meaningful)))
        at = found.end()
    yield text[at:], False


# The texts for settings without a value. Settings that are not here show "none".
_ABSENT = {"min_confidence": f"{MIN_CONFIDENCE:g}, or where feedback has put it", "limit": "all"}


class SettingRow(NamedTuple):
    """One setting: its path in the file, its value as text, and whether the value is the default (`usual`)."""

    path: str
    value: str
    usual: bool


def setting_rows(config: RepoConfig) -> list[SettingRow]:
    """Every setting, in the order of the documentation."""
    return list(_rows("", config.model_dump(), RepoConfig().model_dump()))


def _rows(path: str, value: Any, default: Any) -> list[SettingRow]:
    if isinstance(value, dict) and value:
        defaults = default if isinstance(default, dict) else {}
        names = ((name, f"{path}.{name}" if path else name) for name in value)
        return [row for name, inner in names for row in _rows(inner, value[name], defaults.get(name))]
    return [SettingRow(path, _shown(path.rpartition(".")[2], value), value == default)]


def _shown(name: str, value: Any) -> str:
    if value is None:
        return _ABSENT.get(name, "none")
    # `{}` matches every mapping, but only an empty mapping gets here: `_rows` splits all other mappings.
    match value:
        case True:
            return "on"
        case False:
            return "off"
        case {} if name == "sources":
            return "the usual ones"
        case () | {}:
            return "none"
        case tuple() | list() | frozenset():
            return ", ".join(map(str, value))
        case _:
            return str(value)


LEAST, DRAWN = 3, 30
"""The least number of groups for a timeline, and the most groups that a timeline draws."""

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 340, 66, 330, 15, 8
# The most years to name below the picture.
_YEARS = 6


def timeline(groups: Sequence[DuplicateGroup]) -> str:
    """An SVG with a row for each group and a dot for each issue, the oldest filled; empty for too few groups."""
    if len(groups) < LEAST:
        return ""
    shown = groups[:DRAWN]
    days = [_day(moment) for group in shown for moment in _moments(group)]
    first, last = min(days), max(days)
    bottom = _TOP + _ROW * len(shown)

    def x(day: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (day - first) / max(last - first, 1.0)

    parts = []
    for year in _years(first, last):
        at = x(_day(datetime(year, 1, 1, tzinfo=UTC)))
        parts.append(f'<line class="grid" x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{bottom}"/>')
        parts.append(f'<text class="faint" x="{at:.1f}" y="{bottom + 14}" text-anchor="middle">{year}</text>')
    for row, group in enumerate(shown):
        y = _TOP + _ROW * (row + 0.5)
        places = [x(_day(moment)) for moment in _moments(group)]
        oldest, *others = places
        parts.append(
            f'<text class="faint" x="{_LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">#{group.original.number}</text>'
            f'<line class="axis" x1="{min(places):.1f}" y1="{y:.1f}" x2="{max(places):.1f}" y2="{y:.1f}"/>'
        )
        parts += [f'<circle class="ring" cx="{other:.1f}" cy="{y:.1f}" r="3.5"/>' for other in others]
        parts.append(f'<circle class="dot" cx="{oldest:.1f}" cy="{y:.1f}" r="4"/>')
    label = escape(f"When the issues of {len(shown)} groups were reported; the list below has each of them")
    return f'<svg viewBox="0 0 {_WIDTH} {bottom + 22}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _moments(group: DuplicateGroup) -> list[datetime]:
    return [group.original.created_at, *(member.entry.created_at for member in group.members)]


def _day(moment: datetime) -> float:
    return moment.timestamp() / 86_400


def _years(first: float, last: float) -> range:
    """The years that begin between two days (days since 1970), in equal steps, so that there are at most `_YEARS`."""
    begin, end = (datetime.fromtimestamp(day * 86_400, UTC).year for day in (first, last))
    return range(begin + 1, end + 1, max(1, (end - begin + _YEARS - 1) // _YEARS))


OUTCOMES: Mapping[DecisionOutcome, str] = {
    DecisionOutcome.POSTED: "commented",
    DecisionOutcome.EDITED: "changed its comment",
    DecisionOutcome.UNCHANGED: "left its comment as it was",
    DecisionOutcome.SHADOW: "would have commented",
    DecisionOutcome.SILENT: "said nothing",
    DecisionOutcome.LEFT_ALONE: "left it alone",
}


def rows_and_rest(evidence: Sequence[Evidence], voted: Container[int]) -> tuple[list[Evidence], list[Evidence]]:
    """The candidates that get a row, and the rest, whose probability rounds to 0 %.

    The likeliest candidate always gets a row, as do candidates that the comment showed or people voted on.
    """
    has_row = [
        one.rank == 1 or one.shown or round(100 * one.probability) > 0 or (one.own and one.number in voted)
        for one in evidence
    ]
    rest = [one for one, gets_row in zip(evidence, has_row, strict=True) if not gets_row]
    return [one for one, gets_row in zip(evidence, has_row, strict=True) if gets_row], rest


def issues_named(decisions: Iterable[Decision]) -> set[int]:
    """Every issue of the repository that these decisions name."""
    return {
        number
        for one in decisions
        for number in (one.number, *(candidate.number for candidate in one.evidence if candidate.own))
    }
