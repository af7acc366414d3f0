"""A repository that does not exist, or not for who asks, is something to mend and no failure of GitHub's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bot.errors import NotFound, UserError
from bot.model import RepoRef


@contextmanager
def told_if_out_of_sight(repo: RepoRef) -> Iterator[None]:
    """Turn GitHub's 404 into what the caller can do about it. Raises UserError."""
    try:
        yield
    except NotFound as problem:
        raise UserError(
            f"{repo}: there is no such repository, or it cannot be read with what Doppel is set up with. As the App it "
            "must be installed there; GITHUB_TOKEN counts where no APP_ID is set."
        ) from problem
