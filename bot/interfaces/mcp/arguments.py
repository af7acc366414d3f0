"""The types of the tools' arguments, with their descriptions for clients, and two helpers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BeforeValidator, Field

from bot.domain.entities import NOBODY, NUMBER_MAX, Actor, Issue, RepoRef


def _no_bool(value: object) -> object:
    """F1: reject `true`, which Python and pydantic would take for 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")
    return value


# Put this after the limits in `Annotated`: before them it would hide the limits from the clients' schema.
Numeric = BeforeValidator(_no_bool)
Owner = Annotated[str | None, Field(description="Default: the server's.")]
Repo = Annotated[str | None, Field(description="Or OWNER/REPO. Default: the server's.")]
Number = Annotated[int, Field(description="As in #12.", ge=1), Numeric]
Threshold = Annotated[float, Field(description="Least similarity of titles.", ge=0, le=1), Numeric]
MinConfidence = Annotated[float, Field(description="Least confidence.", ge=0, le=1), Numeric]
MaxCandidates = Annotated[int, Field(description="The most candidates.", ge=1, le=100), Numeric]
IncludeClosed = Annotated[bool, Field(description="Closed ones too.")]
Fresh = Annotated[bool, Field(description="Not from memory.")]
Judge = Annotated[bool, Field(description="A language model reads the candidates.")]
Relevance = Annotated[
    Literal["learned", "title", "bm25", "bm25f", "bm25plus"],
    Field(description="The sort order; learned is best."),
]
Sources = Annotated[tuple[str, ...], Field(description="Only what these found, such as full-text.")]


def session_of(context: Context[str, Any]) -> str | None:
    """The caller's session; None over HTTP without a session, as in "modern" protocol versions.

    Without HTTP, the id comes from the server's `lifespan`. Over HTTP, a header has the id, which the SDK checks.
    """
    if context.headers is None:
        return context.request_context.lifespan_context
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return None
    return context.headers.get("mcp-session-id")


def draft_issue(repo: RepoRef, latest: Issue | None, title: str, body: str, now: datetime) -> Issue:
    """The draft as an issue filed now. Its address is derived from the `latest` issue's.

    No issue has the draft's number. The next number would not do: a pull request or a newer issue may already have it.
    """
    return Issue(
        repo=repo,
        id=0,
        node_id="",
        number=NUMBER_MAX,
        title=title,
        body=body,
        state="open",
        state_reason=None,
        author=Actor(NOBODY),
        labels=(),
        created_at=now,
        updated_at=now,
        closed_at=None,
        url=f"{latest.url.rsplit('/', 2)[0]}/issues/{NUMBER_MAX}" if latest else "",
    )
