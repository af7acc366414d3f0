"""What is told of an evaluation: sentences first, then the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.evaluation.report import Evaluation
from bot.render import evaluation as words
from bot.render.escape import clean

# Columns that each of the tables fits into.
_TABLES = 80


def says(found: Evaluation) -> dict[str, str]:
    """The sentences that a person is told first, for programs that pass them on."""
    return {
        "finding": words.finding(found),
        "advice": words.advice(found),
        "last_month": words.last_month(found),
        "history": words.history(found),
    }


def show(found: Evaluation, titles: Mapping[int | str, str], *, of_file: bool) -> None:
    """Print an evaluation for a person: sentences first, then the tables; titles are by the issues' ids.

    `of_file` is whether the issues are of no repository, but of a file.
    """
    console = Console(highlight=False)
    # Where there is less room a terminal breaks their lines; to fit, the ends of figures would be cut off.
    tables = Console(highlight=False, width=max(console.width, _TABLES))
    for paragraph in (words.basis(found), f"{words.finding(found)} {words.confidence(found)}".strip()):
        console.print(f"{paragraph}\n")
    # What is said below of the threshold that is set, because no other is recommended, is said once.
    if words.spoken_of(found) != found.at.cut:
        console.print(f"{words.at_threshold(found, found.at)}\n")
    console.print(f"[bold]{words.advice(found)}[/] {words.last_month(found)} {words.history(found)}\n")
    if found.retrieval.queries:
        tables.print(_retrieval(found))
        # Without others each threshold comments on as few of them.
        if found.silent:
            tables.print(_limits(found))
    tables.print(_thresholds(found))
    if found.unmarked:
        console.print(f"{words.unmarked(found)}\n")
        for one in found.unmarked:
            for lead, id in ((f"  {words.percent(one.confidence):>4} ", one.id), ("       ", one.candidate)):
                line = clean(f"{f'#{id}' if isinstance(id, int) else id} {titles.get(id, '')}")
                console.print(Text(lead + line), no_wrap=True, overflow="ellipsis")
    console.print(f"\n{words.caution(found, of_file=of_file)}", style="dim")


def _table(title: str, columns: Sequence[str]) -> Table:
    # A table narrower than its title would break that in two.
    wide = len(title)
    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, min_width=wide
    )
    for place, name in enumerate(columns):
        table.add_column(name, justify="right" if place else "left")
    return table


def _retrieval(found: Evaluation) -> Table:
    table = _table("Finding", ("an original among the first", "duplicates", "at 95%"))
    for k, share in found.retrieval.rr.items():
        table.add_row(f"{k} (RR@{k})", words.percent(share), words.interval(found.rr_intervals.get(k)))
    return table


def _limits(found: Evaluation) -> Table:
    columns = ("of the others", "threshold", "duplicates caught", "at 95%", "the same")
    table = _table("Speaking: what is caught while few others get a comment", columns)
    for share, row in found.limits.items():
        cells = (words.threshold(row.cut), words.caught(found, row), words.interval(found.caught_intervals.get(share)))
        table.add_row(words.percent(share), *cells, words.same(row))
    return table


def _thresholds(found: Evaluation) -> Table:
    marked = found.retrieval.queries > 0
    columns = ("marked", "caught", "of the others") if marked else ("of all",)
    table = _table("Speaking: comments at each threshold", ("min_confidence", "a month", "the same", *columns))
    for row in sorted({*found.cuts, found.at}, key=lambda row: row.cut):
        month = found.monthly[row.cut]
        style = "bold" if row.cut == found.advice.threshold else "cyan" if row.cut == found.at.cut else ""
        note = " recommended" if row.cut == found.advice.threshold else " as set" if row.cut == found.at.cut else ""
        of_marks = (words.percent(row.precision), words.caught(found, row)) if marked else ()
        cells = (words.a_month(month.comments), words.same(row), *of_marks, words.others(found, row))
        table.add_row(words.threshold(row.cut) + note, *cells, style=style)
    return table
