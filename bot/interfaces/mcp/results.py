"""The tools' answers. The schemas that clients see are made from these; models read the fields' texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from bot.conversation.render.escape import clean
from bot.conversation.render.phrases import strongest
from bot.domain.entities import Issue
from bot.domain.likelihood import Likelihood, likelihood
from bot.domain.report import Candidate, Report
from bot.interfaces.agents.deduplication import Merge
from bot.quality.known_issues import CommentPreview
from bot.quality.scanning.groups import BacklogIssue, DuplicateGroup, ScanResult

_LINE_MAX = 1_000
EXCERPT, GLANCE = 300, 100
"""Characters of a candidate's text, and of that of an unlikely one among others."""

MOST = 600
"""Characters of an answer for each candidate, of five at least: a model pays for every one of them."""
_TITLE, _REASON = 150, 120
# So much of each candidate's text, and so many reasons, until an answer is short enough.
_STEPS = ((EXCERPT, 5), (150, 3), (80, 1))


def _cleaned(value: Any) -> Any:
    """Strangers' text as people see it, without what is invisible or controls a terminal."""
    return clean(value, _LINE_MAX) if isinstance(value, str) else value


Line = Annotated[str, BeforeValidator(_cleaned)]


class Lean(BaseModel):
    """Leaves out optional fields that are blank: a model pays for every token."""

    @model_serializer(mode="wrap")
    def _without_blanks(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        # Whether it is one of minutes ago every answer says.
        return {
            name: value
            for name, value in write(self).items()
            if name in ToolAnswer.model_fields or fields[name].is_required() or not _is_blank(value)
        }


def _is_blank(value: Any) -> bool:
    # A number never is, though to Python 0 is False.
    return value is None or value is False or value in ("", [])


class ToolAnswer(Lean):
    """What all answers have in common (T2)."""

    cached: bool = False
    note: str = ""


class IssueSummary(Lean):
    """The issue that was asked about; for a draft only its repository."""

    repository: str
    number: int | None = None
    title: Line = ""


class CandidateResult(Lean):
    """An issue that may report the same thing; with some settings also a pull request or another repository's issue.

    `also` are others that were marked as duplicates of it, or it of them; `named` says that the target's text names it,
    `later` that it came after the target. `excerpt` is how its text begins, without the boilerplate of forms.
    """

    number: int
    repo: str = Field(default="", description="if another")
    kind: str = Field(default="", description="if no issue")
    title: Line
    url: str = Field(default="", description="if not issues_url + number")
    state: str
    state_reason: str | None = None
    confidence: float | None = None
    likelihood: str = ""
    later: bool = Field(default=False, description="is no earlier report")
    named: bool = Field(default=False, description="in the issue's text")
    also: list[int] = Field(default=[], description="its duplicates")
    workflow_state: Line = ""
    reasons: list[Line] = []
    excerpt: str = ""

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        target: Issue,
        likely: float,
        text: str,
        *,
        alone: bool = False,
        excerpt: int = EXCERPT,
        reasons: int | None = None,
    ) -> CandidateResult:
        """A candidate for the target with the beginning of its `text`; `likely` is as in `CommentPreview`.

        An unlikely candidate gets only a glance, unless it is asked about `alone`.
        """
        confidence = candidate.confidence
        word = None if confidence is None else likelihood(confidence, likely)
        glance = word is Likelihood.UNLIKELY and not alone
        return cls(
            number=candidate.number,
            repo=candidate.repo,
            kind="" if candidate.kind == "issue" else candidate.kind,
            title=candidate.title if alone else clean(candidate.title, _TITLE),
            url="" if candidate.own else candidate.url,
            state=candidate.state,
            state_reason=candidate.state_reason,
            confidence=None if confidence is None else round(confidence, 2),
            likelihood=word.value if word else "",
            # By the same rule as `FindOptions.may_mention`.
            later=candidate.created_at > target.created_at or (not candidate.repo and candidate.number > target.number),
            named=candidate.named,
            also=list(candidate.also),
            workflow_state=candidate.workflow_state or "",
            reasons=[]
            if glance
            else [str(one) if alone else clean(str(one), _REASON) for one in candidate.reasons[:reasons]],
            excerpt=clean(text, min(GLANCE, excerpt) if glance else excerpt),
        )


