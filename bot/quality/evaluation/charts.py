"""Draws the two diagrams of an evaluation, as SVG elements and as one file. Pure.

People have marked issues as duplicates of originals. The first diagram shows, for each threshold,
the share of duplicates caught, and the share of comments that name a marked original. The second
diagram shows, by confidence, the share of first candidates that are marked. Shapes have classes but
no colours, so that a page's style can set the colours. The diagrams contain no text of any issue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from bot.domain.likelihood import wilson
from bot.quality.evaluation.figures import Evaluation
from bot.quality.evaluation.measures import CalibrationBin
from bot.quality.evaluation.wording import basis, counts, finding, interval, percent, threshold

# Thresholds to label while there is room, the most useful first.
_LABELLED = (0.9, 0.5, 0.7, 0.3, 0.1, 0.2, 0.4, 0.6, 0.8, 0.05, 0.15)
# The first diagram's horizontal axis ends at one of these shares. A fifth of each is a round share.
_REACHES = (0.1, 0.25, 0.5, 0.75, 1.0)
# The curves leave out points that count fewer than this many comments or candidates.
_LEAST = 5
# In pixels: the width of a letter, the height of a line of small text, and how far a label may leave the diagram.
_CHARACTER, _LINE, _OVER = 7.5, 14.0, 20.0

# Where the second diagram's curve is below the dashed line, people have left duplicates unmarked.
NOTES = ("each point is a threshold: min_confidence", "below the dashed line, marks are missing")


@dataclass(frozen=True, slots=True)
class Panel:
    """A diagram's square, in pixels. Both axes begin at 0, and end at the values `reach` (horizontal) and 1."""

    left: float
    bottom: float
    size: float
    reach: float = 1.0

    def x(self, value: float) -> float:
        return self.left + self.size * value / self.reach

    def y(self, value: float) -> float:
        return self.bottom - self.size * value


def inline(found: Evaluation) -> tuple[str, str]:
    """The diagrams as two SVG elements, for a page that provides the style and shows the same figures in tables."""
    names = ("How often comments are marked when a threshold catches more", "How often the first candidate is marked")
    panel = Panel(60, 326, 250)
    pieces = (speaking_panel(found, panel), reliability_panel(found.calibration.bins, panel))
    return tuple(  # type: ignore[return-value]
        f'<svg viewBox="2 38 334 352" role="img" aria-label="{escape(name)}">{"".join(parts)}</svg>'
        for name, parts in zip(names, pieces, strict=True)
    )


def speaking_panel(found: Evaluation, panel: Panel) -> list[str]:
    """The first diagram: what the bot achieves by speaking (commenting) at each threshold. Some points have labels."""
    most = max((row.caught for row in found.curve), default=0.0)
    panel = replace(panel, reach=next(reach for reach in _REACHES if reach >= most))
    parts = _frame(panel, "What a threshold does", "known duplicates caught", "comments that are marked")
    xy = {
        row.cut: (panel.x(row.caught), panel.y(row.precision))
        for row in (*found.curve, found.at)
        if row.precision is not None and row.comments >= _LEAST
    }
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (xy[row.cut] for row in found.curve if row.cut in xy))
    parts.append(f'<polyline class="curve" points="{points}"/>')
    names = {found.advice.threshold: "recommended", found.at.cut: "as set"}
    if found.advice.threshold == found.at.cut:
        names = {found.at.cut: "as set and recommended"}
    # Each label's approximate left end, right end, and y.
    label_boxes: list[tuple[float, float, float]] = []
    dots = []
    for cut in (*names, *_LABELLED):
        if cut not in xy:
            continue
        x, y = xy[cut]
        label = f"{threshold(cut)} {names[cut]}" if cut in names else threshold(cut)
        width = 8 + _CHARACTER * len(label)
        # A label that does not fit on the right of its point goes to the left: above the point and
        # the falling curve, or below the point if the title is in the way.
        on_left = x + width > panel.left + panel.size + _OVER
        fits_above = y - 2 * _LINE >= panel.y(1) - _LINE
        rise = (22.0 if fits_above else -18.0) if on_left else 6.0
        left = x - width if on_left else x
        box = (left, left + width, y - rise - 8)
        if all(_apart(box, other) for other in label_boxes):
            label_boxes.append(box)
            kind = "mark" if cut in names else "faint"
            dots.append(_dot(x, y, 5.0 if cut in names else 3.5, "mark" if cut in names else "dot"))
            parts.append(text(x + 8, y - rise, label, kind, "end" if on_left else "start"))
    return parts + dots


