"""What is printed for a person."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from bot.counted import counted
from bot.machine.terminal import plain
from bot.render.candidates import confidence_words
from bot.report import Candidate, Outcome, QueryRun, Report
from bot.repositories.known import SHADOW, Unasked
from bot.words import english

_UNASKED = "Nothing can be said: it could not be asked properly."
_IN_PART = "Not everything could be asked; this is what was found all the same:"
_INDENT = " " * 10
_NOTHING_IN_PART = "Nothing was found, but not everything could be asked, so that says little."


def show(report: Report, bots: Unasked, *, indexed: bool, only: Collection[str] = ()) -> None:
    """Print a report for a person: the candidates, which of them the bot would name unasked, and the queries (P6)."""
    click.echo(f"{report.repo}#{report.number} {plain(report.title)}\n")
    if says := _how_it_went(report.outcome, some=bool(report.candidates)):
        click.secho(says, bold=True)
    elif not report.candidates:
        click.secho("No earlier issue was found.", bold=True)
    for candidate in report.candidates:
        _show_candidate(candidate, bots)
    if report.candidates or report.outcome is Outcome.NONE:
        _show_bots(bots)
    _show_asked(report, only, indexed=indexed)


def as_json_of(report: Report, bots: Unasked) -> dict[str, Any]:
    """The public shape of the report, with the word of each candidate and whether the bot would name it unasked."""
    told = report.to_json()
    for one, candidate in zip(told["candidates"], report.candidates, strict=True):
        word = bots.word(candidate)
        one["likelihood"] = word and word.value
        one["named_unasked"] = bots.names(candidate)
    return told


def _show_bots(bots: Unasked) -> None:
    if bots.silence == SHADOW:
        click.echo(f"\nThe bot posts nothing unasked ({SHADOW}). If it did:")
    elif bots.silence:
        click.echo(f"\nThe bot leaves this issue alone ({plain(bots.silence)}). Otherwise:")
    else:
        click.echo()
    which = ", ".join(_name(one) for one in bots.named) or "none of them"
    click.secho(f"Unasked, the bot would name {which} (min_confidence {bots.bar:g}).", bold=True)


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
        click.secho(f"  {plain(str(problem))}", fg="yellow")


def _went(run: QueryRun) -> str:
    """How many hits a query had, if it was answered, and what there is to be said of that."""
    hits = "" if run.hits is None else counted(run.hits, "hit")
    return ", ".join(filter(None, (hits, "incomplete" if run.incomplete else "", str(run.problem or ""))))


def _how_it_went(outcome: Outcome, *, some: bool) -> str:
    """F9, in words; empty where everything was asked. `some` is whether anything was found."""
    if outcome is Outcome.INCONCLUSIVE:
        return _UNASKED
    if outcome is Outcome.DEGRADED:
        return _IN_PART if some else _NOTHING_IN_PART
    return ""


def _show_candidate(candidate: Candidate, bots: Unasked) -> None:
    """Its number, then the word with the number behind it (P4), and why; one that the bot would name has a mark."""
    mark = "*" if bots.names(candidate) else " "
    click.secho(f"{mark} {_name(candidate):<7} ", bold=True, nl=False)
    click.echo(plain(candidate.title))
    state = candidate.state if not candidate.state_reason else f"{candidate.state}, {candidate.state_reason}"
    facts = [state if candidate.kind == "issue" else f"{candidate.kind}, {state}"]
    if candidate.confidence is not None:
        facts.insert(0, confidence_words(candidate.confidence, english(), bots.likely))
    click.echo(f"{_INDENT}{'; '.join([*facts, f'titles {candidate.similarity:.0%} alike'])}")
    if candidate.also:
        click.echo(f"{_INDENT}also reported in {', '.join(f'#{number}' for number in candidate.also)}")
    for reason in candidate.reasons:
        click.echo(f"{_INDENT}{plain(str(reason))}")


def _name(candidate: Candidate) -> str:
    return f"{candidate.repo}#{candidate.number}"
