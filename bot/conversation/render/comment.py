"""Renders the advisory comment, the candidates in it, and the reply to `/duplicates explain #N`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.conversation.commands.table import CommandOptions
from bot.conversation.config.yaml_tree import ConfigError
from bot.conversation.marker import ADVICE
from bot.conversation.messages.catalogue import Messages, english
from bot.conversation.render.details import (
    bullets,
    correction_block,
    fold,
    found_by_block,
    problems_block,
    queries_block,
    query_line,
    sentence,
    settings_block,
    source_names,
)
from bot.conversation.render.escape import RepoLinks, break_phrase, code, escape
from bot.conversation.render.phrases import reason_words, strongest
from bot.domain.entities import BODY_MAX, Closer
from bot.domain.likelihood import LIKELY, Likelihood, Tier, likelihood
from bot.domain.report import MENTION_FROM, Candidate, Report, SearchOutcome

ALSO_MAX = 10


def candidate_lines(
    candidate: Candidate, links: RepoLinks, say: Messages, likely: float = LIKELY, closer: Closer | None = None
) -> list[str]:
    """A candidate as a list item (C3); a table would scroll sideways on phones. `likely`: the repository's setting."""
    confidence = [] if candidate.confidence is None else [confidence_words(candidate.confidence, say, likely)]
    status = [*confidence, closed_words(candidate, links, say, closer)]
    if closer and closer.release:
        status.append(say.may_be_fixed(release=escape(closer.release, 60)))
    elif may_be_back(candidate):
        status.append(say.state_regression())
    status.append(say.reported(day=candidate.created_at.date()))
    if candidate.workflow_state:
        status.append(say.workflow(status=escape(candidate.workflow_state, 60)))
    # The target issue's text names this candidate.
    if candidate.named:
        status.append(say.named())
    also = [also_words(candidate, links, say)] if candidate.also else []
    strongest_only = replace(candidate, reasons=tuple(strongest(candidate.reasons)))
    facts = (" · ".join(status), *reason_words(strongest_only, say), *also)
    return [f"{links.candidate(candidate)} {escape(candidate.title)}", *map(sentence, facts)]


def also_words(candidate: Candidate, links: RepoLinks, say: Messages) -> str:
    """Further issues that report the same thing."""
    issues = [links.issue(number) for number in candidate.also[:ALSO_MAX]]
    if len(candidate.also) > ALSO_MAX:
        issues.append(say.also_more(count=len(candidate.also) - ALSO_MAX))
    return say.also(issues=say.comma().join(issues))


def state_words(candidate: Candidate, say: Messages) -> str:
    """Open, or closed and why."""
    if candidate.kind == "pull request":
        if candidate.state == "open":
            return say.pull_open()
        return say.pull_merged() if candidate.state_reason == "merged" else say.pull_closed()
    if candidate.kind == "discussion":
        if candidate.state == "closed":
            return say.discussion_closed()
        return say.discussion_answered() if candidate.state_reason == "answered" else say.discussion_open()
    if candidate.state == "open":
        return say.state_open()
    known = candidate.state_reason in ("completed", "not_planned", "duplicate")
    return say.fill(f"state_{candidate.state_reason}", {}) if known else say.state_closed()


def closed_words(candidate: Candidate, links: RepoLinks, say: Messages, closer: Closer | None = None) -> str:
    """Open, or closed and why, with the day and the commit or pull request that closed the candidate."""
    state = state_words(candidate, say)
    if candidate.state == "open" or candidate.closed_at is None:
        return state
    day = candidate.closed_at.date()
    if closer and (closer.pull or closer.commit):
        return say.closed_by(state=state, day=day, by=links.closer(closer))
    return say.closed_on(state=state, day=day)


def may_be_back(candidate: Candidate) -> bool:
    """Whether to say that a problem may be back: a candidate closed as completed may be the same problem (C3)."""
    may_be_same = candidate.confidence is None or likelihood(candidate.confidence) is not Likelihood.UNLIKELY
    return candidate.regression and may_be_same


def confidence_words(confidence: float, say: Messages, likely: float = LIKELY) -> str:
    """The learned probability: in words, then as a percentage (P4)."""
    return say.fill(likelihood(confidence, likely).name.lower(), {"percent": confidence})


