"""Commands that change nothing on the issue: re-check, search, explain and help (C4)."""

from __future__ import annotations

from bot.conversation.commands.table import Command
from bot.conversation.render.comment import explain as render_explanation
from bot.conversation.render.phrases import help_text
from bot.domain.decisions import COMMAND
from bot.quality.feedback import decisions_on_pairs
from bot.search.finder import FindOptions
from handlers.advisory_comment import post
from handlers.commands.request import CommandRequest, CommandResult, issue_named

# With so many comments, the answer in the advisory comment is out of sight of whoever asks below.
_FAR = 10
# Candidates among which the issue to explain is looked for; further ones are compared by themselves.
_LOOKED_THROUGH = 100


def recheck(request: CommandRequest, command: Command) -> CommandResult:
    """`/duplicates` and `search`: look again and update the advisory comment, which is the answer."""
    context, before = request.context, request.context.kept_comment()
    report = context.find(command.options, command.words, asked=True)
    if not post(context, report, cause=COMMAND, command=command):
        return request.refuse(request.say.comment_deleted())
    if context.muted:
        return CommandResult(True, request.say.muted_recheck())
    if before is None or before.comment_id is None or request.issue.comments <= _FAR:
        return CommandResult(True)
    return CommandResult(True, request.say.answered_above(link=f"#issuecomment-{before.comment_id}"))


def explain(request: CommandRequest, command: Command) -> CommandResult:
    """`explain #N`: how that issue compares with this one, whether the comment shows it or not.

    An earlier issue is compared as it was when the comment was written, without the issues that came later, since a
    probability depends on the others. The issue is judged for itself; a duplicate of it, which the comment may mean,
    is named with it.
    """
    other = issue_named(request, command)
    if isinstance(other, CommandResult):
        return other
    context, issue, earlier = request.context, request.issue, other.number < request.issue.number
    finder = context.finder(asked=True, judged=False)
    gathered = finder.gather(issue)
    options = FindOptions(
        threshold=0.0,
        max_candidates=_LOOKED_THROUGH,
        state="all",
        earlier_only=earlier,
        duplicates=decisions_on_pairs(context.services.store, context.repository.id).originals,
    )
    report = finder.find(issue, options, gathered)
    shown = next((one for one in report.candidates if one.own and one.number == other.number), None)
    apart = finder.find_ungrouped(issue, options, gathered, (other.number, *(shown.also if shown else ())))
    compared = apart.pop(other.number, None) or finder.compare(issue, other, earlier_only=earlier)
    say, likely = request.say, context.config.likely
    return CommandResult(True, render_explanation(report, compared, context.links, say, [*apart.values()], likely))


def show_help(request: CommandRequest, command: Command) -> CommandResult:
    """`help`: all commands."""
    return CommandResult(True, help_text(request.say))
