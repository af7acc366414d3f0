"""Renders an evaluation as Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bot.conversation.render.escape import code, escape
from bot.quality.evaluation import wording as words
from bot.quality.evaluation.figures import Evaluation
from bot.quality.evaluation.measures import Id


def evaluation_markdown(result: Evaluation, titles: Mapping[Id, str], *, of_file: bool) -> str:
    """The whole evaluation. `titles` has the issues' titles by id; `of_file` says whether a file was evaluated."""
    blocks = [words.basis(result), f"{words.finding(result)} {words.confidence(result)}"]
    # The sentences below describe the recommended threshold, if any. Describe a different configured threshold here.
    if words.discussed_threshold(result) != result.at.cut:
        blocks.append(words.at_threshold(result, result.at))
    blocks.append(f"**{words.advice(result)}** {words.last_month(result)} {words.history(result)}")
    blocks += _tables(result)
    if result.unmarked:
        pairs = ((words.percent(pair.confidence), pair.id, pair.candidate) for pair in result.unmarked)
        listed = (f"- {chance} {_named(id, titles)}\\\n  {_named(other, titles)}" for chance, id, other in pairs)
        blocks += [words.unmarked(result), "\n".join(listed)]
    return "\n\n".join((*blocks, f"*{words.caution(result, of_file=of_file)}*"))


def judge_markdown(judgement: Mapping[str, Any]) -> str:
    """The judge's verdicts, and the comments with and without them. `judgement` is the object `judge` of `--json`."""
    same, related, different = judgement["verdicts"].values()
    rows = []
    labels = ("with", "without", "without, at about as many comments")
    for key, label in zip(("with", "without", "without_at_as_many"), labels, strict=True):
        row = judgement[key]
        shares = (words.percent(row["precision"]), words.percent(row["caught"]))
        rows.append((label, words.threshold(row["cut"]), f"{row['comments']:,.0f}", *shares))
    columns = ("", "threshold", "comments", "marked", "caught")
    table = _table("The judge: comments with and without it", columns, rows)
    return f"The judge called {same:,} pairs the same, {related:,} related and {different:,} different.\n\n{table}"


def _named(id: Id, titles: Mapping[Id, str]) -> str:
    return f"{f'#{id}' if isinstance(id, int) else code(id)} {escape(titles.get(id, ''))}"


def _tables(result: Evaluation) -> Iterator[str]:
    marked = result.retrieval.queries > 0
    if marked:
        found = (
            (f"{k} (RR@{k})", words.percent(in_first_k), words.interval(result.rr_intervals.get(k)))
            for k, in_first_k in result.retrieval.rr.items()
        )
        yield _table("Finding", ("an original among the first", "duplicates", "at 95%"), found)
    # `silent` counts the unmarked issues. If it is 0, no threshold causes a false alarm, so this table says nothing.
    if marked and result.silent:
        limits = []
        for share, row in result.limits.items():
            caught = (words.caught(result, row), words.interval(result.caught_intervals.get(share)))
            limits.append((words.percent(share), words.threshold(row.cut), *caught, words.same(row)))
        columns = ("of the others", "threshold", "duplicates caught", "at 95%", "the same")
        yield _table("Speaking: duplicates caught while few others get a comment", columns, limits)
    rows = []
    for row in sorted({*result.cuts, result.at}, key=lambda row: row.cut):
        note = {result.at.cut: " as set", result.advice.threshold: " recommended"}.get(row.cut, "")
        of_marks = (words.percent(row.precision), words.caught(result, row)) if marked else ()
        cells = (words.a_month(result.monthly[row.cut].comments), words.same(row), *of_marks, words.others(result, row))
        line = (words.threshold(row.cut) + note, *cells)
        rows.append([f"**{cell}**" for cell in line] if note else line)
    shares = ("marked", "caught", "of the others") if marked else ("of all",)
    yield _table("Speaking: comments at each threshold", ("min_confidence", "a month", "the same", *shares), rows)


def _table(title: str, columns: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A table below its title. All columns but the first are aligned to the right."""
    lines = (columns, (":-", *["-:"] * (len(columns) - 1)), *rows)
    return f"**{title}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)
