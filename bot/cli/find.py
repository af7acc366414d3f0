"""`doppel find OWNER/REPO#N`: the finder by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

import click

from bot import settings as host
from bot.cli import UNREACHABLE
from bot.cli.shares import Share
from bot.config.keys import SOURCES
from bot.config.model import MIN_CONFIDENCE, RepoConfig
from bot.errors import NotFound, SettingsError, UserError
from bot.model import IssueRef
from bot.ranking.relevance import DEFAULT_RELEVANCE, Relevance
from bot.report import Candidate, Outcome, Report
from bot.settings import Settings
from bot.text.naming import named_issues

_SAYS = {
    Outcome.INCONCLUSIVE: "Nothing can be said: it could not be asked properly.",
    Outcome.DEGRADED: "Not everything could be asked; this is what was found all the same:",
}
# How the bot looks and when it speaks of its own accord, where a repository's settings say nothing else.
_BOT = RepoConfig()
BAR = MIN_CONFIDENCE


@click.command()
@click.argument("issue")
@click.option(
    "--threshold",
    type=Share(0, 1),
    default=0.3,
    show_default=True,
    help="The least similarity of titles; the bot has none.",
)
@click.option(
    "--min-confidence",
    type=Share(0, 1),
    help=f"The least probability that it is the same issue [default: none; the bot's own is {BAR}].",
)
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True, help="The most candidates.")
@click.option("--include-closed", is_flag=True, help="Look among closed issues too, as the bot does.")
@click.option(
    "--relevance",
    type=click.Choice([str(one) for one in Relevance]),
    default=str(DEFAULT_RELEVANCE),
    show_default=True,
    help="What to sort by: everything that was learned, the titles alone, or a score of the words.",
)
@click.option(
    "--source",
    "only",
    type=click.Choice(list(SOURCES)),
    multiple=True,
    help="Show only what this source found; can be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def find(
    issue: str,
    threshold: float,
    min_confidence: float | None,
    limit: int,
    include_closed: bool,
    relevance: str,
    only: tuple[str, ...],
    as_json: bool,
) -> None:
    """Look for earlier reports of ISSUE, given as OWNER/REPO#N (or #N with DOPPEL_REPOSITORY set).

    Shows what the bot would name of its own accord, which looks at all titles and at closed issues too, and then what
    else the options ask for, likely or not. Finds in this host's own index of the repository where that is complete,
    else by GitHub's searches alone. Asks as the App where it is set up, else with GITHUB_TOKEN; writes nothing on
    GitHub. Exit code 0: answered, whether something was found or not. 3: GitHub could not be asked, or not properly.
    """
    # These take a second to import, which `doppel --help` need not pay.
    from bot.finder import Finder, FinderSettings
    from bot.wiring.clients import build_github, reader
    from bot.wiring.indexes import complete_index

    settings = host.load()
    ref = _issue(issue, settings)
    try:
        client = reader(settings, build_github(settings), ref.repo)
    except NotFound as problem:
        raise UserError(
            f"{ref.repo}: the App is not installed there, or there is no such repository. Install the App on it, or "
            "ask with GITHUB_TOKEN and without APP_ID."
        ) from problem
    try:
        # By the id that GitHub gives, since the name may have been another repository's when the index was filled.
        repo_id = client.repository(ref.repo).id
        with complete_index(settings, repo_id) as matcher:
            wanted = FinderSettings(workflow_field=settings.workflow_field)
            finder = Finder(client, settings=wanted, matcher=matcher, repo_id=repo_id)
            target = client.issue(ref.repo, ref.number)
            state: Literal["all", "open"] = "all" if include_closed else "open"
            gathered = finder.gather(target, state=state)
            report = finder.find(
                target,
                threshold=threshold,
                max_candidates=limit,
                state=state,
                relevance=relevance,
                min_confidence=min_confidence,
                gathered=gathered,
            )
            # The same hits as the bot would judge them.
            named = named_issues(f"{target.title}\n{target.body}", ref.repo, urlsplit(target.url).hostname or "")
            bots = finder.find(
                target,
                threshold=0,
                max_candidates=_BOT.max_candidates,
                state="all",
                min_confidence=BAR,
                earlier_only=True,
                named=named,
                gathered=gathered,
            )
    except NotFound as problem:
        raise UserError(
            f"{ref}: there is no such issue, or it cannot be read with what Doppel is set up with"
        ) from problem
    if only:
        report, bots = report.of_sources(only), bots.of_sources(only)
    if as_json:
        click.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        nearest = bots.considered[0].confidence if bots.considered else None
        show(report, bots.candidates, nearest, indexed=matcher is not None, include_closed=include_closed)
    sys.exit(0 if report.outcome in (Outcome.FOUND, Outcome.NONE) else UNREACHABLE)


def _issue(text: str, settings: Settings) -> IssueRef:
    if not text.startswith("#"):
        return IssueRef.parse(text)
    if not settings.default_repository:
        raise SettingsError(f"DOPPEL_REPOSITORY: not set, and {text} names no repository; write OWNER/REPO{text}.")
    return IssueRef.parse(settings.default_repository + text)


def show(
    report: Report, bots: Sequence[Candidate], nearest: float | None = None, *, indexed: bool, include_closed: bool
) -> None:
    """Print a report for a person: what the bot would name (`bots`), what else was asked for, and the queries.

    The bot's come first, however few of their titles' words agree: they are the answer. Where there are none, the
    probability of what comes `nearest` is told.
    """
    click.echo(f"{report.repo}#{report.number} {_clean(report.title)}\n")
    if says := _SAYS.get(report.outcome):
        click.secho(says, bold=True)
    # Where GitHub was asked for open issues alone, nobody knows which closed ones there are.
    blind = not indexed and not include_closed
    alone = f"of its own accord (min_confidence {BAR})"
    if bots:
        click.secho(f"The bot would name {alone}:", bold=True)
        for candidate in bots:
            _show_candidate(candidate)
    elif report.outcome is not Outcome.INCONCLUSIVE:
        click.secho(f"{'Of the open issues the' if blind else 'The'} bot would name none {alone}.", bold=True)
        if nearest is not None:
            click.echo(f"The nearest has {nearest:.0%}; --threshold 0 --include-closed shows it.")
    own = {(one.repo, one.kind, one.number) for one in bots}
    others = [one for one in report.candidates if (one.repo, one.kind, one.number) not in own]
    if others:
        click.secho(f"\n{_asked_for(report, include_closed)}:", bold=True)
        for candidate in others:
            _show_candidate(candidate)
    if blind:
        click.echo(f"\nThe bot looks at closed issues too: doppel find {report.repo}#{report.number} --include-closed")
    where = "this host's index" if indexed else "GitHub's search; this host has no complete index"
    click.echo(f"\nAsked ({where} of {report.repo}):")
    for run in report.queries:
        hits = run.problem or _counted(run.hits or 0, "hit")
        click.echo(f"  {run.source:16} {hits:>12}  {_clean(run.query)}")
    total, unique, repeats = (report.counts.get(name, 0) for name in ("total", "unique", "duplicates"))
    different = _counted(unique, "different one")
    click.echo(f"  {_counted(total, 'result')}, {different} and {_counted(repeats, 'repeat')}")
    for problem in report.problems:
        click.secho(f"  {_clean(problem)}", fg="yellow")


def _asked_for(report: Report, include_closed: bool) -> str:
    """What the options ask for besides, in words."""
    which = "issues" if include_closed else "open issues"
    return f"Other {which}, with titles at least {report.threshold:.0%} alike" if report.threshold else f"Other {which}"


def _show_candidate(candidate: Candidate) -> None:
    chance = "" if candidate.confidence is None else f"{candidate.confidence:4.0%}  "
    click.secho(f"  {chance}#{candidate.number:<6} ", bold=True, nl=False)
    state = candidate.state if not candidate.state_reason else f"{candidate.state}, {candidate.state_reason}"
    click.echo(f"{_clean(candidate.title)}  ({state}; titles {candidate.similarity:.0%} alike)")
    if candidate.also:
        click.echo(f"           also reported in {', '.join(f'#{number}' for number in candidate.also)}")
    for reason in candidate.reasons:
        click.echo(f"           {_clean(reason)}")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _clean(text: str) -> str:
    """Strangers' text for a terminal: without control characters, which could move the cursor or hide what is there."""
    return "".join(char if char.isprintable() else " " for char in text)
