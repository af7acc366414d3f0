"""What went wrong while a source was asked: told by the bot itself, or as GitHub or a server said it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Remark(Enum):
    """What can be said, each with its English sentence; comments say them in their language."""

    NOT_FOUND = "{} not found"
    LEFT = "{} more are considered when the index is ready"
    NOT_FOUND_AND_LEFT = f"{NOT_FOUND}, {LEFT}"
    BY_WORDS = "searched by words only: {}"
    UNREAD = "whether the repositories are public could not be read"
    HIDDEN = "a repository is public no more"
    LEFT_OUT = "{} of {} left out: not a public repository of this owner, nor allowed by the host"
    NO_PERMISSION = "the App lacks the permission to read discussions"
    EMPTY = "GitHub's answer is empty"
    SEARCH_LIMIT = "GitHub's rate limit for searches is used up for now"
    HYBRID_LIMIT = "GitHub's rate limit for searches by meaning is used up for now"
    TOO_LATE = "no answer within {} seconds"
    FAILED = "failed unexpectedly; the log has the details"
    OTHERS = "{}"

    def of(self, *values: int | str) -> Told:
        """This, with the numbers that it names or what others said."""
        return Told(self, values)


@dataclass(frozen=True, slots=True)
class Told:
    """One remark with its values. As a string it is an English sentence."""

    remark: Remark
    values: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return self.remark.value.format(*self.values)


@dataclass(frozen=True, slots=True)
class Failed:
    """A source that failed, and why."""

    source: str
    told: Told

    def __str__(self) -> str:
        return f"{self.source}: {self.told}"


def told_by(failure: Exception) -> Told:
    """What a failure says."""
    said = failure.args[0] if failure.args else ""
    return said if isinstance(said, Told) else Remark.OTHERS.of(str(failure))