def _apart(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    left, right, y = one
    other_left, other_right, other_y = other
    return right < other_left or other_right < left or abs(y - other_y) > _LINE


def reliability_panel(bins: Sequence[CalibrationBin], panel: Panel) -> list[str]:
    """The second diagram: how many first candidates are marked, by confidence (95% intervals)."""
    parts = _frame(
        panel, "The confidence and the marks", "confidence of the first candidate", "first candidates that are marked"
    )
    parts.append(f'<line class="ideal" x1="{panel.x(0)}" y1="{panel.y(0)}" x2="{panel.x(1)}" y2="{panel.y(1)}"/>')
    reliable = (bin for bin in bins if bin.count >= _LEAST)
    points = " ".join(f"{panel.x(bin.confidence):.1f},{panel.y(bin.right):.1f}" for bin in reliable)
    parts.append(f'<polyline class="curve" points="{points}"/>')
    for bin in bins:
        x = panel.x(bin.confidence)
        low, high = wilson(bin.right, bin.count)
        parts.append(f'<line class="bar" x1="{x:.1f}" y1="{panel.y(low):.1f}" x2="{x:.1f}" y2="{panel.y(high):.1f}"/>')
        parts.append(_dot(x, panel.y(bin.right), 4 if bin.count >= _LEAST else 2.5, "dot"))
        parts.append(text(panel.x(bin.low + 0.05), panel.bottom + 56, _short(bin.count), "faint", "middle"))
    parts.append(text(panel.left - 8, panel.bottom + 56, "answers", "faint", "end"))
    return parts


def _frame(panel: Panel, head: str, across: str, up: str) -> list[str]:
    """The title `head`, the grid, and the axes. `across` and `up` are the names of the axes."""
    end, top = panel.left + panel.size, panel.bottom - panel.size
    parts = [text(panel.left, top - 26, head, "head")]
    for step in range(6):
        value = step / 5
        x, y = panel.x(value * panel.reach), panel.y(value)
        parts.append(f'<line class="grid" x1="{panel.left}" y1="{y:.1f}" x2="{end}" y2="{y:.1f}"/>')
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{panel.bottom}"/>')
        parts.append(text(panel.left - 8, y + 4, f"{value:.0%}", "faint", "end"))
        parts.append(text(x, panel.bottom + 18, f"{value * panel.reach:.0%}", "faint", "middle"))
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
    """A count in few characters, such as `812`, `3.4k` or `12k`."""
    digits = 0 if count >= 9_950 else 1
    return f"{count / 1000:.{digits}f}k" if count >= 1_000 else str(count)


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
    """An evaluation as an SVG document in light and dark colours; `name` says what was evaluated."""
    title = f"How Doppel would have done: {name if len(name) <= _NAME_MAX else name[: _NAME_MAX - 1] + '…'}"
    words = f"{basis(found)} {finding(found)}"
    share, bounds = percent(found.retrieval.rr[5]), interval(found.rr_intervals.get(5))
    retrieved = f"an original among the first five for {share}" + (f" ({bounds})" if bounds else "")
    summary = f"{counts(found)}; {retrieved}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc><style>{_STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(24, 34, title, "title"),
        text(24, 55, summary, "faint"),
        *speaking_panel(found, Panel(72, 408, 300)),
        *reliability_panel(found.calibration.bins, Panel(468, 408, 300)),
        *(text(left, 488, note, "faint") for left, note in zip((72, 468), NOTES, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"