class FindAnswer(ToolAnswer):
    """What was found, and how far it can be trusted."""

    issue: IssueSummary
    outcome: str = Field(description="found, none, inconclusive (not asked properly), degraded (a source failed)")
    problems: list[Line] = []
    candidates: list[CandidateResult]
    candidate_count: int
    named_unasked: list[str] = Field(default=[], description="by the bot, listed or not")
    silence: Line = Field(default="", description="why it would not say it")
    not_asked: list[str] = Field(default=[], description="of sources")
    search_query: Line
    issues_url: str = ""

    @classmethod
    def of(
        cls, report: Report, target: Issue, bots: CommentPreview, texts: Sequence[str], *, draft: bool = False
    ) -> FindAnswer:
        """A report, with the text of each candidate and what the bot would do (P6)."""
        steps = (cls._of(report, target, bots, texts, draft, *step) for step in _STEPS)
        most = MOST * max(5, len(report.candidates))
        made = next(steps)
        while len(made.model_dump_json().encode()) > most and (shorter := next(steps, None)):
            made = shorter
        return made

    @classmethod
    def _of(
        cls,
        report: Report,
        target: Issue,
        bots: CommentPreview,
        texts: Sequence[str],
        draft: bool,
        excerpt: int,
        reasons: int,
    ) -> FindAnswer:
        found = report.candidates
        return cls(
            issue=_summary(target, draft=draft),
            outcome=report.outcome.value,
            problems=list(map(str, report.problems)),
            candidates=[
                CandidateResult.of(one, target, bots.likely, text, excerpt=excerpt, reasons=reasons)
                for one, text in zip(found, texts, strict=True)
            ],
            candidate_count=len(found),
            named_unasked=[f"{one.repo}#{one.number}" for one in bots.named],
            silence=bots.silence,
            not_asked=list(report.not_asked),
            search_query=report.search_query,
            issues_url=target.url[: target.url.rfind("/") + 1] if found else "",
        )


class Comparison(ToolAnswer):
    """How two issues compare."""

    issue: IssueSummary
    other: CandidateResult

    @classmethod
    def of(cls, target: Issue, other: Candidate, likely: float, text: str) -> Comparison:
        """One issue, and the other as a candidate for it; `likely` as in `CommentPreview`."""
        return cls(issue=_summary(target), other=CandidateResult.of(other, target, likely, text, alone=True))


def _summary(target: Issue, *, draft: bool = False) -> IssueSummary:
    if draft:
        return IssueSummary(repository=str(target.repo))
    return IssueSummary(repository=str(target.repo), number=target.number, title=target.title)


class BacklogEntry(Lean):
    number: int
    title: Line
    state: str


class BacklogMember(BacklogEntry):
    """An issue that may repeat the original of its group."""

    confidence: float
    likelihood: str
    reasons: list[Line] = []


class BacklogGroup(Lean):
    """Issues that may report the same thing: the oldest, then the others by age. Counts are sums over all of them."""

    original: BacklogEntry
    members: list[BacklogMember]
    closable: int
    thumbs_up: int
    thumbs_down: int
    comments: int

    @classmethod
    def of(cls, group: DuplicateGroup, likely: float) -> BacklogGroup:
        """A group; `likely` is where the upper tier begins in the repository."""
        members = [
            BacklogMember(
                **_backlog_issue(member.entry),
                confidence=round(member.confidence, 2),
                likelihood=likelihood(member.confidence, likely),
                reasons=list(map(str, strongest(member.reasons))),
            )
            for member in group.members
        ]
        return cls(
            original=BacklogEntry(**_backlog_issue(group.original)),
            members=members,
            closable=group.closable,
            thumbs_up=group.thumbs_up,
            thumbs_down=group.thumbs_down,
            comments=group.comments,
        )


class BacklogAnswer(ToolAnswer):
    """The groups a maintainer gains most by, and how many there are."""

    repository: str
    issues: int
    groups: list[BacklogGroup]
    group_count: int = Field(description="beyond limit too")
    closable: int

    @classmethod
    def of(cls, repository: str, result: ScanResult, limit: int, likely: float) -> BacklogAnswer:
        return cls(
            repository=repository,
            issues=result.issues,
            groups=[BacklogGroup.of(group, likely) for group in result.groups[:limit]],
            group_count=len(result.groups),
            closable=result.closable,
        )


def _backlog_issue(entry: BacklogIssue) -> dict[str, Any]:
    return {"number": entry.number, "title": entry.title, "state": entry.state}


class MergeResult(BaseModel):
    """An entry that stayed, and those that went into it."""

    name: str
    section: str
    absorbed: list[dict[str, Any]]

    @classmethod
    def of(cls, merge: Merge) -> MergeResult:
        return cls.model_validate(merge.to_json())


class DedupedPlaybook(ToolAnswer):
    """The playbook after merging, and what was merged; `model` is empty if there was nothing to compare."""

    playbook: dict[str, Any]
    merges: list[MergeResult]
    entries_before: int
    entries_after: int
    model: str
    min_similarity: float


class Closed(ToolAnswer):
    """An issue that was closed as a duplicate."""

    number: int
    original: int
    url: str
