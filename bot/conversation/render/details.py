"""Renders the folded part of the comment: queries, problems, and the commands that correct the bot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markdown_it import MarkdownIt

from bot.conversation.commands.table import COMMANDS_BY_NAME, CommandName, Requirement
from bot.conversation.config.yaml_tree import ConfigError
from bot.conversation.messages.catalogue import Messages, declared
from bot.conversation.render.escape import code, escape
from bot.conversation.render.phrases import command_words, remark_words, who_words
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.judge_protocol import JUDGE
from bot.domain.report import Candidate, QueryRun, Report

QUERIES_MAX = 19
"""The most queries to list."""

PROBLEMS_MAX = 10
"""The most failed sources, skipped sources or errors in the settings to list."""

_INLINE = MarkdownIt("zero", {"html": True}).enable(
    ["backticks", "balance_pairs", "emphasis", "entity", "escape", "html_inline"]
)


def fold(summary: str, blocks: Iterable[str]) -> str:
    """A folded `<details>`. GitHub reads Markdown after blank lines, but reads only HTML in the summary."""
    inside = "\n\n".join(block for block in blocks if block)
    return f"<details>\n<summary>{_INLINE.renderInline(summary)}</summary>\n\n{inside}\n\n</details>"


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list; the lines are Markdown already."""
    return "\n".join(f"- {line}" for line in lines)


def sentence(text: str) -> str:
    """`text` with a capital first letter, for a line of a list."""
    return text[:1].upper() + text[1:]


def source_name(source: str, say: Messages) -> str:
    """A source in words, or by its own name if this version does not know the source."""
    name = f"source_{source.replace('-', '_')}"
    return say.fill(name, {}) if name in declared() else code(source, 60)


def queries_block(report: Report, say: Messages) -> str:
    """The queries, each with its source and hit count (F7, F8), and whether the answer came from the cache (T5)."""
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
            # GitHub makes neither a link nor a reference from a number in a code span.
            issue = code(f"{candidate.repo}#{candidate.number}")
            lines.append(f"{issue} – {say.explain_found_by(sources=sources)}")
    return bullets(lines)


def source_names(candidate: Candidate, say: Messages) -> str:
    return say.comma().join(source_name(source, say) for source in candidate.sources)


def query_line(query: QueryRun, say: Messages) -> str:
    """Such as: `QUERY` – 12 results (GitHub's search)."""
    notes = [say.no_answer() if query.hits is None else say.results(count=query.hits)]
    if query.incomplete:
        notes.append(say.incomplete())
    if query.problem:
        notes.append(remark_words(query.problem, say))
    if query.cached:
        # The note's square brackets make no link: the bot's comment defines no link of that name.
        notes.append(say.cached(time=escape(query.cached, 20)))
    return say.query(query=code(query.query), notes=say.comma().join(notes), source=source_name(query.source, say))


def problems_block(problems: Sequence[SourceProblem], say: Messages) -> str:
    """The sources that failed, and the sources that were not asked, each with a reason (F9)."""
    blocks = []
    for heading, skipped in ((say.problems(), False), (say.skipped(), True)):
        chosen = [problem for problem in problems if problem.skipped is skipped][:PROBLEMS_MAX]
        if lines := [line for line in (_problem(problem, say) for problem in chosen) if line]:
            blocks.append(f"{heading}\n\n{bullets(lines)}")
    return "\n\n".join(blocks)


def _problem(problem: SourceProblem, say: Messages) -> str:
    """`SOURCE: REASON`. A failed judge is only `degraded`: a complete search, but less reliable probabilities."""
    if problem.source == JUDGE:
        return f"{code(f'degraded: {JUDGE}')}: {remark_words(problem.remark, say)}"
    if problem.remark.code is RemarkCode.OTHERS:
        # Another program's words can be long. `escape` cuts the whole line to TEXT_MAX characters.
        return escape(str(problem))
    return f"{escape(problem.source)}: {remark_words(problem.remark, say)}"


def settings_block(heading: str, problems: Sequence[ConfigError], private: bool, say: Messages) -> str:
    """The settings file's errors by line and column (C6), or just their number if the file is `private`."""
    if not problems:
        return ""
    if private:
        return say.settings_private(count=len(problems))
    lines = []
    for problem in problems[:PROBLEMS_MAX]:
        line = say.settings_line(line=problem.line, column=problem.column, message=problem.text_in(say, escape))
        lines.append(line + (say.settings_hint(hint=code(problem.hint, 80)) if problem.hint else ""))
    if len(problems) > PROBLEMS_MAX:
        lines.append(say.settings_more(count=len(problems) - PROBLEMS_MAX))
    return f"{heading}\n\n{bullets(lines)}"


def correction_block(first: Candidate | None, say: Messages) -> str:
    """The commands that people may want next, about the first candidate if there is one, and who may use them.

    Offers `of` only for an open issue, or for a duplicate, whose original may be open.
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
    for spec in (COMMANDS_BY_NAME[name] for name in (*names, CommandName.HELP)):
        command = spec.syntax if first is None else spec.syntax.replace("#N", f"{first.repo}#{first.number}")
        # `first.repo` is set only for a candidate of another repository. Only that repository's people decide what
        # the bot shows there, so `not` changes nothing there.
        elsewhere = spec.name is CommandName.NOT and first is not None and first.repo
        effect = say.command_not_elsewhere() if elsewhere else command_words(spec.name, say)
        if spec.who is Requirement.ANYONE:
            lines.append(say.command_anyone(command=code(command), says=effect))
        else:
            lines.append(say.command_for(command=code(command), says=effect, who=who_words(spec.who, say)))
    return f"{say.correct()}\n\n{bullets(lines)}"
