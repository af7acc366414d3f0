"""Renders a digest as sentences, and as the body of the digest's issue, with a checkbox for each answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from bot.conversation.commands.table import COMMANDS_BY_NAME, CommandName
from bot.conversation.marker import DIGEST
from bot.conversation.messages.catalogue import COUNT, Messages
from bot.conversation.render.escape import RepoLinks, break_phrase, code, escape, no_formula
from bot.domain.entities import BODY_MAX
from bot.domain.feedback import FeedbackKind
from bot.quality.calibration import Threshold, ThresholdOrigin
from bot.quality.digest import CommentRating, Digest, DigestLine, Pair, checkbox
from bot.quality.illness import Illness

LINES_MOST = 50
"""The digest's issue lists at most this many issues, the latest ones."""

_COMMANDS: Mapping[FeedbackKind, CommandName] = {FeedbackKind.NOT: CommandName.NOT, FeedbackKind.OF: CommandName.OF}


def sentences(found: Digest, checked: datetime, say: Messages) -> str:
    """The whole digest in a few sentences. `checked` is the time of writing; days are in its time zone."""
    since, until = (datetime.fromtimestamp(moment, checked.tzinfo).date() for moment in (found.since, found.until))
    looked = say.issues(count=found.looked)
    texts = [say.digest_looked(since=since, until=until, issues=looked, new=found.new)]
    # Shadow mode shows in withheld comments (`would`), or in the mode of the latest decision (`watching`).
    shadow_mode = found.would or found.watching
    if found.commented or not shadow_mode:
        texts.append(say.digest_commented(count=found.commented))
    if shadow_mode:
        texts.append(say.digest_would(count=found.would))
    counts = {rating: found.count(rating) for rating in CommentRating}
    if parts := [say.fill(f"digest_{rating}", {COUNT: count}) for rating, count in counts.items() if count]:
        texts.append(say.digest_so_far(parts=say.comma().join(parts)))
    if found.missed:
        texts.append(say.digest_missed(count=found.missed))
    if found.asked:
        texts.append(say.digest_judge(count=found.asked, cost=f"{found.cost:.2f}"))
    return " ".join(texts)


def threshold_words(threshold: Threshold, say: Messages) -> str:
    """A sentence with the threshold in force, which the messages call `bar`, and its origin."""
    if threshold.origin is ThresholdOrigin.SETTINGS:
        return say.bar_settings(bar=threshold.value)
    if threshold.origin is ThresholdOrigin.FEEDBACK:
        right, wrong = (say.locale.number(weight) for weight in (threshold.right, threshold.wrong))
        return say.bar_feedback(bar=threshold.value, right=right, wrong=wrong)
    return say.bar_usual(bar=threshold.value)


def standing_words(line: DigestLine, say: Messages, *, brief: bool = False) -> str:
    """Says how people have judged one comment, and by which kinds of feedback.

    With `brief`, for a terminal, commands appear without their arguments.
    """
    standing = say.fill(f"standing_{line.standing}", {})
    how = say.comma().join(_feedback_name(kind, say, brief=brief) for kind in line.said)
    return say.standing_by(standing=standing, how=how) if how else standing


@dataclass(frozen=True, slots=True)
class DigestView:
    """A digest and everything shown with it, such as the titles of its issues and the threshold in force.

    `checked` is the time of writing; days are in its time zone. `ill` says what is wrong with the bot, if anything.
    """

    found: Digest
    titles: Mapping[int, str]
    threshold: Threshold
    links: RepoLinks
    checked: datetime
    say: Messages
    ill: Illness | None = None

    def link_and_title(self, number: int) -> str:
        title = escape(self.titles.get(number, ""))
        return f"{self.links.issue(number)} {title}" if title else self.links.issue(number)

    def summary(self) -> list[str]:
        warning = [self.say.fill(f"ill_{self.ill.name.lower()}", {})] if self.ill else []
        return [*warning, sentences(self.found, self.checked, self.say), threshold_words(self.threshold, self.say)]


def render_digest(view: DigestView, ticked: Mapping[Pair, bool]) -> str:
    """The body of the digest's issue, with its marker as the first line, in at most 65,536 characters.

    `ticked` maps a pair to its ticked box: True for same, False for different. The text pings
    nobody, leaves no back-links, and marks no duplicate (`break_phrase`).
    """
    lines = view.found.lines[:LINES_MOST]
    while len(body := _body(view, lines, ticked)) > BODY_MAX and lines:
        lines = lines[:-1]
    # A body without lines is too long only because of the repository's `templates`: use the built-in texts.
    return body if len(body) <= BODY_MAX else render_digest(replace(view, say=view.say.plain), ticked)


def _body(view: DigestView, lines: tuple[DigestLine, ...], ticked: Mapping[Pair, bool]) -> str:
    say, blocks = view.say, view.summary()
    if lines:
        blocks.append(say.digest_how())
    blocks += [_item(view, line, ticked) for line in lines]
    if omitted := len(view.found.lines) - len(lines):
        blocks.append(say.digest_more(count=omitted))
    inside = "\n\n".join(blocks)
    # The marker's fingerprint leaves out the time: if only the time has changed, the issue is not edited.
    text = break_phrase(f"{inside}\n\n{say.checked(time=view.checked)}")
    return f"{DIGEST.line(inside)}\n{text}\n"


def _item(view: DigestView, line: DigestLine, ticked: Mapping[Pair, bool]) -> str:
    pair, say = (line.number, line.other), view.say
    sentence = say.digest_named if line.posted else say.digest_would_name
    this_issue, other_issue = no_formula(view.link_and_title(line.number), view.link_and_title(line.other))
    return "\n".join(
        [
            f"- {this_issue}",
            f"  {sentence(issue=other_issue, percent=line.probability, standing=standing_words(line, say))}",
            f"  {checkbox(pair, True, ticked.get(pair) is True)} {say.box_same()}",
            f"  {checkbox(pair, False, ticked.get(pair) is False)} {say.box_other()}",
        ]
    )


def _feedback_name(kind: FeedbackKind, say: Messages, *, brief: bool) -> str:
    """Names the way in which people gave feedback. Commands are the same in every language."""
    if kind in _COMMANDS:
        command = _COMMANDS[kind]
        return command if brief else code(COMMANDS_BY_NAME[command].syntax)
    return say.fill(f"said_{kind}", {})
