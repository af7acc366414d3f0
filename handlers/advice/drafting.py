"""What the advisory comment is to say; nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.calibration.bar import Origin
from bot.commands import Command, Options
from bot.config.model import MIN_CONFIDENCE
from bot.finder import named_unasked
from bot.model import Closer, Issue
from bot.posts.comments import digest
from bot.posts.marker import fingerprint
from bot.posts.slot import Draft
from bot.render import View, render_comment
from bot.report import Candidate, Report
from bot.store import KeptComment
from handlers.visit import Visit


def draft(
    visit: Visit,
    issue: Issue,
    report: Report,
    named: Sequence[Candidate],
    command: Command | None,
    kept: KeptComment | None,
) -> Draft:
    """The comment that names these candidates, the first of the report's.

    `kept` is what is known of the comment before that. Where a `command` asked, it tells what that asked differently,
    and what is wrong with the settings file.
    """
    bar, asked = visit.bar, command is not None
    view = View(
        checked_at=visit.services.clock(),
        enterprise=visit.services.settings.enterprise,
        had_candidates=bool(kept and (kept.shown or (not named and names_something(visit)))),
        words=command.words if command else (),
        options=command.options if command else Options(),
        asked=asked,
        settings_problems=visit.settings.problems if asked else (),
        settings_private=visit.settings.private,
        say=visit.words(issue),
        labels=visit.config.label == "add",
        bar=bar.value,
        likely=visit.config.likely,
        unasked=named_unasked(visit.config, bar.value, named) if command and named and not command.words else None,
        closers=_closers(visit, named),
        moved=(bar.value, MIN_CONFIDENCE) if bar.origin is Origin.FEEDBACK else None,
    )
    body = render_comment(report, view)
    return Draft(body, fingerprint(body), text_hash(issue), own_numbers(named))


def _closers(visit: Visit, named: Sequence[Candidate]) -> Mapping[int, Closer]:
    """What closed those that are closed, in one request for all of them."""
    closed = [one.number for one in named if one.own and one.state == "closed"]
    return visit.github.closers(visit.repo, closed)


def text_hash(issue: Issue, *, shadow: bool = False) -> str:
    """What tells whether an issue's text has been answered already: on GitHub, or in `mode: shadow` alone."""
    return digest(issue.title, issue.body, *(["shadow"] if shadow else []))


def own_numbers(named: Sequence[Candidate]) -> list[int]:
    """The issues of this repository among the candidates, which is what the comment's row knows of them."""
    return [candidate.number for candidate in named if candidate.own]


def names_something(visit: Visit) -> bool:
    """Whether the comment names something now; its row knows this repository's issues alone."""
    looks = visit.decisions()
    last = next((look for look in reversed(looks) if look.outcome.seen), None)
    return last is not None and any(one.shown for one in last.evidence)
