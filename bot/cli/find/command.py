"""The command: whom it asks, and how."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from bot import settings as host
from bot.addresses import hosts_of, issue_at
from bot.cli import UNREACHABLE
from bot.cli.find.shown import as_json_of, show
from bot.cli.shared.in_json import in_json
from bot.cli.shared.out_of_sight import told_of_tokens
from bot.cli.shared.shares import Share
from bot.config.model import ASKED_MOST, MIN_CONFIDENCE, SOURCES
from bot.errors import NotFound, SettingsError, UserError
from bot.model import IssueRef, RepoRef
from bot.ranking.relevance import DEFAULT_RELEVANCE, Relevance
from bot.report import Outcome
from bot.settings import Settings

if TYPE_CHECKING:
    from bot.github.repository.repo import RepoClient


# Where GitHub leads to an issue that was transferred.
_MOVED = 301


@click.command()
@click.argument("issue")
@click.option(
    "--threshold",
    type=Share(0, 1),
    default=0.0,
    show_default=True,
    help="The least similarity of titles.",
)
@click.option(
    "--min-confidence",
    type=Share(0, 1),
    help=f"The least probability that it is the same issue [default: none; unasked the bot wants {MIN_CONFIDENCE}].",
)
@click.option("--limit", type=click.IntRange(1), default=ASKED_MOST, show_default=True, help="The most candidates.")
@click.option(
    "--include-closed/--no-include-closed",
    default=None,
    help="Whether to look among closed issues too [default: as the bot does there].",
)
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
    include_closed: bool | None,
    relevance: str,
    only: tuple[str, ...],
    as_json: bool,
) -> None:
    """Look for earlier reports of ISSUE: OWNER/REPO#N, its address, or #N with DOPPEL_REPOSITORY set.

    Lists the best there are, likely or not, and marks with * what the bot would name unasked. Looks where the bot
    looks, as the repository's settings say: in this host's own index of it where that is complete, else by GitHub's
    searches alone. Asks as the App where it is set up, else with GITHUB_TOKEN; writes nothing on GitHub. Exit code 0:
    answered, whether something was found or not. 3: GitHub could not be asked, or not properly.
    """
    settings = host.load()
    ref = _issue(issue, settings)

    # These take a second to import, which neither `doppel --help` need pay nor who has mistyped something.
    from bot.finder import FindOptions
    from bot.wiring.indexes import known_repository

    client = _client(settings, ref.repo)
    try:
        with told_of_tokens(ref.repo):
            target = client.issue(ref.repo, ref.number)
        with told_of_tokens(ref.repo), known_repository(settings, client, target) as known:
            config = known.settings.config
            closed = config.include_closed if include_closed is None else include_closed
            gathered = known.finder.gather(target, state="all" if closed or config.include_closed else "open")
            options = FindOptions(
                threshold=threshold,
                max_candidates=limit,
                state="all" if closed else "open",
                relevance=relevance,
                min_confidence=min_confidence,
                earlier_only=True,
                sources=only,
            )
            report = known.finder.find(target, known.options_for(target, options), gathered)
            # The same hits as the bot would judge them.
            bots = known.unasked(target, gathered)
    except NotFound as problem:
        gone = "there is no such issue, or it cannot be read with what Doppel is set up with"
        raise UserError(f"{ref}: {problem.detail if problem.status == _MOVED else gone}") from problem
    if only:
        report = report.of_sources(only)
    if as_json:
        click.echo(in_json(as_json_of(report, bots), indent=2))
    else:
        show(report, bots, indexed=known.indexed, only=only)
    if known.settings.problems:
        file = known.settings.source
        says = "what is wrong there does not count; `doppel check-config FILE` on a copy of it says what it is"
        click.echo(f"{file}: {says}", err=True)
    sys.exit(0 if report.outcome in (Outcome.FOUND, Outcome.NONE) else UNREACHABLE)


def _client(settings: Settings, repo: RepoRef) -> RepoClient:
    """What can read the repository."""
    from bot.wiring.clients import build_github, reader

    try:
        return reader(settings, build_github(settings), repo)
    except NotFound as problem:
        raise UserError(
            f"{repo}: the App is not installed there, or there is no such repository. Install the App on it, or ask "
            "with GITHUB_TOKEN and without APP_ID."
        ) from problem


def _issue(text: str, settings: Settings) -> IssueRef:
    if "://" in text:
        hosts = hosts_of(settings.github_api_url)
        if named := issue_at(text, hosts):
            return named
        raise UserError(f"issue: {text!r} is not the address of an issue on {' or '.join(sorted(hosts))}")
    if text.isdecimal():
        # In a shell, what begins with # is a comment.
        text = f"#{text}"
    if not text.startswith("#"):
        return IssueRef.parse(text)
    if not settings.default_repository:
        raise SettingsError(f"DOPPEL_REPOSITORY: not set, and {text} names no repository; write OWNER/REPO{text}.")
    return IssueRef.parse(settings.default_repository + text)
