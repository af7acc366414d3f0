"""Commands that ask something: re-check, search, explain and help (C4)."""

from __future__ import annotations

from bot.conversation.commands.table import Command
from bot.conversation.render.comment import explain as render_explanation
from bot.conversation.render.phrases import help_text
from bot.domain.decisions import COMMAND
from bot.quality.feedback import decisions_on_pairs
from bot.search.finder import FindOptions
from handlers.advisory_comment import post
from handlers.commands.request import CommandRequest, CommandResult, issue_named

# With more comments than this, a person at the bottom does not see the advisory comment at the top.
_COMMENTS_IN_VIEW = 10
# `explain #N` looks for #N among this many candidates, and compares #N separately if it is not among them.
_MOST_CANDIDATES = 100


def recheck(request: CommandRequest, command: Command) -> CommandResult:
    """`/duplicates` and `search`: look again, and answer by updating the advisory comment."""
    context, before = request.context, request.context.stored_comment()
    report = context.find(command.options, command.words, asked=True)
    if not post(context, report, cause=COMMAND, command=command):
        return request.refuse(request.say.comment_deleted())
    if context.muted:
        return CommandResult(True, request.say.muted_recheck())
    if before is None or before.comment_id is None or request.issue.comments <= _COMMENTS_IN_VIEW:
        return CommandResult(True)
    return CommandResult(True, request.say.answered_above(link=f"#issuecomment-{before.comment_id}"))


def explain(request: CommandRequest, command: Command) -> CommandResult:
    """`explain #N`: how #N compares with this issue, whether or not the comment lists #N.

    A probability depends on the competing candidates. So if #N came before this issue, only issues before this one
    compete, as they did for the comment. The comment may name #N because one of #N's duplicates is similar. This
    reply instead gives #N's own probability, and the duplicates of #N that this command found.
    """
    other = issue_named(request, command)
    if isinstance(other, CommandResult):
        return other
    context, issue = request.context, request.issue
    earlier = other.number < issue.number
    finder = context.finder(asked=True, judged=False)
    gathered = finder.gather(issue)
    options = FindOptions(
        threshold=0.0,
        max_candidates=_MOST_CANDIDATES,
        state="all",
        earlier_only=earlier,
        duplicates=decisions_on_pairs(context.services.store, context.repository.id).originals,
    )
    report = finder.find(issue, options, gathered)
    duplicates = next((item.also for item in report.candidates if item.own and item.number == other.number), ())
    ungrouped = finder.find_ungrouped(issue, options, gathered, (other.number, *duplicates))
    compared = ungrouped.pop(other.number, None) or finder.compare(issue, other, earlier_only=earlier)
    say, likely = request.say, context.config.likely
    return CommandResult(True, render_explanation(report, compared, context.links, say, [*ungrouped.values()], likely))


def show_help(request: CommandRequest, command: Command) -> CommandResult:
    return CommandResult(True, help_text(request.say))
