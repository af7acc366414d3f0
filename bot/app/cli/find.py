"""`doppel find OWNER/REPO#N`: run the finder by hand."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from bot.app.cli import UNREACHABLE
from bot.app.cli.shared.console import echo_json
from bot.app.cli.shared.parameters import ONE_OR_MORE, SHARE, json_option, relevance_option
from bot.conversation.config.schema import ASKED_MOST, MIN_CONFIDENCE, SOURCES
from bot.domain.entities import IssueRef
from bot.domain.errors import SettingsError
from bot.domain.report import Report, SearchOutcome
from bot.platform import settings as host
from bot.platform.addresses import hosts_of, issue_at
from bot.platform.local import plain
from bot.platform.settings import Settings

if TYPE_CHECKING:
    from bot.quality.known_repository import CommentPreview, KnownRepository

_CONFIDENCE = (
    f"The least probability that a candidate is the same issue [default: none; the bot needs {MIN_CONFIDENCE}]."
)
_CLOSED = "Whether to look among closed issues too [default: as the repository's settings say]."
_ONLY = "Show only candidates that this source found; can be given several times."


@click.command()
@click.argument("issue")
@click.option("--threshold", type=SHARE, default=0.0, show_default=True, help="The least similarity of titles.")
@click.option("--min-confidence", type=SHARE, help=_CONFIDENCE)
@click.option(
    "--limit", type=ONE_OR_MORE, default=ASKED_MOST, show_default=True, help="Show at most this many candidates."
)
@click.option("--include-closed/--no-include-closed", default=None, help=_CLOSED)
@relevance_option("How to sort: by learned weights, the titles alone, or a BM25 score of words.")
@click.option("--source", "only", type=click.Choice(list(SOURCES)), multiple=True, help=_ONLY)
@click.option("--judge", is_flag=True, help="Have the host's judge, a language model, read the likeliest.")
@json_option
def find(
    issue: str,
    threshold: float,
    min_confidence: float | None,
    limit: int,
    include_closed: bool | None,
    relevance: str,
    only: tuple[str, ...],
    judge: bool,
    as_json: bool,
) -> None:
    """Look for earlier reports of ISSUE: OWNER/REPO#N, its address, or #N with DOPPEL_REPOSITORY set.

    Prints what the bot would answer to `/duplicates`: the best candidates, likely or not, and which of them the bot
    would name unasked. The repository's settings choose the sources. Without a complete index of
    the repository on this host, only GitHub's searches are used. Asks GitHub as the App if it is
    set up, else with GITHUB_TOKEN; writes nothing on GitHub. Exit code 0: answered, whether or not
    anything was found. 3: the search was incomplete, or the judge failed.
    """
    settings = host.load()
    ref = _issue(issue, settings)

    # These imports take a second, so check the arguments first.
    from bot.app.wiring.clients import build_github, reader
    from bot.app.wiring.indexes import known_repository
    from bot.search.finder import FindOptions

    client = reader(settings, build_github(settings), ref.repo)
    target = client.issue(ref.repo, ref.number)
    with known_repository(settings, client, target, judge=judge) as known:
        config = known.settings.config
        closed = config.include_closed if include_closed is None else include_closed
        # Gather closed issues for `preview` too: it follows only the settings, while `report` follows the option.
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
        preview = known.comment_preview(target, gathered)
    if as_json:
        echo_json(as_json_of(report, preview))
    else:
        show(report, preview, known, settings)
    sys.exit(0 if report.outcome in (SearchOutcome.FOUND, SearchOutcome.NONE) else UNREACHABLE)


def _issue(text: str, settings: Settings) -> IssueRef:
    if named := issue_at(text, hosts_of(settings.github_api_url)):
        return named
    # The plain number is allowed, because a shell takes #N for a comment.
    number = text.removeprefix("#")
    if not number.isdecimal():
        return IssueRef.parse(text)
    if not settings.default_repository:
        raise SettingsError(f"DOPPEL_REPOSITORY: not set, and {text} names no repository; write OWNER/REPO#{number}.")
    return IssueRef.parse(f"{settings.default_repository}#{number}")


def show(report: Report, preview: CommentPreview, known: KnownRepository, settings: Settings) -> None:
    """Print what the bot would answer to `/duplicates` (P6), and where it looked."""
    from rich.console import Console

    from bot.app.demo.terminal import comment_markdown
    from bot.app.wiring.clients import now
    from bot.conversation.render.comment import CommentView, render_comment

    view = CommentView(
        checked_at=now(),
        enterprise=settings.enterprise,
        asked=True,
        settings_problems=known.settings.problems,
        settings_private=known.settings.private,
        threshold=preview.threshold,
        likely=preview.likely,
        unasked=preview.named,
    )
    click.echo(f"{report.repo}#{report.number} {plain(report.title)}")
    if report.not_asked and not report.queries:
        click.echo(f"Nothing was asked: {', '.join(report.not_asked)} cannot answer here.")
        return
    # If `considered` stayed, the comment would advise `confidence=…`, which this command lacks.
    report = replace(report, considered=())
    Console(highlight=False).print(comment_markdown(render_comment(report, view), unfold=True))
    where = "this host's index" if known.indexed else "GitHub's search; this host has no complete index"
    click.echo(f"\nAsked: {where} of {report.repo}.")
    if report.not_asked:
        click.echo(f"Not asked: {', '.join(report.not_asked)}, which cannot answer here.")
    if preview.silence:
        click.echo(f"The bot posts nothing here unasked ({plain(preview.silence)}).")


def as_json_of(report: Report, preview: CommentPreview) -> dict[str, Any]:
    """The report, with each candidate's likelihood and whether the bot would name it unasked."""
    result = report.to_json()
    for row, candidate in zip(result["candidates"], report.candidates, strict=True):
        word = preview.word(candidate)
        row["likelihood"] = word and word.value
        row["named_unasked"] = preview.names(candidate)
    return result
