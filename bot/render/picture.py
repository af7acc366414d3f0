"""An evaluation as one SVG file: how many comments are marked against the share of duplicates caught, and
the confidence beside the marks.

Colours follow the reader's light or dark setting; no text of an issue is in it, and the one text from outside, the name
of what was evaluated, is escaped. Pure.
"""

from __future__ import annotations

from html import escape

from bot.evaluation.report import Evaluation
from bot.render.evaluation import basis, counts, finding, interval, percent
from bot.render.panels import NOTES, Panel, reach, reliability_panel, speaking_panel, text

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
    """The SVG document; `name` is what was evaluated."""
    title = f"How Doppel would have done: {name if len(name) <= _NAME_MAX else name[: _NAME_MAX - 1] + '…'}"
    words = f"{basis(found)} {finding(found)}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc><style>{_STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        text(24, 34, title, "title"),
        text(24, 55, _summary(found), "faint"),
        *speaking_panel(found, Panel(72, 408, 300, right=reach(found.curve))),
        *reliability_panel(found.calibration.bins, Panel(468, 408, 300)),
        *(text(left, 488, note, "faint") for left, note in zip((72, 468), NOTES, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _summary(found: Evaluation) -> str:
    known = found.retrieval
    shares = f"an original among the first five for {percent(known.rr[5])}"
    if bounds := interval(found.rr_intervals.get(5)):
        shares += f" ({bounds})"
    return f"{counts(found)}; {shares}"
