"""A repository's own history, read through GitHub."""

from __future__ import annotations

from typing import Any

from bot import settings as host
from bot.cli.shared.out_of_sight import told_if_out_of_sight
from bot.cli.shared.progress import progress_bar
from bot.errors import RateLimited, Unavailable
from bot.evaluation.reading import read_history
from bot.model import RepoRef
from bot.wiring.clients import build_github, reader
from bot.wiring.evaluating import history_erased_if_ended


def history_of(repo: RepoRef, *, fresh: bool) -> list[dict[str, Any]]:
    """The rows of a repository, as far as they are not known yet from GitHub; all of them with `fresh`."""
    settings = host.load()
    github = build_github(settings)
    with told_if_out_of_sight(repo), progress_bar(f"Issues of {repo}", None) as (progress, task):
        try:
            with history_erased_if_ended(settings, repo):
                return read_history(
                    reader(settings, github, repo),
                    repo,
                    settings.home,
                    lambda done, total: progress.update(task, completed=done, total=total),
                    fresh=fresh,
                )
        except (RateLimited, Unavailable) as problem:
            wait = f" in {problem.after / 60:.0f} minutes" if problem.after and problem.after > 60 else ""
            raise type(problem)(
                f"{problem}. What was read is kept: run it again{wait} to go on", problem.after
            ) from None
        finally:
            github.close()
