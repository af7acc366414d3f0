"""An issue or pull request in the search engine, and the engine's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

SearchType = Literal["lexical", "semantic", "hybrid"]


@dataclass(frozen=True, slots=True)
class Document:
    """One issue or pull request. `id` is the database id, unique over all repositories; times are aware (UTC).

    `repo` is `owner/name` in the owner's spelling. `commenters` are the logins of the comments' authors, in any order.
    The logins of Apps end in `[bot]`. `reactions` counts all reactions; `reactions_by_content` counts the
    reactions of each content (`+1`, `heart`, …).
    """

    id: int
    repo: str
    number: int
    title: str
    body: str
    created_at: datetime
    updated_at: datetime
    comments: tuple[str, ...] = ()
    commenters: tuple[str, ...] = ()
    is_pull_request: bool = False
    issue_type: str = ""
    state: str = "open"
    state_reason: str | None = None
    author: str = ""
    assignees: tuple[str, ...] = ()
    milestone: str = ""
    labels: tuple[str, ...] = ()
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    draft: bool = False
    locked: bool = False
    reactions: int = 0
    reactions_by_content: Mapping[str, int] = field(default_factory=dict)
    comment_count: int = 0


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """The repository's properties that `is:private`, `is:public` and `archived:` test."""

    private: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """One page of an answer, in the order asked for. `scores[i]` belongs to `ids[i]`. `total_count` covers all pages.

    `search_type` is the type of search that ran; if it differs from the requested type, `fallback_reasons` says why, in
    GitHub's words. No search sets `incomplete_results`; only the fault of that name (`faults.py`) does, in REST.
    """

    total_count: int
    ids: list[int]
    scores: list[float]
    search_type: SearchType = "lexical"
    fallback_reasons: tuple[str, ...] = ()
    incomplete_results: bool = False
