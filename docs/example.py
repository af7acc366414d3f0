"""A made-up report, and the comment that comes of it: docs/example-comment.md shows what people will read."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.conversation.render.comment import CommentView, render_comment
from bot.domain.entities import Closer
from bot.domain.report import Candidate, QueryRun, Reason, ReasonCode, Report, SearchOutcome

CHECKED_AT = datetime(2026, 3, 9, 10, 23, 45, tzinfo=UTC)

REPORT = Report(
    repo="larkspool/larkspool",
    number=412,
    title="Sync stops with ECONNRESET behind a proxy",
    outcome=SearchOutcome.FOUND,
    candidates=(
        Candidate(
            number=287,
            title="Sync never finishes behind a corporate proxy (ECONNRESET)",
            url="https://github.com/larkspool/larkspool/issues/287",
            state="open",
            state_reason=None,
            labels=("sync",),
            created_at=datetime(2025, 11, 2, tzinfo=UTC),
            similarity=0.58,
            title_ratio=0.83,
            relevance=0.91,
            confidence=0.91,
            workflow_state="Planned",
            reasons=(
                Reason(ReasonCode.MESSAGE, ("read ECONNRESET at TLSWrap.onStreamRead",)),
                Reason(
                    ReasonCode.IDENTIFIERS,
                    (
                        "syncQueue.flush",
                        "HTTPS_PROXY",
                    ),
                ),
            ),
            sources=("github-search", "github-hybrid"),
        ),
        Candidate(
            number=103,
            title="`larks sync` ignores HTTPS_PROXY",
            url="https://github.com/larkspool/larkspool/issues/103",
            state="closed",
            state_reason="completed",
            labels=("sync", "network"),
            created_at=datetime(2025, 2, 17, tzinfo=UTC),
            closed_at=datetime(2025, 3, 1, tzinfo=UTC),
            similarity=0.34,
            title_ratio=0.51,
            relevance=0.62,
            confidence=0.41,
            reasons=(Reason(ReasonCode.IDENTIFIERS, ("HTTPS_PROXY",)),),
            sources=("github-search",),
        ),
    ),
    search_query="repo:larkspool/larkspool is:issue in:title Sync stops ECONNRESET behind proxy",
    queries=(
        QueryRun("github-search", "repo:larkspool/larkspool is:issue in:title Sync stops ECONNRESET behind proxy", 0),
        QueryRun("github-search", "repo:larkspool/larkspool is:issue ECONNRESET proxy", 6),
        QueryRun("github-search", 'repo:larkspool/larkspool is:issue "read ECONNRESET"', 3),
        QueryRun("github-hybrid", "repo:larkspool/larkspool is:issue Sync stops with ECONNRESET behind a proxy", 21),
    ),
    relevance="learned",
)


def page() -> str:
    """The text of docs/example-comment.md: the comment as GitHub renders it, and its source."""
    comment = render_comment(REPORT, CommentView(CHECKED_AT, closers={103: Closer(pull=108)}))
    shown = comment.split("\n", 1)[1].strip()
    return (
        "# What a comment looks like\n\n"
        f"Under “{REPORT.title}”, a new issue of a made-up project, Doppel writes:\n\n"
        "---\n\n"
        f"{shown}\n\n"
        "---\n\n"
        "The same as it is sent, with the hidden first line by which the bot finds its comment again:\n\n"
        f"~~~markdown\n{comment}~~~\n"
    )
