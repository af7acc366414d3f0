"""The folded part of the comment: what was asked, what did not work, and how to correct the bot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.commands.table import BY_NAME, Name
from bot.config import ConfigError
from bot.render.escape import code, escape
from bot.render.phrases import ENGLISH as SAY
from bot.render.phrases import SOURCE_NAMES
from bot.report import Candidate, QueryRun, Report

QUERIES_MAX = 12
PROBLEMS_MAX = 10
_CAUSES_MAX, _CAUSE_LENGTH = 2, 80


def fold(summary: str, blocks: Iterable[str]) -> str:
    """A closed `<details>`. The empty lines let GitHub read the inside as Markdown again."""
    inside = "\n\n".join(block for block in blocks if block)
    return f"<details>\n<summary>{summary}</summary>\n\n{inside}\n\n</details>"


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list of lines that are Markdown themselves."""
    return "\n".join(f"- {line}" for line in lines)


def sentence(text: str) -> str:
    """`text` with a capital first letter, as the lines of a list begin."""
    return text[:1].upper() + text[1:]


def source_name(source: str) -> str:
    """What a source is called in a sentence."""
    return SOURCE_NAMES.get(source) or escape(source, 60)


def queries_block(report: Report) -> str:
    """Every query with its source and hit count (F8), and what of it came from the cache (T5)."""
    if not report.queries:
        return ""
    lines = [SAY.queries, "", bullets(map(query_line, report.queries[:QUERIES_MAX]))]
    counts = dict(report.counts)
    if "total" in counts and "unique" in counts:
        total, unique, duplicates = counts.pop("total"), counts.pop("unique"), counts.pop("duplicates", 0)
        by = [SAY.by_source.format(count=count, source=source_name(source)) for source, count in counts.items()]
        lines += [
            "",
            SAY.totals.format(
                results=counted(total, SAY.hits_one, SAY.hits_many),
                unique=counted(unique, SAY.unique_one, SAY.unique_many),
                repeats=counted(duplicates, SAY.repeats_one, SAY.repeats_many),
                sources=", ".join(by[:QUERIES_MAX]),
            ),
        ]
    if any(query.cached for query in report.queries):
        lines += ["", SAY.cached_hint]
    return "\n".join(lines)


def query_line(query: QueryRun) -> str:
    """`QUERY` – 12 results (GitHub's search)."""
    notes = [SAY.hits_none if query.hits is None else counted(query.hits, SAY.hits_one, SAY.hits_many)]
    if query.incomplete:
        notes.append(SAY.incomplete)
    if query.problem:
        notes.append(escape(query.problem))
    if query.cached:
        # Square brackets are part of the note; without a definition of that name they are no link.
        notes.append(SAY.cached.format(time=escape(query.cached, 20)))
    return f"{code(query.query)} – {', '.join(notes)} ({source_name(query.source)})"


def counted(count: int, one: str, many: str) -> str:
    """A number of things, in the singular where it is one."""
    return one if count == 1 else many.format(count=count)


def causes(problems: Sequence[str]) -> str:
    """Which sources failed and why, in short, as the end of a sentence; empty if none is known (F9)."""
    first = {source: reason for source, _, reason in (one.partition(": ") for one in reversed(problems))}
    named = [
        SAY.cause.format(source=source_name(source), reason=escape(first[source], _CAUSE_LENGTH))
        for source in reversed(first)
    ]
    shown = named[:_CAUSES_MAX]
    if len(named) > _CAUSES_MAX:
        shown.append(SAY.causes_more.format(count=len(named) - _CAUSES_MAX))
    return f": {', '.join(shown)}" if shown else ""


def problems_block(problems: Sequence[str]) -> str:
    """The sources that failed, each with its reason (F9)."""
    lines = [problem for problem in map(escape, problems[:PROBLEMS_MAX]) if problem]
    return f"{SAY.problems}\n\n{bullets(lines)}" if lines else ""


def settings_block(problems: Sequence[ConfigError], private: bool = False) -> str:
    """What is wrong with the settings file, by line and column (C6); see `private_settings` for a `private` one."""
    if private:
        return private_settings(problems)
    return f"{SAY.settings_problems}\n\n{settings_list(problems)}" if problems else ""


def private_settings(problems: Sequence[ConfigError]) -> str:
    """That the file has problems, and no word of it: it lies where those who read this may not look."""
    if len(problems) > 1:
        return SAY.settings_private_many.format(count=len(problems))
    return SAY.settings_private_one if problems else ""


def settings_list(problems: Sequence[ConfigError]) -> str:
    """The problems of a settings file as a list."""
    lines = []
    for problem in problems[:PROBLEMS_MAX]:
        line = SAY.settings_line.format(line=problem.line, column=problem.column, message=escape(problem.message))
        lines.append(f"{line}; {SAY.settings_hint.format(hint=code(problem.hint, 80))}" if problem.hint else line)
    if len(problems) > PROBLEMS_MAX:
        lines.append(SAY.settings_more.format(count=len(problems) - PROBLEMS_MAX))
    return bullets(lines)


def correction_block(first: Candidate | None) -> str:
    """The commands that people want next about the first issue of this repository, None where none is shown.

    `of` is left out where it would be refused, since the discussion cannot continue in a closed issue.
    """
    if first is None:
        names: tuple[Name, ...] = (Name.SEARCH, Name.MUTE)
    elif first.state == "open" or first.state_reason == "duplicate":
        names = (Name.NOT, Name.OF, Name.EXPLAIN, Name.SEARCH)
    else:
        names = (Name.NOT, Name.EXPLAIN, Name.SEARCH)
    lines = []
    for row in (BY_NAME[name] for name in (*names, Name.HELP)):
        command = row.syntax if first is None else row.syntax.replace("#N", f"#{first.number}")
        lines.append(SAY.correct_line.format(command=code(command), says=row.says))
    return f"{SAY.correct}\n\n{bullets(lines)}"
