"""What the bot says about one made-up find, whole, in each language; `python -m tests.render.languages` writes it down.

Every text of the comment, the replies, the help and the scan is in it, so that a reader of the language can read the
whole of it as it will stand on GitHub.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from bot.conversation.commands.table import (
    COMMANDS,
    CommandName,
    CommandOptions,
    CommandProblem,
    InvalidCommand,
    MisspeltCommand,
)
from bot.conversation.config.parser import parse_config
from bot.conversation.config.yaml_tree import ConfigError
from bot.conversation.messages.catalogue import LANGUAGES, Messages, messages_for
from bot.conversation.render.comment import explain, render_comment
from bot.conversation.render.escape import RepoLinks
from bot.conversation.render.phrases import help_text
from bot.conversation.render.replies import Replies, render_reply
from bot.domain.entities import Closer
from bot.domain.errors import RemarkCode, SourceProblem
from bot.domain.feedback import FeedbackKind
from bot.domain.judge_protocol import JUDGE
from bot.domain.report import QueryRun, Reason, ReasonCode, SearchOutcome
from bot.quality.calibration import Threshold, ThresholdOrigin
from bot.quality.digest import CommentRating, Digest, DigestLine
from bot.quality.digest_text import LINES_MOST, DigestView, render_digest
from bot.quality.illness import Illness
from bot.quality.scanning.groups import BacklogIssue, DuplicateGroup, GroupMember, ScanResult
from bot.quality.scanning.markdown import render_scan
from tests.render.samples import CHECKED_AT, CLOSED, QUERY, candidate, considered, report, view

SNAPSHOTS = Path(__file__).parent / "snapshots"

LINKS = RepoLinks("acme/app")

SAID_ELSEWHERE = {
    "who_anyone",
    "label_rationale",
}
"""Texts that no sample holds."""

CANDIDATES = (
    candidate(
        confidence=0.91,
        workflow_state="In progress",
        reasons=(
            Reason(ReasonCode.MESSAGE, ("RangeError: Invalid array length",)),
            Reason(ReasonCode.IDENTIFIERS, ("pasteHandler",)),
        ),
        also=(31, 54),
    ),
    candidate(
        97,
        state_reason="completed",
        confidence=0.64,
        reasons=(
            Reason(
                ReasonCode.WORDS,
                (
                    "paste",
                    "image",
                ),
            ),
            Reason(ReasonCode.GITHUB),
            Reason(ReasonCode.SURFACE, ("vscode", "cli")),
        ),
        **CLOSED,
    ),
    candidate(12, state_reason="not_planned", confidence=0.31, named=True, sources=("vectors",), **CLOSED),
    candidate(
        7, state="closed", state_reason="duplicate", confidence=0.2, reasons=(Reason(ReasonCode.TITLES, ("a",)),)
    ),
    candidate(8, confidence=0.96, reasons=(Reason(ReasonCode.CAUSE, ("the paste handler *overflows*",)),)),
    candidate(
        5,
        kind="pull request",
        state="closed",
        state_reason="merged",
        repo="acme/docs",
        reasons=(Reason(ReasonCode.COPY),),
    ),
    candidate(4, kind="discussion", state="open", state_reason="answered"),
    candidate(3, state="closed", state_reason="completed", confidence=0.05, reasons=(Reason(ReasonCode.GITHUB),)),
    candidate(2, state="closed", also=tuple(range(1_000, 1_012))),
    candidate(1, kind="pull request", state="closed"),
)
OTHERS = (
    candidate(1, kind="pull request"),
    candidate(2, kind="discussion"),
    candidate(3, kind="discussion", state="closed"),
)
QUERIES = (
    QUERY,
    QueryRun("github-hybrid", "crash on paste", 1_234, incomplete=True, cached="10:20:01 AM"),
    QueryRun("vectors", "crash", None, RemarkCode.OTHERS.of("the model could not be loaded")),
    *(
        QueryRun(source, "x", 1)
        for source in ("full-text", "pull-requests", "discussions", "siblings", "known-issues", "github-similar")
    ),
)
NEAREST = (considered(118, 0.179),)
CLOSERS = {97: Closer(pull=101), 12: Closer(commit="0123456789abcdef" * 2 + "01234567")}
REMARKS = (
    QueryRun("known-issues", "#5 #7", 1, RemarkCode.NOT_FOUND.of(1)),
    QueryRun("known-issues", "#5 #7", 2, RemarkCode.LEFT.of(1)),
    QueryRun("known-issues", "#5 #7", 0, RemarkCode.NOT_FOUND_AND_LEFT.of(2, 7)),
    QueryRun("github-hybrid", "crash on paste", 3, RemarkCode.BY_WORDS.of("lexical_fallback_reason")),
    QueryRun("github-search", "crash", None, RemarkCode.SEARCH_LIMIT.of()),
    QueryRun("github-hybrid", "crash", None, RemarkCode.HYBRID_LIMIT.of()),
    *(QueryRun("siblings", "crash", None, remark.of()) for remark in (RemarkCode.UNREAD, RemarkCode.HIDDEN)),
    *(QueryRun("discussions", "crash", None, remark.of()) for remark in (RemarkCode.NO_PERMISSION, RemarkCode.EMPTY)),
)
REMARKABLE = (
    SourceProblem("github-similar", RemarkCode.TOO_LATE.of(2)),
    SourceProblem("siblings", RemarkCode.LEFT_OUT.of(1, 2)),
    SourceProblem("discussions", RemarkCode.FAILED.of()),
    *(SourceProblem(JUDGE, remark.of()) for remark in (RemarkCode.JUDGE_UNREACHED, RemarkCode.JUDGE_UNUSABLE)),
    *(SourceProblem(JUDGE, remark.of()) for remark in (RemarkCode.JUDGE_BUDGET, RemarkCode.JUDGE_PAUSED)),
)
PROBLEMS = (
    SourceProblem("vectors", RemarkCode.OTHERS.of("the model could not be loaded")),
    SourceProblem("siblings", RemarkCode.OTHERS.of("502")),
    SourceProblem("discussions", RemarkCode.OTHERS.of("no access")),
)
SETTINGS = """\
mod: off
max_candidates: many
only_labels: 7
ignore: {labels: [1.0], titles: x, authors: [x, [y]]}
search: 3
siblings: [acme]
known_issues: {}
min_confidence:
likely: 1
mode: on
templates: {fuond: x, found: "{cuont}", nothing: "{", muted: "@octocat", reported: 7}
"""


BROKEN = (
    "mode: off\nmode: off\n",
    f"known_issues: {list(range(1, 200))}",
    "mode: [off",
    "mode: \x07",
    "mode: off\n---\nmode: off",
    "- mode",
    "a: [[[[[[[[[[[[1]]]]]]]]]]]]",
    "? [a]\n: b",
    "mode: &x off",
    "mode: !x off",
    "a" * 70_000,
    'templates: {found: "' + "{count} " * 11 + '"}',
    "templates: x",
    "siblings: x",
    "ignore: {authors: x, titles: [[x]]}",
    "ignore: {associations: x, types: x}",
    "ignore: {associations: [x], types: [[x]]}",
)
TOO_LARGE = ConfigError.translatable(1, 1, lambda say, _: say.file_too_large())


def comments(say: Messages) -> list[str]:
    """The advisory comment in its various cases."""
    known = {"queries": QUERIES}
    wrong = parse_config(SETTINGS)[1]
    return [
        render_comment(report(*CANDIDATES[:5], **known), view(say=say, closers=CLOSERS)),
        render_comment(
            report(*CANDIDATES[5:], outcome=SearchOutcome.DEGRADED, problems=PROBLEMS, queries=QUERIES[:3]),
            view(say=say, words=("big", "image"), options=CommandOptions(state="open"), settings_problems=wrong),
        ),
        render_comment(report(*OTHERS), view(say=say)),
        render_comment(report(CANDIDATES[1]), view(say=say, closers={97: Closer(milestone="2.4", release="v2.4.0")})),
        render_comment(report(candidate(6, repo="acme/docs")), view(say=say)),
        render_comment(report(CANDIDATES[0]), view(say=say, options=CommandOptions(state="closed"))),
        render_comment(report(candidate(confidence=0.06)), view(say=say, options=CommandOptions(confidence=0.05))),
        render_comment(
            report(candidate(similarity=0.18, also=(12,))), view(say=say, options=CommandOptions(threshold=0.9))
        ),
        render_comment(report(*CANDIDATES[:3]), view(say=say, asked=True, unasked=CANDIDATES[:2])),
        render_comment(report(candidate(confidence=0.07)), view(say=say, asked=True, unasked=())),
        render_comment(report(considered=NEAREST), view(say=say, asked=True, options=CommandOptions(threshold=0.4))),
        render_comment(report(), view(say=say)),
        render_comment(report(), view(say=say, had_candidates=True, settings_problems=wrong, settings_private=True)),
        render_comment(report(outcome=SearchOutcome.INCONCLUSIVE), view(say=say)),
        render_comment(report(outcome=SearchOutcome.DEGRADED, problems=PROBLEMS[:1]), view(say=say)),
        render_comment(report(CANDIDATES[0]), view(say=say, labels=True)),
        render_comment(report(outcome=SearchOutcome.DEGRADED, queries=REMARKS, problems=REMARKABLE), view(say=say)),
    ]


def answers(say: Messages) -> list[str]:
    """Every reply to a command."""
    replies = Replies(say, LINKS)
    wrong = [problem for text in (SETTINGS, *BROKEN) for problem in parse_config(text)[1]]
    return [
        help_text(say),
        replies.misspelt(MisspeltCommand("/duplicates serch", "serch", "/duplicates search WORDS…")),
        replies.misspelt(MisspeltCommand("/duplicates x", "x", "")),
        *(
            replies.invalid(InvalidCommand("/duplicates not", CommandName.NOT, problem, "x"))
            for problem in CommandProblem
        ),
        *(
            replies.forbidden(row)
            for row in COMMANDS
            if row.name in (CommandName.NOT, CommandName.OF, CommandName.SCAN)
        ),
        replies.rate_limited(20, 600),
        replies.rate_limited(3, 45),
        replies.noted_different(12),
        replies.noted_different(12, already=True),
        replies.noted_different(12, repo="acme/lib"),
        say.not_shown_here(issue=LINKS.issue(12, "acme/lib")),
        replies.closed_for(12, 12),
        replies.closed_for(12, 7),
        say.of_already(issue=LINKS.issue(12)),
        say.itself(),
        say.of_newer(issue=LINKS.issue(12)),
        replies.closed_for(12, 12, closed=True),
        replies.refused_root(12, 7, say.of_newer(issue=LINKS.issue(7))),
        say.of_circle(issue=LINKS.issue(12)),
        say.answered_above(link=f"#issuecomment-{2001}"),
        replies.undone_not(12),
        replies.undone_not(12, holds=True),
        replies.undone_of(12),
        replies.undone_of(12, reopened=False),
        say.undo_nothing(),
        say.muted(),
        say.muted_already(),
        say.muted_recheck(),
        say.unmuted(),
        say.unmuted_already(),
        say.comment_deleted(),
        replies.scan_begun(1_200, 52, say.scan_title(), None),
        replies.scan_begun(1_200, 300, say.scan_title(), 12),
        replies.scan_not_ready(1_200, 17_000),
        replies.scan_not_ready(None, None),
        say.issue_gone(issue=LINKS.issue(12)),
        say.not_an_issue(issue=LINKS.issue(12)),
        replies.github_refused("Issues are disabled."),
        *(replies.settings_problems(wrong[at : at + 10], "acme/app/.github/doppel.yml") for at in range(0, 40, 10)),
        replies.settings_problems(wrong * 2, "acme/app/.github/doppel.yml"),
        replies.settings_problems((TOO_LARGE,), "acme/app/.github/doppel.yml"),
        replies.settings_problems(wrong[:1], "acme/app/.github/doppel.yml", private=True),
        explain(report(queries=QUERIES), CANDIDATES[0], LINKS, say),
        explain(report(problems=PROBLEMS), candidate(12, sources=()), LINKS, say, [CANDIDATES[0]]),
    ]


def scans(say: Messages) -> list[str]:
    """The issue of the backlog scan, with and without groups."""
    at = datetime(2025, 11, 2, tzinfo=UTC)
    members = tuple(
        GroupMember(BacklogIssue(number, "Crash", "open", at), 0.7, (Reason(ReasonCode.WORDS, ("paste",)),))
        for number in range(20, 45)
    )
    groups = tuple(DuplicateGroup(BacklogIssue(number, "Crash", "open", at), members, 3, 1, 1) for number in (1, 2))
    many = groups * 40
    return [
        render_scan(ScanResult(groups, 1_200, False, 0.5), LINKS, CHECKED_AT, say),
        render_scan(ScanResult(many, 17_000, True, 0.5), LINKS, CHECKED_AT, say).splitlines()[-3],
        render_scan(ScanResult((), 1, True, 0.5), LINKS, CHECKED_AT, say),
    ]


def digests(say: Messages) -> list[str]:
    """Digests with every standing, every way in which people say something, and every origin of the threshold."""
    kinds = tuple(FeedbackKind)
    standings = (CommentRating.RIGHT, CommentRating.WRONG, CommentRating.DISPUTED, CommentRating.UNKNOWN)
    at = CHECKED_AT.timestamp()
    lines = tuple(
        DigestLine(100 + n, at, n % 2 == 0, 7, 0.3, standing, kinds[3 * n : 3 * n + 3] if n < 3 else ())
        for n, standing in enumerate(standings)
    )
    many = tuple(
        DigestLine(200 + n, at, True, 7, 0.5, CommentRating.RIGHT, (FeedbackKind.REACTION,))
        for n in range(LINES_MOST + 2)
    )
    found = Digest(at - 604_800, at, 8, 9, 2, 2, 1, 1, lines, asked=3, cost=0.02)
    quiet = Digest(at - 604_800, at, 1, 1, 0, 0, 0, 0, ())
    busy = Digest(at - 604_800, at, 60, 60, len(many), 0, 0, 0, many)
    moved, settings, usual = (
        Threshold(0.3, ThresholdOrigin.FEEDBACK, 1, 8),
        Threshold(0.5, ThresholdOrigin.SETTINGS),
        Threshold(0.2, ThresholdOrigin.USUAL),
    )
    titles, ticked = {100: "Crash on *start*", 7: "Crash @everybody"}, {(100, 7): True}
    return [
        say.digest_title(),
        render_digest(DigestView(found, titles, moved, LINKS, CHECKED_AT, say), ticked),
        render_digest(DigestView(quiet, {}, settings, LINKS, CHECKED_AT, say), {}),
        render_digest(DigestView(busy, {}, usual, LINKS, CHECKED_AT, say), {})[-200:],
        *("\n".join(DigestView(quiet, {}, usual, LINKS, CHECKED_AT, say, ill).summary()) for ill in Illness),
        say.bar_moved(bar=0.3, usual=0.2),
    ]


def everything(say: Messages) -> str:
    """All of it as one page."""
    replies = [render_reply(5, [("/duplicates help", answer)]) for answer in answers(say)]
    return "\n".join([*comments(say), *replies, *scans(say), *digests(say), ""])


if __name__ == "__main__":
    for language in LANGUAGES:
        (SNAPSHOTS / f"{language}.md").write_text(everything(messages_for(language, {})), encoding="utf-8")
