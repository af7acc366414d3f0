"""`doppel find OWNER/REPO#N`: the finder by hand."""

from __future__ import annotations

import json
import sys

import click

from bot import settings as host
from bot.cli import UNREACHABLE
from bot.config.keys import SOURCES
from bot.config.model import RepoConfig
from bot.errors import NotFound, SettingsError, UserError
from bot.model import IssueRef
from bot.ranking.relevance import DEFAULT_RELEVANCE, Relevance
from bot.report import Candidate, Outcome, Report
from bot.settings import Settings

_SAYS = {
    Outcome.FOUND: "Earlier reports of the same thing, perhaps:",
    Outcome.NONE: "Nothing alike was found.",
    Outcome.INCONCLUSIVE: "Nothing can be said: it could not be asked properly.",
    Outcome.DEGRADED: "Not everything could be asked; this is what was found all the same:",
}
# What the bot wants to be sure of before it speaks of its own accord, where a repository's settings say nothing else.
BAR = RepoConfig().min_confidence


@click.command()
@click.argument("issue")
@click.option("--threshold", type=float, default=0.3, show_default=True, help="The least similarity of titles, 0 to 1.")
@click.option(
    "--min-confidence",
    type=float,
    help=f"The least probability that it is the same issue, 0 to 1 [default: none; the bot's own is {BAR}].",
)
@click.option("--limit", type=int, default=10, show_default=True, help="The most candidates.")
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

    Shows more than the bot would, whose comment names only what is likely enough; that is marked. Finds in this host's
    own index of the repository where there is one, else by GitHub's searches alone. Asks as the App where it is set
    up, else with GITHUB_TOKEN; writes nothing on GitHub. Exit code 0: answered, whether something was found
    or not. 3: GitHub could not be asked, or not properly.
    """
    # These take a second to import, which `doppel --help` need not pay.
    from bot.finder import Finder, FinderSettings
    from bot.wiring import build_github, complete_index, reader

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
        with complete_index(settings, ref.repo) as index:
            matcher, repo_id = index or (None, None)
            wanted = FinderSettings(workflow_field=settings.workflow_field)
            report = Finder(client, settings=wanted, matcher=matcher, repo_id=repo_id).find_duplicates(
                ref.repo.owner,
                ref.repo.name,
                ref.number,
                threshold,
                limit,
                include_closed,
                relevance,
                min_confidence=min_confidence,
            )
    except NotFound as problem:
        raise UserError(
            f"{ref}: there is no such issue, or it cannot be read with what Doppel is set up with"
        ) from problem
    report = report.of_sources(only) if only else report
    if as_json:
        click.echo(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
    else:
        show(report)
    sys.exit(0 if report.outcome in (Outcome.FOUND, Outcome.NONE) else UNREACHABLE)


def _issue(text: str, settings: Settings) -> IssueRef:
    if not text.startswith("#"):
        return IssueRef.parse(text)
    if not settings.default_repository:
        raise SettingsError(f"DOPPEL_REPOSITORY: not set, and {text} names no repository; write OWNER/REPO{text}.")
    return IssueRef.parse(settings.default_repository + text)


def show(report: Report) -> None:
    """Print a report for a person: candidates, why, and what was asked."""
    click.echo(f"{report.repo}#{report.number} {_clean(report.title)}\n")
    click.secho(_SAYS[report.outcome], bold=True)
    likely = [one.number for one in report.candidates if _would_be_shown(one, report.number)]
    for candidate in report.candidates:
        _show_candidate(candidate, "*" if candidate.number in likely else " ")
    if report.candidates:
        which = "* " if likely else "None is "
        click.echo(f"  {which}likely enough for the bot to name it of its own accord (min_confidence {BAR}).")
    click.echo("\nAsked:")
    for run in report.queries:
        hits = run.problem or f"{run.hits} hits"
        click.echo(f"  {run.source:16} {hits:>12}  {_clean(run.query)}")
    total, unique, repeats = (report.counts.get(name, 0) for name in ("total", "unique", "duplicates"))
    click.echo(f"  {total} results, {unique} different ones and {repeats} repeats")
    for problem in report.problems:
        click.secho(f"  {_clean(problem)}", fg="yellow")


def _would_be_shown(candidate: Candidate, target: int) -> bool:
    """Whether it passes the bot's bar; the bot names earlier issues only."""
    return (
        candidate.own and candidate.number < target and candidate.confidence is not None and candidate.confidence >= BAR
    )


def _show_candidate(candidate: Candidate, mark: str) -> None:
    chance = "" if candidate.confidence is None else f"{candidate.confidence:4.0%}  "
    click.secho(f"{mark} {chance}#{candidate.number:<6} ", bold=True, nl=False)
    state = candidate.state if not candidate.state_reason else f"{candidate.state}, {candidate.state_reason}"
    click.echo(f"{_clean(candidate.title)}  ({state}; titles {candidate.similarity:.0%} alike)")
    if candidate.also:
        click.echo(f"           also reported in {', '.join(f'#{number}' for number in candidate.also)}")
    for reason in candidate.reasons:
        click.echo(f"           {_clean(reason)}")


def _clean(text: str) -> str:
    """Strangers' text for a terminal: without control characters, which could move the cursor or hide what is there."""
    return "".join(char if char.isprintable() else " " for char in text)
