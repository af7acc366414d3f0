"""The folded part of the comment: queries, problems, and the commands that correct the bot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from markdown_it import MarkdownIt

from bot.conversation.commands.table import COMMANDS_BY_NAME, CommandName, Requirement
from bot.conversation.config.yaml_tree import ConfigError
from bot.conversation.messages.catalogue import Messages
from bot.conversation.render.escape import code, escape
from bot.conversation.render.phrases import command_words, remark_words, who_words
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.judge_protocol import JUDGE
from bot.domain.report import Candidate, QueryRun, Report

QUERIES_MAX = 19
"""The most that all sources can ask about one issue: seven searches by words and twelve others."""

PROBLEMS_MAX = 10


def fold(summary: str, blocks: Iterable[str]) -> str:
    """A closed `<details>`. The empty lines let GitHub read the inside as Markdown again, which the summary is not."""
    inside = "\n\n".join(block for block in blocks if block)
    return f"<details>\n<summary>{_as_html(summary)}</summary>\n\n{inside}\n\n</details>"


def _as_html(text: str) -> str:
    """The Markdown that a message may contain, as HTML."""
    return str(_inline().renderInline(text))


@cache
def _inline() -> MarkdownIt:
    rules = ["backticks", "balance_pairs", "emphasis", "entity", "escape", "html_inline"]
    return MarkdownIt("zero", {"html": True}).enable(rules)


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list of lines that are Markdown themselves."""
    return "\n".join(f"- {line}" for line in lines)


def sentence(text: str) -> str:
    """`text` with a capital first letter, as the lines of a list begin."""
    return text[:1].upper() + text[1:]


def source_name(source: str, say: Messages) -> str:
    """A source in words, or by its own name if it is another version's."""
    name = f"source_{source.replace('-', '_')}"
    return say.fill(name, {}) if hasattr(Messages, name) else code(source, 60)


def queries_block(report: Report, say: Messages) -> str:
    """Every query with its source and hit count (F7, F8), and whether it came from the cache (T5)."""
    if not report.queries:
        return ""
    shown = [query_line(query, say) for query in report.queries[:QUERIES_MAX]]
    lines = [say.queries(), "", bullets(shown)]
    if any(query.cached for query in report.queries):
        lines += ["", say.cached_hint()]
    return "\n".join(lines)


def found_by_block(shown: Sequence[Candidate], say: Messages) -> str:
    """All sources that found each candidate (H1, H2)."""
    lines = []
    for candidate in shown:
        if candidate.sources:
            sources = source_names(candidate, say)
            # In code, so that it is neither a reference nor one more link to the same issue.
            named = code(f"{candidate.repo}#{candidate.number}")
            lines.append(f"{named} – {say.explain_found_by(sources=sources)}")
    return bullets(lines)


def source_names(candidate: Candidate, say: Messages) -> str:
    """The names of the sources that found it."""
    return say.comma().join(source_name(source, say) for source in candidate.sources)


def query_line(query: QueryRun, say: Messages) -> str:
    """`QUERY` – 12 results (GitHub's search)."""
    notes = [say.no_answer() if query.hits is None else say.results(count=query.hits)]
    if query.incomplete:
        notes.append(say.incomplete())
    if query.problem:
        notes.append(remark_words(query.problem, say))
    if query.cached:
        # Square brackets are part of the note; without a definition of that name they are no link.
        notes.append(say.cached(time=escape(query.cached, 20)))
    return say.query(query=code(query.query), notes=say.comma().join(notes), source=source_name(query.source, say))


def problems_block(problems: Sequence[SourceProblem], say: Messages) -> str:
    """The sources that failed, and those that were not asked, each with its reason (F9)."""
    blocks = []
    for heading, skipped in ((say.problems(), False), (say.skipped(), True)):
        some = [one for one in problems if one.skipped is skipped][:PROBLEMS_MAX]
        if lines := [line for line in (_problem(one, say) for one in some) if line]:
            blocks.append(f"{heading}\n\n{bullets(lines)}")
    return "\n\n".join(blocks)


def _problem(problem: SourceProblem, say: Messages) -> str:
    """`source: reason`. Without its judge the search is degraded, but complete."""
    if problem.source == JUDGE:
        return f"{code(f'degraded: {JUDGE}')}: {remark_words(problem.remark, say)}"
    own = problem.remark.code is not RemarkCode.OTHERS
    return f"{escape(problem.source)}: {remark_words(problem.remark, say)}" if own else escape(str(problem))


def settings_block(problems: Sequence[ConfigError], private: bool, say: Messages) -> str:
    """The errors in the settings file, by line and column (C6), or their number if it is `private`."""
    if private:
        return private_settings(problems, say)
    return f"{say.settings_problems()}\n\n{settings_list(problems, say)}" if problems else ""


def private_settings(problems: Sequence[ConfigError], say: Messages) -> str:
    """The number of errors in a file that readers of the comment may not see."""
    return say.settings_private(count=len(problems)) if problems else ""


def settings_list(problems: Sequence[ConfigError], say: Messages) -> str:
    """The problems of a settings file as a list."""
    lines = []
    for problem in problems[:PROBLEMS_MAX]:
        line = say.settings_line(line=problem.line, column=problem.column, message=problem.in_words(say, escape))
        lines.append(line + say.settings_hint(hint=code(problem.hint, 80)) if problem.hint else line)
    if len(problems) > PROBLEMS_MAX:
        lines.append(say.settings_more(count=len(problems) - PROBLEMS_MAX))
    return bullets(lines)


def correction_block(first: Candidate | None, say: Messages) -> str:
    """The commands that people may want next about the first candidate, if any, and who may give them.

    `of` is left out for a closed issue, where the discussion cannot continue.
    """
    if first is None:
        names: tuple[CommandName, ...] = (CommandName.SEARCH, CommandName.MUTE)
    elif not first.own:
        names = (CommandName.NOT, CommandName.SEARCH)
    elif first.state == "open" or first.state_reason == "duplicate":
        names = (CommandName.NOT, CommandName.OF, CommandName.EXPLAIN, CommandName.SEARCH)
    else:
        names = (CommandName.NOT, CommandName.EXPLAIN, CommandName.SEARCH)
    lines = []
    for row in (COMMANDS_BY_NAME[name] for name in (*names, CommandName.HELP)):
        command = row.syntax if first is None else row.syntax.replace("#N", f"{first.repo}#{first.number}")
        # What is shown over there is for the people there to decide.
        elsewhere = row.name is CommandName.NOT and first is not None and first.repo
        says = say.command_not_elsewhere() if elsewhere else command_words(row.name, say)
        if row.who is Requirement.ANYONE:
            lines.append(say.command_anyone(command=code(command), says=says))
        else:
            lines.append(say.command_for(command=code(command), says=says, who=who_words(row.who, say)))
    return f"{say.correct()}\n\n{bullets(lines)}"