def explain(
    report: Report,
    candidate: Candidate,
    links: RepoLinks,
    say: Messages,
    duplicates: Sequence[Candidate] = (),
    likely: float = LIKELY,
) -> str:
    """The reasons why `candidate` may be the same as the report's issue, and the searches that found the candidate.

    The report may lack the candidate. `duplicates` are the candidate's duplicates that a search found, likeliest first.
    The text lists them, because one of them may be why the comment shows the candidate.
    """
    state = closed_words(candidate, links, say)
    facts = [
        f"{state} · {say.state_regression()}" if may_be_back(candidate) else state,
        say.titles_alike(percent=candidate.similarity),
    ]
    if candidate.confidence is None:
        facts.append(say.explain_no_confidence())
    else:
        facts.append(say.explain_confidence(confidence=confidence_words(candidate.confidence, say, likely)))
    facts += reason_words(candidate, say) or [say.explain_no_reason()]
    sources = source_names(candidate, say)
    facts.append(say.explain_found_by(sources=sources) if sources else say.explain_not_found())
    facts += [
        say.explain_duplicate(
            issue=links.issue(duplicate.number),
            confidence=confidence_words(duplicate.confidence or 0.0, say, likely),
            sources=source_names(duplicate, say),
        )
        for duplicate in duplicates[:ALSO_MAX]
    ]
    blocks = [
        say.explain_heading(issue=links.issue(candidate.number), title=escape(candidate.title)),
        bullets(map(sentence, facts)),
    ]
    asked = [query_line(query, say) for query in report.queries if query.source in candidate.sources]
    if asked:
        blocks += [sentence(say.explain_queries()), bullets(asked)]
    # Name the sources that failed: after a failure, "no search found the issue" means little (F9).
    blocks.append(problems_block(report.problems, say))
    return "\n\n".join(filter(None, blocks))


@dataclass(frozen=True, slots=True)
class CommentView:
    """The values that the comment needs besides the report.

    - `checked_at` is in the host's time zone. `enterprise`: GitHub is an Enterprise Server.
    - `had_candidates`: the existing comment shows candidates.
    - `asked`: a command with these `words` and `options` asked for the comment. Only then are there `settings_problems`
      (C6). With `settings_private` the comment gives only their number.
    - `labels`: the bot itself adds the label `duplicate` (`label: add`).
    - `threshold`: the least probability at which the bot comments unasked. If feedback has moved the threshold, `moved`
      has the new threshold and the default. `likely` is the setting of that name.
    - `unasked`: the candidates that the bot would have named without a command. None: no sentence about them.
    - `closers` are the commits and pull requests that closed issues of this repository, by the number of the issue.
    """

    checked_at: datetime
    enterprise: bool = False
    had_candidates: bool = False
    words: tuple[str, ...] = ()
    options: CommandOptions = field(default_factory=CommandOptions)
    asked: bool = False
    settings_problems: tuple[ConfigError, ...] = ()
    settings_private: bool = False
    say: Messages = field(default_factory=english)
    labels: bool = False
    moved: tuple[float, float] | None = None
    threshold: float = 0.0
    likely: float = LIKELY
    unasked: tuple[Candidate, ...] | None = None
    closers: Mapping[int, Closer] = field(default_factory=dict)


def render_comment(report: Report, view: CommentView) -> str:
    """The whole comment in Markdown, beginning with its marker. It says so if the search was incomplete (F9)."""
    shown = report.candidates
    # Hostile titles can exceed BODY_MAX: drop the unlikeliest candidates. One candidate and the bot's texts always fit.
    while len(body := _body(report, view, shown)) > BODY_MAX and len(shown) > 1:
        shown = shown[:-1]
    # If the comment is still too long, the repository's own templates are the cause: use the bot's messages instead.
    return body if len(body) <= BODY_MAX else render_comment(report, replace(view, say=view.say.plain))


