"""The issues most similar to an issue, in repositories where GitHub ranks them.

GitHub's manual does not describe this yet. The simulator follows the requests and answers in github/github-mcp-server
(`pkg/github/find_duplicate.go`, August 2026).
"""

from __future__ import annotations

import re

from bot.simulator.errors import ApiError, forbidden, gone, invalid, not_found
from bot.simulator.http.context import Context
from bot.simulator.http.operation import READ_ISSUES
from bot.simulator.http.reply import Reply
from bot.simulator.http.routing import Routes
from bot.simulator.payloads import Json
from bot.simulator.payloads.issues import issue
from bot.simulator.state.issues import Issue

ROUTES = Routes()

# As on GitHub: a score can exceed 1, and the default threshold is so high that it leaves out some similar issues.
_DEFAULT_THRESHOLD, _MEDIUM, _HIGH = 0.6, 1.0, 1.4


@ROUTES.add("GET", "/repos/<owner>/<repo>/issues/<int:number>/semantically_similar", permissions=READ_ISSUES)
def similar_issues(ctx: Context) -> Reply:
    """The repository's issues that are most similar to this one, best first."""
    target = ctx.issue()
    # The kind of answer: "ranked", "bare" (issues without scores), or the status of a refusal.
    similarity = target.repository.similarity
    if not isinstance(similarity, str):
        raise _refusal(similarity)
    try:
        threshold = float(ctx.query.get("threshold", _DEFAULT_THRESHOLD))
    except ValueError:
        raise invalid("Issue", "threshold", "invalid", value=ctx.query["threshold"]) from None
    others = (one for one in ctx.sim.issues_of(target.repository) if one is not target and not one.is_pull_request)
    scored = [(score, one) for one in others if (score := _score(target, one)) >= threshold]
    scored.sort(key=lambda pair: (-pair[0], pair[1].number))

    def show(pair: tuple[float, Issue]) -> Json:
        score, one = pair
        shown = issue(ctx.sim, one)
        if similarity == "bare":
            return shown
        confidence = "high" if score >= _HIGH else "medium" if score >= _MEDIUM else "low"
        return {"issue": shown, "score": score, "confidence": confidence, "likely_duplicate": score >= _HIGH}

    return ctx.page(scored, show)


def _score(one: Issue, other: Issue) -> float:
    """From 0 to 2: the Dice coefficient of the titles' words, plus the coefficient of the whole texts' words."""
    return _dice(one.title, other.title) + _dice(_text(one), _text(other))


def _dice(one: str, other: str) -> float:
    mine, theirs = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return 2 * len(mine & theirs) / (len(mine) + len(theirs)) if mine and theirs else 0.0


def _text(entry: Issue) -> str:
    return f"{entry.title} {entry.body or ''}"


def _refusal(status: int) -> ApiError:
    if status == 403:
        return forbidden("Resource not accessible by integration")
    return gone("This endpoint is no longer available.") if status == 410 else not_found()
