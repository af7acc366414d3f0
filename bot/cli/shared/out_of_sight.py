"""A repository that does not exist, or not for who asks, and a wrong token are something to mend, not to try again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bot.errors import Forbidden, KeyRefused, NotFound, UserError
from bot.model import RepoRef


@contextmanager
def told_of_tokens(repo: RepoRef) -> Iterator[None]:
    """Turn what GitHub refuses because of a wrong token into what the caller can do about it, as UserError."""
    try:
        yield
    except Forbidden as problem:
        if not problem.unknown:
            raise
        raise UserError(
            f"{repo}: GitHub does not know who asks: a GITHUB_TOKEN that is wrong or has expired."
        ) from problem


@contextmanager
def told_if_out_of_sight(repo: RepoRef) -> Iterator[None]:
    """Turn what GitHub refuses because of who asks into what the caller can do about it, as UserError."""
    try:
        with told_of_tokens(repo):
            yield
    except NotFound as problem:
        raise UserError(
            f"{repo}: there is no such repository, or it cannot be read with what Doppel is set up with. As the App it "
            "must be installed there; GITHUB_TOKEN counts where no APP_ID is set."
        ) from problem
    except KeyRefused as problem:
        raise UserError(f"{repo}: APP_ID and PRIVATE_KEY must belong to one App that is there: {problem}") from problem
