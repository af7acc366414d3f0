"""The tools' answers. Pydantic makes schemas from these classes; language models read the fields' descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from bot.conversation.render.escape import clean
from bot.conversation.render.phrases import strongest
from bot.domain.entities import Issue
from bot.domain.likelihood import Likelihood, likelihood
from bot.domain.report import Candidate, Report
from bot.interfaces.agents.deduplication import Merge
from bot.quality.known_repository import CommentPreview
from bot.quality.scanning.groups import DuplicateGroup, ScanResult

_LINE_MAX, _TITLE_MAX, _REASON_MAX = 1_000, 150, 120
EXCERPT, GLANCE = 300, 100
"""The most characters of a candidate's text in an answer. GLANCE is for unlikely candidates in a list."""

BYTES_PER_CANDIDATE = 600
"""The target size in bytes per candidate: models pay by token. Fewer than five candidates count as five."""
# Limits for a candidate, in pairs (characters of text, reasons). An answer takes the first that fits, or the last.
_STEPS = ((EXCERPT, 5), (150, 3), (80, 1))

# Text by strangers, without invisible or control characters.
Line = Annotated[str, BeforeValidator(lambda text: clean(text, _LINE_MAX) if isinstance(text, str) else text)]


class Lean(BaseModel):
    """An object that leaves out its blank optional fields."""

    @model_serializer(mode="wrap")
    def _without_blanks(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        # `cached` and `note` are never left out.
        return {
            name: value
            for name, value in write(self).items()
            if name in ToolAnswer.model_fields or fields[name].is_required() or not _is_blank(value)
        }


def _is_blank(value: Any) -> bool:
    # A number is never blank, though in Python 0 == False.
    return value is None or value is False or value in ("", [])


class ToolAnswer(Lean):
    """The fields that all answers share (T2)."""

    cached: bool = False
    note: str = ""


class IssueSummary(Lean):
    """The issue that was asked about; for a draft only its repository."""

    repository: str
    number: int | None = None
    title: Line = ""


class CandidateResult(Lean):
    """An issue that may report the same thing. Some settings allow pull requests and other repositories' issues too.

    The target is the issue that was asked about. `also` are issues marked as the candidate's duplicates or originals.
    `named`: the target's text mentions the candidate. `later`: the candidate came after the target. `excerpt` is the
    beginning of the candidate's text, without the boilerplate of forms.
    """

    # Each description continues its field's name ("repo: if another"), and is short: a model pays for every token.
    number: int
    repo: str = Field(default="", description="if another")
    kind: str = Field(default="", description="if no issue")
    title: Line
    url: str = Field(default="", description="if not issues_url + number")
    state: str
    state_reason: str | None = None
    confidence: float | None = None
    likelihood: str = ""
    verdict: str = Field(default="", description="the judge's")
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
        """Convert a candidate for an answer. The candidate is called likely if its confidence is at least `likely`.

        `excerpt` limits the characters of `text`, and `reasons` the number of reasons (None: all). `alone` says that
        the answer has only this candidate. Otherwise an unlikely candidate gets no reasons and little text.
        """
        confidence = candidate.confidence
        word = None if confidence is None else likelihood(confidence, likely)
        glance = word is Likelihood.UNLIKELY and not alone
        return cls(
            number=candidate.number,
            repo=candidate.repo,
            kind="" if candidate.kind == "issue" else candidate.kind,
            title=candidate.title if alone else clean(candidate.title, _TITLE_MAX),
            url="" if candidate.own else candidate.url,
            state=candidate.state,
            state_reason=candidate.state_reason,
            confidence=None if confidence is None else round(confidence, 2),
            likelihood=word.value if word else "",
            verdict=candidate.verdict or "",
            # The same rule as in `FindOptions.may_mention`.
            later=candidate.created_at > target.created_at or (not candidate.repo and candidate.number > target.number),
            named=candidate.named,
            also=list(candidate.also),
            workflow_state=candidate.workflow_state or "",
            reasons=[]
            if glance
            else [str(one) if alone else clean(str(one), _REASON_MAX) for one in candidate.reasons[:reasons]],
            excerpt=clean(text, min(GLANCE, excerpt) if glance else excerpt),
        )


class FindAnswer(ToolAnswer):
    """The result of a search, and how reliable it is."""

    issue: IssueSummary
    # `bot.domain.report.SearchOutcome` explains the outcomes.
    outcome: str = Field(description="found, none, inconclusive (not asked properly), degraded (a source failed)")
    problems: list[Line] = []
    candidates: list[CandidateResult]
    candidate_count: int
    named_unasked: list[str] = Field([], description="by the bot's comment, even if not in candidates")
    silence: Line = Field(default="", description="why the bot would not comment unasked")
    not_asked: list[str] = Field(default=[], description="sources that could not be asked")
    search_query: Line
    issues_url: str = ""

    @classmethod
    def of(
        cls, report: Report, target: Issue, preview: CommentPreview, texts: Sequence[str], *, draft: bool = False
    ) -> FindAnswer:
        """The answer for a report, with each candidate's text and a preview of the bot's comment (P6)."""
        candidates = report.candidates

        def shortened(excerpt: int, reasons: int) -> FindAnswer:
            return cls(
                issue=_summary(target, draft=draft),
                outcome=report.outcome.value,
                problems=list(map(str, report.problems)),
                candidates=[
                    CandidateResult.of(one, target, preview.likely, text, excerpt=excerpt, reasons=reasons)
                    for one, text in zip(candidates, texts, strict=True)
                ],
                candidate_count=len(candidates),
                named_unasked=[f"{one.repo}#{one.number}" for one in preview.named],
                silence=preview.silence,
                not_asked=list(report.not_asked),
                search_query=report.search_query,
                issues_url=target.url[: target.url.rfind("/") + 1] if candidates else "",
            )

        limit = BYTES_PER_CANDIDATE * max(5, len(candidates))
        for excerpt, reasons in _STEPS:
            answer = shortened(excerpt, reasons)
            if len(answer.model_dump_json().encode()) <= limit:
                break
        return answer


class Comparison(ToolAnswer):
    """The comparison of two issues."""

    issue: IssueSummary
    other: CandidateResult

    @classmethod
    def of(cls, target: Issue, other: Candidate, likely: float, text: str) -> Comparison:
        """The target, and the other issue as a candidate for it; `likely` is as in `CandidateResult.of`."""
        return cls(issue=_summary(target), other=CandidateResult.of(other, target, likely, text, alone=True))


def _summary(target: Issue, *, draft: bool = False) -> IssueSummary:
    if draft:
        return IssueSummary(repository=str(target.repo))
    return IssueSummary(repository=str(target.repo), number=target.number, title=target.title)


class BacklogEntry(Lean):
    model_config = ConfigDict(from_attributes=True)

    number: int
    title: Line
    state: str


class BacklogMember(BacklogEntry):
    """An issue that may repeat the original of its group."""

    confidence: float
    likelihood: str
    reasons: list[Line] = []


class BacklogGroup(Lean):
    """An original and its members, oldest first. Reactions and comments are sums; `closable` counts open members."""

    original: BacklogEntry
    members: list[BacklogMember]
    closable: int
    thumbs_up: int
    thumbs_down: int
    comments: int

    @classmethod
    def of(cls, group: DuplicateGroup, likely: float) -> BacklogGroup:
        """Convert a group for an answer; `likely` is the repository's threshold for "likely"."""
        members = [
            BacklogMember(
                number=member.entry.number,
                title=member.entry.title,
                state=member.entry.state,
                confidence=round(member.confidence, 2),
                likelihood=likelihood(member.confidence, likely),
                reasons=list(map(str, strongest(member.reasons))),
            )
            for member in group.members
        ]
        return cls(
            original=BacklogEntry.model_validate(group.original),
            members=members,
            closable=group.closable,
            thumbs_up=group.thumbs_up,
            thumbs_down=group.thumbs_down,
            comments=group.comments,
        )


class BacklogAnswer(ToolAnswer):
    """The most useful groups for a maintainer, and the number of all groups."""

    repository: str
    issues: int
    groups: list[BacklogGroup]
    group_count: int = Field(description="including groups beyond limit")
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


class MergeResult(BaseModel):
    """An entry and those it absorbed. If one's `similarity` is too low, `through` names its closest in the group."""

    name: str
    section: str
    absorbed: list[dict[str, Any]]

    @classmethod
    def of(cls, merge: Merge) -> MergeResult:
        absorbed = [
            {
                "name": one.entry.name,
                "section": one.entry.section,
                "text": one.entry.text,
                "similarity": round(one.similarity, 4),
                "through": one.through.name if one.through else None,
            }
            for one in merge.absorbed
        ]
        return cls(name=merge.survivor.name, section=merge.survivor.section, absorbed=absorbed)


class DedupedPlaybook(ToolAnswer):
    """The playbook after merging, and the merges; `model` is empty if there was nothing to compare."""

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
