"""What is printed for a person."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import click

from bot.counted import counted
from bot.machine.terminal import plain
from bot.report import Candidate, Outcome, QueryRun, Report

SHADOW = "mode: shadow"
"""The silence of a bot that looks all the same."""

_UNASKED = "Nothing can be said: it could not be asked properly."
_IN_PART = "Not everything could be asked; this is what was found all the same:"
_INDENT = " " * 15
_NOTHING_IN_PART = "Nothing was found, but not everything could be asked, so that says little."


@dataclass(frozen=True, slots=True)
class OfItsOwnAccord:
    """What the bot would name in a comment that nobody asked for, by the settings of the repository.

    `bar` is the probability from which on it would, `nearest` that of the likeliest candidate at all, and `silence` why
    it says nothing there for all that, empty where it speaks. `include_closed` is whether it looks at closed issues.
    """

    report: Report
    bar: float
    silence: str
    include_closed: bool

    @property
    def nearest(self) -> float | None:
        """The probability of the likeliest candidate, named or not; None where there is none."""
        return self.report.considered[0].confidence if self.report.considered else None


def show(
    report: Report, bots: OfItsOwnAccord, *, indexed: bool, include_closed: bool, only: Collection[str] = ()
) -> None:
    """Print a report for a person: what the bot would name, what else was asked for, and the queries.

    The bot's come first, however few of their titles' words agree: they are the answer. Where there are none, the
    probability of what comes nearest is told. With `only` just what these sources found is shown; what the bot would
    do is told as it is, since it asks the others too.
    """
    click.echo(f"{report.repo}#{report.number} {plain(report.title)}\n")
    if says := _how_it_went(report.outcome, some=bool(report.candidates or bots.report.candidates)):
        click.secho(says, bold=True)
    # Where GitHub was asked for open issues alone, nobody knows which closed ones there are.
    blind = not indexed and not include_closed and bots.include_closed
    _show_bots(report, bots, only, include_closed=include_closed, blind=blind)
    _show_others(report, bots, include_closed=include_closed)
    if blind:
        click.echo(f"\nThe bot looks at closed issues too: doppel find {report.repo}#{report.number} --include-closed")
    _show_asked(report, only, indexed=indexed)


def _show_bots(
    report: Report, bots: OfItsOwnAccord, only: Collection[str], *, include_closed: bool, blind: bool
) -> None:
    """What the bot would name, or that it would name nothing. `blind`: of open issues alone, as far as is known."""
    alone = f"of its own accord (min_confidence {bots.bar:g})"
    if bots.silence == SHADOW:
        click.echo(f"The bot posts nothing of its own accord ({SHADOW}). If it did:")
    elif bots.silence:
        click.echo(f"The bot leaves this issue alone ({plain(bots.silence)}). Otherwise:")
    named = bots.report.of_sources(only).candidates if only else bots.report.candidates
    if named:
        among = ", among others" if named != bots.report.candidates else ""
        click.secho(f"The bot would name {alone}{among}:", bold=True)
        for candidate in named:
            _show_candidate(candidate)
    elif bots.report.candidates:
        click.secho(f"What the bot would name {alone} was found by other sources.", bold=True)
    elif not _is_unanswered(report, bots):
        click.secho(f"{'Of the open issues the' if blind else 'The'} bot would name none {alone}.", bold=True)
        if bots.nearest is not None:
            where = _where_it_is(report, bots, only, include_closed=include_closed)
            click.echo(f"The nearest is {bots.nearest:.0%} likely{where}.")


def _where_it_is(report: Report, bots: OfItsOwnAccord, only: Collection[str], *, include_closed: bool) -> str:
    """With which options the nearest is shown; empty where those that were given show it already."""
    if any(candidate.confidence == bots.nearest for candidate in report.candidates):
        return ""
    if include_closed and not report.threshold and not only:
        return "; a higher --limit or a lower --min-confidence shows it"
    return f"; --threshold 0 --include-closed{' without --source' if only else ''} shows it"


def _is_unanswered(report: Report, bots: OfItsOwnAccord) -> bool:
    """Whether it is unknown what the bot would name: what an outage left unanswered is no verdict (F9)."""
    nothing = not report.candidates and not bots.report.candidates and bots.nearest is None
    return report.outcome is Outcome.INCONCLUSIVE or (report.outcome is Outcome.DEGRADED and nothing)


def _show_others(report: Report, bots: OfItsOwnAccord, *, include_closed: bool) -> None:
    """What was asked for besides what the bot would name."""
    own = {(one.repo, one.kind, one.number) for one in bots.report.candidates}
    others = [one for one in report.candidates if (one.repo, one.kind, one.number) not in own]
    if others:
        click.secho(f"\n{_asked_for(report, include_closed)}:", bold=True)
        for candidate in others:
            _show_candidate(candidate)


def _show_asked(report: Report, only: Collection[str], *, indexed: bool) -> None:
    """The queries with their hits, how much was found, and what failed."""
    where = "this host's index" if indexed else "GitHub's search; this host has no complete index"
    click.echo(f"\nAsked ({where} of {report.repo}):")
    for run in report.queries:
        click.echo(f"  {run.source:16} {plain(_went(run)):>12}  {plain(run.query)}")
    for name in only:
        if not any(run.source == name for run in report.queries):
            click.echo(f"  {name:16} {'not asked':>12}")
    total, unique, repeats = (report.counts.get(name, 0) for name in ("total", "unique", "duplicates"))
    different = counted(unique, "different one")
    # What a source counts as hits includes the issue itself where the query fits it.
    results = f"{counted(total, 'result')} besides the issue itself"
    click.echo(f"  {results}: {different} and {counted(repeats, 'repeat')}")
    for problem in report.problems:
        click.secho(f"  {plain(problem)}", fg="yellow")


def _went(run: QueryRun) -> str:
    """How many hits a query had, if it was answered, and what there is to be said of that."""
    hits = "" if run.hits is None else counted(run.hits, "hit")
    return ", ".join(filter(None, (hits, "incomplete" if run.incomplete else "", run.problem)))


def _how_it_went(outcome: Outcome, *, some: bool) -> str:
    """F9, in words; empty where everything was asked. `some` is whether anything was found."""
    if outcome is Outcome.INCONCLUSIVE:
        return _UNASKED
    if outcome is Outcome.DEGRADED:
        return _IN_PART if some else _NOTHING_IN_PART
    return ""


def _asked_for(report: Report, include_closed: bool) -> str:
    """What the options ask for besides, in words."""
    which = "issues" if include_closed else "open issues"
    return f"Other {which}, with titles at least {report.threshold:.0%} alike" if report.threshold else f"Other {which}"


def _show_candidate(candidate: Candidate) -> None:
    chance = "" if candidate.confidence is None else f"{candidate.confidence:4.0%} likely  "
    click.secho(f"  {chance}{f'{candidate.repo}#{candidate.number}':<7} ", bold=True, nl=False)
    state = candidate.state if not candidate.state_reason else f"{candidate.state}, {candidate.state_reason}"
    state = state if candidate.kind == "issue" else f"{candidate.kind}, {state}"
    click.echo(f"{plain(candidate.title)}  ({state}; titles {candidate.similarity:.0%} alike)")
    if candidate.also:
        click.echo(f"{_INDENT}also reported in {', '.join(f'#{number}' for number in candidate.also)}")
    for reason in candidate.reasons:
        click.echo(f"{_INDENT}{plain(reason)}")
