"""The one advisory comment: a report as the people on an issue read it (C2, C3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.conversation.commands import Options
from bot.conversation.config import ConfigError
from bot.conversation.posts.marker import ADVICE
from bot.conversation.render.candidates import candidate_lines
from bot.conversation.render.details import (
    correction_block,
    fold,
    found_by_block,
    problems_block,
    queries_block,
    settings_block,
)
from bot.conversation.render.escape import break_phrase, code
from bot.conversation.render.links import Place
from bot.conversation.words import Words, english
from bot.domain.entities import BODY_MAX, Closer
from bot.domain.likelihood import LIKELY, Tier, likelihood
from bot.domain.report import NEAR, Candidate, Outcome, Report


@dataclass(frozen=True, slots=True)
class View:
    """What the comment must know besides the report.

    `checked_at` carries the zone in which the time is shown. `had_candidates` is whether the comment that is replaced
    showed any. `asked` is whether a command did, `words` and `options` are those of that command, and
    `settings_problems` are given then: on a new issue nobody is bothered with them (C6). With `settings_private` only
    their number is told. `say` are the words in which it is written, `labels` whether the bot sets the label of its own
    accord. `moved` are the threshold and the usual one where feedback has moved it. `threshold` is the probability from
    which on the bot speaks unasked, `likely` where the upper tier begins, and `unasked` (None: not told) which of the
    candidates it would have named. `closers` are what closed issues of the repository, by number.
    """

    checked_at: datetime
    enterprise: bool = False
    had_candidates: bool = False
    words: tuple[str, ...] = ()
    options: Options = field(default_factory=Options)
    asked: bool = False
    settings_problems: tuple[ConfigError, ...] = ()
    settings_private: bool = False
    say: Words = field(default_factory=english)
    labels: bool = False
    moved: tuple[float, float] | None = None
    threshold: float = 0.0
    likely: float = LIKELY
    unasked: tuple[Candidate, ...] | None = None
    closers: Mapping[int, Closer] = field(default_factory=dict)


def render_comment(report: Report, view: View) -> str:
    """The whole comment in Markdown, with its marker as the first line.

    Whether a comment is wanted at all is for the caller to decide: without candidates this says that nothing was found,
    or that it could not be looked for properly, which are different things (F9).
    """
    shown = report.candidates
    # Ten hostile titles and reasons can grow beyond the limit; the least likely candidates go first. One always fits,
    # since `escape` bounds every text: an empty list would say that nothing was found.
    while len(body := _body(report, view, shown)) > BODY_MAX and len(shown) > 1:
        shown = shown[:-1]
    # Only a repository's own texts can still be too long.
    return body if len(body) <= BODY_MAX else render_comment(report, replace(view, say=view.say.plain))


def _body(report: Report, view: View, shown: tuple[Candidate, ...]) -> str:
    place, say = Place(report.repo, view.enterprise), view.say
    blocks = [_heading(report, view, shown), *_asked(view, shown)]
    if not shown and view.asked:
        blocks += _nearest(report, place, view)
    if shown:
        decide = say.people_decide_still() if view.labels else say.people_decide()
        blocks += [_list(shown, place, view), *_unasked(view), decide]
    inside = [
        queries_block(report, say),
        found_by_block(shown, say),
        problems_block(report.problems, say),
        settings_block(view.settings_problems, view.settings_private, say),
        *([say.bar_moved(*view.moved)] if view.moved else []),
        correction_block(next((one for one in shown if one.own), next(iter(shown), None)), say),
    ]
    checked = say.checked(time=view.checked_at)
    # The time does not count for the fingerprint: a comment that says the same need not be edited.
    said = "\n\n".join([*blocks, *inside])
    content = "\n\n".join([*blocks, fold(say.summary(), [*inside, checked])])
    return f"{ADVICE.line(said)}\n{break_phrase(content)}\n"


def _heading(report: Report, view: View, shown: tuple[Candidate, ...]) -> str:
    say = view.say
    if shown:
        # What no model judged was found all the same, and nothing more can be said of it.
        best = view.threshold if shown[0].confidence is None else shown[0].confidence
        if view.asked and best < view.threshold:
            return say.closest()
        probably = likelihood(best, view.likely).tier is Tier.LIKELY
        return say.found(count=len(shown)) if probably else say.related(count=len(shown))
    if report.doubtful:
        return say.degraded_nothing()
    if report.outcome is Outcome.INCONCLUSIVE:
        return say.inconclusive()
    otherwise = view.words or view.options.narrow
    return say.nothing_left() if view.had_candidates and not otherwise else say.nothing()


def _nearest(report: Report, place: Place, view: View) -> list[str]:
    """What comes nearest without being likely enough, and how to see it: a person asked, and "nothing" is not all."""
    best = next((one for one in report.considered if one.kind == "issue" and not one.repo), None)
    if best is None or best.confidence < NEAR:
        return []
    # Never more than it has, so that it is shown.
    option = code(f"confidence={math.floor(best.confidence * 100) / 100:g}")
    return [view.say.nearest(issue=place.issue(best.number), percent=best.confidence, option=option)]


def _asked(view: View, shown: tuple[Candidate, ...]) -> list[str]:
    """What a command asked differently, so that a reader knows why the list is as it is."""
    said = []
    if view.words:
        said.append(view.say.searched_for(words=" ".join(code(word) for word in view.words)))
    if view.options.state in ("open", "closed"):
        said.append(view.say.only_open() if view.options.state == "open" else view.say.only_closed())
    if view.options.confidence is not None:
        said.append(view.say.from_confidence(percent=view.options.confidence))
    if view.options.threshold is not None:
        said.append(view.say.from_threshold(percent=view.options.threshold))
        if any(one.similarity < view.options.threshold for one in shown):
            said.append(view.say.from_threshold_original())
    return [" ".join(said)] if said else []


def _unasked(view: View) -> list[str]:
    """Which of the candidates the bot stands by: who asks gets others too (P6)."""
    if view.unasked is None:
        return []
    if not view.unasked:
        return [view.say.unasked_none(percent=view.threshold)]
    # In code, since they are linked above.
    issues = view.say.comma().join(code(f"{one.repo}#{one.number}") for one in view.unasked)
    return [view.say.unasked(issues=issues, percent=view.threshold)]


def _list(shown: tuple[Candidate, ...], place: Place, view: View) -> str:
    lines = []
    for rank, candidate in enumerate(shown, start=1):
        closer = view.closers.get(candidate.number) if candidate.own else None
        title, *facts = candidate_lines(candidate, place, view.say, view.likely, closer)
        mark = f"{rank}. "
        lines += [mark + title, *(f"{' ' * len(mark)}- {fact}" for fact in facts)]
    return "\n".join(lines)
