"""The groups of a backlog as a picture: when each was reported, so that one sees which still are. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

from bot.quality.scanning.pairs import Group

LEAST, DRAWN = 3, 30
"""With fewer groups there is nothing to compare; of more the first are drawn, which bring the most."""

_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 340, 66, 330, 15, 8
# Years that are named at most, below the picture.
_YEARS = 6


def timeline(groups: Sequence[Group]) -> str:
    """An SVG element with a row for each group and a dot for each of its issues, the oldest one filled.

    Empty where there are too few. Only numbers of issues are written in it; the style is the page's.
    """
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
    for place, group in enumerate(shown):
        y = _TOP + _ROW * (place + 0.5)
        oldest, *others = [x(_day(moment)) for moment in _moments(group)]
        ends = (min(oldest, *others), max(oldest, *others)) if others else (oldest, oldest)
        parts.append(
            f'<text class="faint" x="{_LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">#{group.original.number}</text>'
            f'<line class="axis" x1="{ends[0]:.1f}" y1="{y:.1f}" x2="{ends[1]:.1f}" y2="{y:.1f}"/>'
        )
        parts += [f'<circle class="ring" cx="{other:.1f}" cy="{y:.1f}" r="3.5"/>' for other in others]
        parts.append(f'<circle class="dot" cx="{oldest:.1f}" cy="{y:.1f}" r="4"/>')
    label = escape(f"When the issues of {len(shown)} groups were reported; the list below has each of them")
    return f'<svg viewBox="0 0 {_WIDTH} {bottom + 22}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def _moments(group: Group) -> list[datetime]:
    """When the issues were reported, the original first."""
    return [group.original.created_at, *(member.entry.created_at for member in group.members)]


def _day(moment: datetime) -> float:
    return moment.timestamp() / 86_400


def _years(first: float, last: float) -> range:
    """The years that begin within the days, some left out where they would stand too close."""
    begin, end = (datetime.fromtimestamp(day * 86_400, UTC).year for day in (first, last))
    return range(begin + 1, end + 1, max(1, -(-(end - begin) // _YEARS)))
