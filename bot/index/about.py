"""What the index asks about a repository itself, beside its issues."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class About(Protocol):
    """Answers are asked for with every text, so they must be quick; they may change at any time."""

    def may_embed(self, repo_id: int) -> bool:
        """Whether this repository's texts may be given to the model (C6a: private ones not to every remote one)."""
        ...

    def form_lines(self, repo_id: int) -> Collection[str]:
        """The lines that its issue forms and templates put into an issue."""
        ...


class Anything:
    """For replays, demos and measurements: texts on this machine, of which nothing else is known."""

    def may_embed(self, repo_id: int) -> bool:
        return True

    def form_lines(self, repo_id: int) -> Collection[str]:
        return ()
