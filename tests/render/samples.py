"""Reports for the tests of comments, with values that can be changed one by one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.conversation.render.comment import CommentView
from bot.domain.report import Candidate, Evidence, QueryRun, Report, SearchOutcome

CHECKED_AT = datetime(2026, 3, 9, 10, 23, 45, tzinfo=UTC)

QUERY = QueryRun("github-search", "repo:acme/app is:issue crash paste", 12)


def candidate(number: int = 118, title: str = "Crash when pasting an image", **values: Any) -> Candidate:
    """An open candidate without a confidence, unless `values` say otherwise."""
    usual: dict[str, Any] = {
        "url": f"https://github.com/acme/app/issues/{number}",
        "state": "open",
        "state_reason": None,
        "labels": (),
        "created_at": datetime(2025, 11, 2, tzinfo=UTC),
        "similarity": 0.64,
        "title_ratio": 0.81,
        "relevance": 1.0,
        "sources": ("github-search",),
    }
    return Candidate(number=number, title=title, **(usual | values))


CLOSED: dict[str, Any] = {"state": "closed", "closed_at": datetime(2026, 1, 20, tzinfo=UTC)}


def considered(number: int, probability: float, **values: Any) -> Evidence:
    """One of the best that were compared."""
    usual: dict[str, Any] = {"titles": (0.64, 0.81), "sources": {"full-text": None}}
    return Evidence(number, probability, 1, False, **(usual | values))


def report(*candidates: Candidate, **values: Any) -> Report:
    """What was found for acme/app#200, with one query, unless `values` say otherwise."""
    usual: dict[str, Any] = {
        "repo": "acme/app",
        "number": 200,
        "title": "The editor crashes on pasting a big image",
        "outcome": SearchOutcome.FOUND if candidates else SearchOutcome.NONE,
        "search_query": QUERY.query,
        "queries": (QUERY,),
    }
    return Report(candidates=candidates, **(usual | values))


def view(**values: Any) -> CommentView:
    """The view of a check on 9 March 2026, where the bot speaks from 20% on."""
    return CommentView(CHECKED_AT, **({"threshold": 0.2} | values))
