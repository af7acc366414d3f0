"""What a run tells: the job's summary for people, the outputs for later steps, and what is wrong for both.

Titles are other people's text: in the summary they are escaped, and no output holds any.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bot.conversation.render.escape import RepoLinks, escape
from bot.domain.decisions import Decision, DecisionOutcome, Evidence
from bot.domain.likelihood import likelihood
from bot.storage.repositories import Progress

NONE, FAILED = "none", "failed"
"""Outcomes of a run that has looked at no issue, and of one that could not do what it was to."""

_DID = {
    DecisionOutcome.POSTED: "It has a comment now",
    DecisionOutcome.EDITED: "Its comment says something else now",
    DecisionOutcome.UNCHANGED: "Its comment stays as it is",
    DecisionOutcome.SHADOW: "`mode: shadow`: it would have got a comment",
    DecisionOutcome.SILENT: "No comment",
    DecisionOutcome.LEFT_ALONE: "It was left alone",
}


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a run.

    `number` is the issue that it was about, 0 for none, `decision` its look at it, `titles` those of the candidates.
    `lines` are further sentences in Markdown, `problems` what somebody has to mend, as plain text.
    """

    place: RepoLinks
    pages: str
    number: int = 0
    decision: Decision | None = None
    comment_id: int | None = None
    titles: Mapping[int, str] = field(default_factory=dict)
    progress: Progress | None = None
    lines: Sequence[str] = ()
    problems: Sequence[str] = ()
    failed: bool = False

    @property
    def outcome(self) -> str:
        """In a word."""
        if self.failed:
            return FAILED
        return self.decision.outcome.value if self.decision else NONE

    @property
    def comment_url(self) -> str:
        """Where the comment stands, empty where there is none."""
        if self.comment_id is None:
            return ""
        return f"{self.pages}/{self.place.repo}/issues/{self.number}#issuecomment-{self.comment_id}"

    @property
    def named(self) -> tuple[Evidence, ...]:
        """What the comment names, or would name."""
        return tuple(one for one in self.decision.evidence if one.shown) if self.decision else ()

    def url(self, one: Evidence) -> str:
        """The page of a candidate."""
        kind = {"pull request": "pull", "discussion": "discussions"}.get(one.kind, "issues")
        return f"{self.pages}/{one.repo or self.place.repo}/{kind}/{one.number}"


def outputs(run: Run) -> dict[str, str]:
    """The outputs by name, each one line."""
    named = [{"number": one.number, "url": run.url(one), "confidence": round(one.probability, 3)} for one in run.named]
    return {"outcome": run.outcome, "candidates": json.dumps(named), "comment-url": run.comment_url}


def markdown(run: Run) -> str:
    """The summary."""
    blocks = ["### Doppel", *(f"> [!WARNING]\n> {escape(one, 1_000)}" for one in run.problems)]
    if run.number:
        blocks.append(_about_issue(run))
    blocks += [_table(run)] if run.named else []
    blocks += run.lines
    if run.progress is not None:
        blocks.append(_index(run.progress))
    return "\n\n".join(blocks) + "\n"


def _about_issue(run: Run) -> str:
    issue = f"[#{run.number}]({run.pages}/{run.place.repo}/issues/{run.number})"
    if run.decision is None:
        return f"{issue}: nothing was looked for."
    did, why = _DID[run.decision.outcome], escape(run.decision.reason)
    linked = f"[{did}]({run.comment_url})" if run.comment_url else did
    return f"{issue}: {linked}{f': {why}' if why else ''}. The threshold is {run.decision.bar:.0%}."


def _table(run: Run) -> str:
    rows = ["| candidate | how likely it is the same |", "|---|---|"]
    for one in run.named:
        name = f"{escape(one.repo)}#{one.number}"
        title = escape(run.titles.get(one.number, "")) if one.own else ""
        rows.append(
            f"| [{name}]({run.url(one)}) {title} | {likelihood(one.probability).value} ({one.probability:.0%}) |"
        )
    return "\n".join(rows)


def _index(progress: Progress) -> str:
    if progress.done:
        return f"The index is complete: {progress.seen:,} issues."
    expected = "" if progress.expected is None else f" of about {progress.expected:,}"
    why = f" ({escape(progress.problem)})" if progress.problem else ""
    return (
        f"The index holds {progress.seen:,} issues{expected}{why}; the next run goes on reading. Until it is complete "
        "GitHub's searches answer, which find less."
    )
