"""The two diagrams of an evaluation, as SVG elements and as one file. Pure.

The first shows the share of comments that name a marked issue against the share of duplicates caught, the second the
confidence against the marks. Shapes have classes and no colours, which the page's style sets. No text of an issue is in
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape

from bot.domain.likelihood import wilson
from bot.quality.evaluation.figures import Evaluation
from bot.quality.evaluation.measures import CalibrationBin, ThresholdOutcome
from bot.quality.evaluation.wording import basis, counts, finding, interval, percent, threshold

# Thresholds that are labelled where there is room, the most useful first.
_NAMED = (0.9, 0.5, 0.7, 0.3, 0.1, 0.2, 0.4, 0.6, 0.8, 0.05, 0.15)
# Where the axis of the duplicates caught may end, so that its fifths are round numbers.
_REACHES = (0.1, 0.25, 0.5, 0.75, 1.0)
# A share of fewer comments or answers than this says nothing.
_LEAST = 5
# Pixels of a letter and of a line of small text, and how far a name may stand out of its diagram.
_CHARACTER, _LINE, _OVER = 7.5, 14.0, 20.0

NOTES = ("each point is a threshold: min_confidence", "below the dashed line marks are missing")


@dataclass(frozen=True, slots=True)
class Panel:
    """A diagram's square. Both axes begin at 0; the horizontal one ends at `right`, the vertical one at 1."""

    left: float
    bottom: float
    size: float
    right: float = 1.0

    def x(self, value: float) -> float:
        return self.left + self.size * value / self.right

    def y(self, value: float) -> float:
        return self.bottom - self.size * value


def inline(found: Evaluation) -> tuple[str, str]:
    """The diagrams as two SVG elements, for a page that has the style and tables with the same figures."""
    names = ("How fewer comments are marked as a threshold catches more", "How often the first candidate is marked")
    panel = Panel(60, 326, 250)
    pieces = (
        speaking_panel(found, replace(panel, right=reach(found.curve))),
        reliability_panel(found.calibration.bins, panel),
    )
    return tuple(  # type: ignore[return-value]
        f'<svg viewBox="2 38 334 352" role="img" aria-label="{escape(name)}">{"".join(parts)}</svg>'
        for name, parts in zip(names, pieces, strict=True)
    )


def reach(curve: Iterable[ThresholdOutcome]) -> float:
    """Where the axis of the duplicates caught ends."""
    most = max((row.caught for row in curve), default=0.0)
    return next(reach for reach in _REACHES if reach >= most)


def speaking_panel(found: Evaluation, panel: Panel) -> list[str]:
    """Marked comments against duplicates caught, over all thresholds; some thresholds are labelled."""
    parts = _frame(panel, "What a threshold does", "known duplicates caught", "comments that are marked")
    places = {
        row.cut: (panel.x(row.caught), panel.y(row.precision))
        for row in (*found.curve, found.at)
        if row.precision is not None and row.comments >= _LEAST
    }
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (places[row.cut] for row in found.curve if row.cut in places))
    parts.append(f'<polyline class="curve" points="{points}"/>')
    names = {found.advice.threshold: "recommended", found.at.cut: "as set"}
    if found.advice.threshold == found.at.cut:
        names = {found.at.cut: "as set and recommended"}
    taken: list[tuple[tuple[float, float], float]] = []
    dots = []
    for cut in (*names, *_NAMED):
        if cut not in places:
            continue
        x, y = places[cut]
        words = f"{threshold(cut)} {names[cut]}" if cut in names else threshold(cut)
        wide = 8 + _CHARACTER * len(words)
        # What would leave the diagram stands to the left of its point, higher than the falling curve is there; where
        # that would be in the title, below it.
        left = x + wide > panel.left + panel.size + _OVER
        rise = 6.0 if not left else 22.0 if y - 2 * _LINE >= panel.y(1) - _LINE else -18.0
        box = (x - wide if left else x, y - rise - 8)
        if all(_apart(box, wide, *other) for other in taken):
            taken.append((box, wide))
            kind = "mark" if cut in names else "faint"
            dots.append(_dot(x, y, 5.0 if cut in names else 3.5, "mark" if cut in names else "dot"))
            parts.append(text(x + 8, y - rise, words, kind, "end" if left else "start"))
    return parts + dots


def _apart(one: tuple[float, float], wide: float, other: tuple[float, float], as_wide: float) -> bool:
    return one[0] + wide < other[0] or other[0] + as_wide < one[0] or abs(one[1] - other[1]) > _LINE


