"""Commands that look and tell: re-check, search, explain and help; and whether an issue is looked at when it changes by
itself: mute and unmute, beside which commands work all the same (C4).
"""

from __future__ import annotations

from bot.conversation.commands import Command
from bot.conversation.render import explain as render_explanation
from bot.domain.decisions import COMMAND
from bot.domain.entities import same_login
from bot.quality.feedback import decided_in
from bot.search.finder import FindOptions
from handlers.advice.advice import post, refresh
from handlers.commands.ask import Answer, Ask, issue_named
from handlers.finding import find, finder_for

# With so many comments, whoever asks at the end does not see that the one far above has answered.
_FAR = 10
# So many of the issues that were found are looked through for the one to explain; further ones are found by chance.
_LOOKED_THROUGH = 100


def recheck(ask: Ask, command: Command) -> Answer:
    """`/duplicates` and `search`: look again and bring the comment up to date; its text is the answer."""
    visit, before = ask.visit, ask.visit.kept_comment()
    report = find(visit, ask.issue, command.options, command.words, asked=True)
    posted = post(visit, ask.issue, report, cause=COMMAND, command=command)
    if not posted:
        return Answer(False, ask.replies.comment_was_deleted())
    if visit.muted:
        return Answer(True, ask.replies.muted_recheck())
    if before is None or before.comment_id is None or ask.issue.comments <= _FAR:
        return Answer(True)
    return Answer(True, ask.replies.answered_above(before.comment_id))


def explain(ask: Ask, command: Command) -> Answer:
    """`explain #N`: how that issue compares with this one, whether it was shown or not.

    How far one stands out depends on the others. So those that came later are left out, as they are when the comment
    is written; else everybody who reports the same thing afterwards would make it unlikelier in the answer. Of a later
    issue nothing was said before.

    The issue is judged for itself. What the comment says of it may be true of a duplicate of it, which is then named.
    """
    other = issue_named(ask, command)
    if isinstance(other, Answer):
        return other
    visit, earlier = ask.visit, other.number < ask.issue.number
    finder = finder_for(visit, ask.issue)
    gathered = finder.gather(ask.issue)
    options = FindOptions(
        threshold=0.0,
        max_candidates=_LOOKED_THROUGH,
        state="all",
        earlier_only=earlier,
        duplicates=decided_in(visit.services.store, visit.repository.id).originals,
    )
    report = finder.find(ask.issue, options, gathered)
    shown = next((one for one in report.candidates if one.own and one.number == other.number), None)
    repeats = shown.also if shown else ()
    apart = finder.find_ungrouped(ask.issue, options, gathered, (other.number, *repeats))
    compared = apart.pop(other.number, None) or finder.compare(ask.issue, other, earlier_only=earlier)
    likely = visit.config.likely
    text = render_explanation(report, compared, visit.place, ask.replies.say, [*apart.values()], likely)
    return Answer(True, text)


def show_help(ask: Ask, command: Command) -> Answer:
    """`help`: everything there is."""
    return Answer(True, ask.replies.help())


def mute(ask: Ask, command: Command) -> Answer:
    """`mute`: leave this issue alone from now on.

    Where they have muted it themselves this may be the same command, carried out once more after a crash: it is
    answered as at first.
    """
    visit, muted = ask.visit, ask.visit.services.store.muted
    by = muted.by(visit.repository.id, visit.number)
    already = by is not None and not same_login(by, ask.login)
    muted.set(visit.repository.id, visit.number, ask.login, visit.services.now())
    return Answer(True, ask.replies.muted(already))


def unmute(ask: Ask, command: Command) -> Answer:
    """`unmute`: look at this issue again when it changes.

    Its comment is brought up to date with what was decided meanwhile, which it was not told of. That comes first: if it
    fails, the command is carried out once more and answered as it would have been.
    """
    visit, muted = ask.visit, ask.visit.services.store.muted
    already = not visit.muted
    if not already:
        refresh(visit, ask.issue)
    muted.clear(visit.repository.id, visit.number)
    return Answer(True, ask.replies.unmuted(already))
