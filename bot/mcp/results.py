"""What the tools answer. The schemas that clients are shown are made from these; field texts are read by models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bot.knowledge.account import Merge
from bot.render.escape import clean
from bot.report import Candidate, Report
from bot.scanning.model import Result

_LINE_MAX = 1_000


def _cleaned(value: Any) -> Any:
    """What strangers may have written, as people see it: a model would read what is invisible, a terminal obey it."""
    return clean(value, _LINE_MAX) if isinstance(value, str) else value


Line = Annotated[str, BeforeValidator(_cleaned)]


class Answer(BaseModel):
    """What all answers have in common (T2)."""

    cached: bool = Field(default=False, description="True if this is the answer to the same call some minutes ago.")
    note: str = Field(default="", description="When a cached answer was given; empty for a new one.")


class IssueSummary(BaseModel):
    """The issue that was asked about."""

    repository: str
    number: int | None = Field(description="null for a draft")
    title: Line


class CandidateResult(BaseModel):
    """An issue that may report the same thing; where the repository's settings want it, also what is no issue there."""

    model_config = ConfigDict(extra="allow")

    number: int
    repo: str = Field(description="OWNER/REPO where the number is another repository's, else empty")
    kind: str = Field(description="issue, pull request or discussion")
    title: Line
    url: str
    state: str = Field(description="open or closed")
    state_reason: str | None = Field(description="why it was closed: completed, not_planned, duplicate")
    confidence: float | None = Field(description="learned probability, 0 to 1, that it is the same issue")
    similarity: float = Field(description="similarity of the titles alone, 0 to 1")
    reasons: list[Line] = Field(description="what speaks for it, strongest first")
    labels: list[Line]
    created_at: str
    workflow_state: str | None


class Findings(Answer):
    """What was found, and how far it can be trusted."""

    model_config = ConfigDict(extra="allow")

    issue: IssueSummary
    outcome: str = Field(
        description="found; none; inconclusive: it could not be asked properly; degraded: a source failed, see problems"
    )
    candidates: list[CandidateResult] = Field(description="likeliest first")
    candidate_count: int
    search_query: Line
    queries: list[dict[str, Annotated[Any, BeforeValidator(_cleaned)]]] = Field(
        description="every query with the number of its hits"
    )
    problems: list[Line] = Field(description="what could not be asked, and why")

    @classmethod
    def of(cls, report: Report, number: int | None) -> Findings:
        """A report as F7 serialises it, with the number of the issue, which a draft has none of."""
        data = report.to_json()
        data["issue"] = {**data["issue"], "number": number}
        return cls.model_validate(data)


class Comparison(Answer):
    """How two issues compare."""

    issue: IssueSummary
    other: CandidateResult

    @classmethod
    def of(cls, repository: str, number: int, title: str, other: Candidate) -> Comparison:
        """One issue, and the other as a candidate for it."""
        data = {name: getattr(other, name) for name in CandidateResult.model_fields}
        data |= {"created_at": other.created_at.isoformat(), "reasons": list(other.reasons)}
        data["labels"] = list(other.labels)
        issue = IssueSummary(repository=repository, number=number, title=title)
        return cls(issue=issue, other=CandidateResult.model_validate(data))


class BacklogIssue(BaseModel):
    """An issue of the backlog, with what people gave it."""

    number: int
    title: Line
    state: str = Field(description="open or closed")
    created_at: str
    thumbs_up: int
    thumbs_down: int
    comments: int


class BacklogMember(BacklogIssue):
    """An issue that may repeat the original of its group."""

    confidence: float = Field(description="learned probability, 0 to 1, that it is the same issue as the original")
    reasons: list[Line] = Field(description="what speaks for it, strongest first")


class BacklogGroup(BaseModel):
    """Issues that may report the same thing. The counts are sums over the original and all members."""

    original: BacklogIssue = Field(description="the oldest, proposed as the one to keep")
    members: list[BacklogMember] = Field(description="oldest first")
    closable: int = Field(description="how many members are open and could be closed in favour of the original")
    gain: float = Field(description="what the groups are sorted by; likely members that many care for count most")
    thumbs_up: int
    thumbs_down: int
    comments: int


class Backlog(Answer):
    """What a look through the backlog found."""

    repository: str
    issues: int = Field(description="how many issues were looked through")
    include_closed: bool
    threshold: float
    groups: list[BacklogGroup] = Field(description="those first by which a maintainer gains most; at most `limit`")
    group_count: int = Field(description="how many groups there are, also beyond `limit`")
    closable: int = Field(description="how many issues could be closed, in all groups together")

    @classmethod
    def of(cls, repository: str, result: Result, limit: int) -> Backlog:
        """The first groups of a scan's result."""
        return cls(
            repository=repository,
            issues=result.issues,
            include_closed=result.closed,
            threshold=result.threshold,
            groups=[BacklogGroup.model_validate(group.to_json()) for group in result.groups[:limit]],
            group_count=len(result.groups),
            closable=result.closable,
        )


class MergeResult(BaseModel):
    """An entry that stayed, and those that went into it."""

    name: str
    section: str
    text: str
    helpful: int
    harmful: int
    absorbed: list[dict[str, Any]] = Field(description="name, section, text and cosine similarity of each")

    @classmethod
    def of(cls, merge: Merge) -> MergeResult:
        return cls.model_validate(merge.to_json())


class DedupedPlaybook(Answer):
    """The playbook after merging, and what was merged."""

    playbook: dict[str, Any]
    merges: list[MergeResult]
    entries_before: int
    entries_after: int
    model: str = Field(description="the embedding model that decided; empty if there was nothing to compare")
    threshold: float


class Closed(Answer):
    """An issue that was closed as a duplicate."""

    number: int
    original: int
    url: str