def _body(report: Report, view: CommentView, shown: tuple[Candidate, ...]) -> str:
    links, say = RepoLinks(report.repo, view.enterprise), view.say
    blocks = [_heading(report, view, shown), *_asked(view, shown)]
    if not shown and view.asked:
        blocks += _nearest(report, links, view)
    if shown:
        decide = say.people_decide_still() if view.labels else say.people_decide()
        blocks += [_list(shown, links, view), *_unasked(view), decide]
    first = next((candidate for candidate in shown if candidate.own), shown[0] if shown else None)
    inside = [
        queries_block(report, say),
        found_by_block(shown, say),
        problems_block(report.problems, say),
        settings_block(say.settings_problems(), view.settings_problems, view.settings_private, say),
        *([say.bar_moved(bar=view.moved[0], usual=view.moved[1])] if view.moved else []),
        correction_block(first, say),
    ]
    checked = say.checked(time=view.checked_at)
    # The marker's fingerprint excludes the time, so that a new time alone does not edit the comment.
    without_time = "\n\n".join([*blocks, *inside])
    content = "\n\n".join([*blocks, fold(say.summary(), [*inside, checked])])
    # "Duplicate of #N" would mark the issue as a duplicate (C3).
    return f"{ADVICE.line(without_time)}\n{break_phrase(content)}\n"


def _heading(report: Report, view: CommentView, shown: tuple[Candidate, ...]) -> str:
    say = view.say
    if shown:
        # A candidate without a probability counts as likely enough.
        best = view.threshold if shown[0].confidence is None else shown[0].confidence
        if view.asked and best < view.threshold:
            return say.closest()
        probably = likelihood(best, view.likely).tier is Tier.LIKELY
        return say.found(count=len(shown)) if probably else say.related(count=len(shown))
    if report.doubtful:
        return say.degraded_nothing()
    if report.outcome is SearchOutcome.INCONCLUSIVE:
        return say.inconclusive()
    usual_search = not (view.words or view.options.narrow)
    return say.nothing_left() if view.had_candidates and usual_search else say.nothing()


def _nearest(report: Report, links: RepoLinks, view: CommentView) -> list[str]:
    """The closest issue that is too unlikely to be shown, and the command's option that shows the issue."""
    best = next((evidence for evidence in report.considered if evidence.own), None)
    if best is None or best.probability < MENTION_FROM:
        return []
    # Round down, so that the option shows the issue.
    option = code(f"confidence={math.floor(best.probability * 100) / 100:g}")
    return [view.say.nearest(issue=links.issue(best.number), percent=best.probability, option=option)]


def _asked(view: CommentView, shown: tuple[Candidate, ...]) -> list[str]:
    """The words and options of the command. They explain why the comment lists these candidates."""
    sentences = []
    if view.words:
        sentences.append(view.say.searched_for(words=" ".join(code(word) for word in view.words)))
    if view.options.state in ("open", "closed"):
        sentences.append(view.say.only_open() if view.options.state == "open" else view.say.only_closed())
    if view.options.confidence is not None:
        sentences.append(view.say.from_confidence(percent=view.options.confidence))
    if view.options.threshold is not None:
        sentences.append(view.say.from_threshold(percent=view.options.threshold))
        # `options.threshold`: the least similarity of titles. If only a duplicate reaches it, its original is shown.
        if any(candidate.similarity < view.options.threshold for candidate in shown):
            sentences.append(view.say.from_threshold_original())
    return [" ".join(sentences)] if sentences else []


def _unasked(view: CommentView) -> list[str]:
    """The candidates that the bot would have named unasked (P6)."""
    if view.unasked is None:
        return []
    if not view.unasked:
        return [view.say.unasked_none(percent=view.threshold)]
    # GitHub makes no links of code spans. The list above already has the links.
    issues = view.say.comma().join(code(f"{candidate.repo}#{candidate.number}") for candidate in view.unasked)
    return [view.say.unasked(issues=issues, percent=view.threshold)]


def _list(shown: tuple[Candidate, ...], links: RepoLinks, view: CommentView) -> str:
    lines = []
    for rank, candidate in enumerate(shown, start=1):
        closer = view.closers.get(candidate.number) if candidate.own else None
        title, *facts = candidate_lines(candidate, links, view.say, view.likely, closer)
        mark = f"{rank}. "
        lines += [mark + title, *(f"{' ' * len(mark)}- {fact}" for fact in facts)]
    return "\n".join(lines)