def reliability_panel(bins: Sequence[CalibrationBin], panel: Panel) -> list[str]:
    """The marked share of the first candidates in each tenth of the confidence, with 95% intervals and counts.

    Tenths of few answers are smaller dots without a line.
    """
    parts = _frame(
        panel, "The confidence and the marks", "confidence of the first candidate", "first candidates that are marked"
    )
    parts.append(f'<line class="ideal" x1="{panel.x(0)}" y1="{panel.y(0)}" x2="{panel.x(1)}" y2="{panel.y(1)}"/>')
    told = (one for one in bins if one.count >= _LEAST)
    points = " ".join(f"{panel.x(one.confidence):.1f},{panel.y(one.right):.1f}" for one in told)
    parts.append(f'<polyline class="curve" points="{points}"/>')
    for one in bins:
        x = panel.x(one.confidence)
        low, high = wilson(one.right, one.count)
        parts.append(f'<line class="bar" x1="{x:.1f}" y1="{panel.y(low):.1f}" x2="{x:.1f}" y2="{panel.y(high):.1f}"/>')
        parts.append(_dot(x, panel.y(one.right), 4 if one.count >= _LEAST else 2.5, "dot"))
        parts.append(text(panel.x(one.low + 0.05), panel.bottom + 56, _short(one.count), "faint", "middle"))
    parts.append(text(panel.left - 8, panel.bottom + 56, "answers", "faint", "end"))
    return parts


def _frame(panel: Panel, head: str, across: str, up: str) -> list[str]:
    end, top = panel.left + panel.size, panel.bottom - panel.size
    parts = [text(panel.left, top - 26, head, "head")]
    for step in range(6):
        value = step / 5
        x, y = panel.x(value * panel.right), panel.y(value)
        parts.append(f'<line class="grid" x1="{panel.left}" y1="{y:.1f}" x2="{end}" y2="{y:.1f}"/>')
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{panel.bottom}"/>')
        parts.append(text(panel.left - 8, y + 4, f"{value:.0%}", "faint", "end"))
        parts.append(text(x, panel.bottom + 18, f"{value * panel.right:.0%}", "faint", "middle"))
    parts.append(f'<path class="axis" fill="none" d="M{panel.left} {top}V{panel.bottom}H{end}"/>')
    parts.append(text(panel.left + panel.size / 2, panel.bottom + 38, across, "", "middle"))
    middle = panel.bottom - panel.size / 2
    turned = f"translate({panel.left - 48} {middle}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">{escape(up)}</text>')
    return parts


def text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _dot(x: float, y: float, radius: float, kind: str) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def _short(count: int) -> str:
    return f"{count / 1000:.0f}k" if count >= 9_950 else f"{count / 1000:.1f}k" if count >= 1_000 else str(count)


WIDTH, HEIGHT = 800, 500

_NAME_MAX = 44

_STYLE = """
  svg { --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; --main: #0969da; --mark: #bc4c00;
        font: 13px system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
  @media (prefers-color-scheme: dark) {
    svg { --paper: #0d1117; --ink: #f0f6fc; --faint: #9198a1; --line: #3d444d; --main: #4493f8; --mark: #f0883e; }
  }
  .paper { fill: var(--paper); } text { fill: var(--ink); } .faint { fill: var(--faint); font-size: 12px; }
  .title { font-size: 17px; font-weight: 600; } .head { font-weight: 600; }
  .grid { stroke: var(--line); } .axis { stroke: var(--faint); } .ideal { stroke: var(--faint); stroke-dasharray: 4 4; }
  .curve { fill: none; stroke: var(--main); stroke-width: 2; } .bar { stroke: var(--main); stroke-width: 1.5; }
  .dot { fill: var(--main); } .mark { fill: var(--mark); }
  text { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; } text.mark { font-weight: 600; }
"""


def picture(found: Evaluation, name: str) -> str:
    """The SVG document of an evaluation; `name` says what was evaluated. It has light and dark colours."""
    title = f"How Doppel would have done: {name if len(name) <= _NAME_MAX else name[: _NAME_MAX - 1] + '…'}"
    words = f"{basis(found)} {finding(found)}"
    known, bounds = found.retrieval, interval(found.rr_intervals.get(5))
    shares = f"an original among the first five for {percent(known.rr[5])}" + (f" ({bounds})" if bounds else "")
    summary = f"{counts(found)}; {shares}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc><style>{_STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(24, 34, title, "title"),
        text(24, 55, summary, "faint"),
        *speaking_panel(found, Panel(72, 408, 300, right=reach(found.curve))),
        *reliability_panel(found.calibration.bins, Panel(468, 408, 300)),
        *(text(left, 488, note, "faint") for left, note in zip((72, 468), NOTES, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
