"""The words after a command: which issue is meant, and what is asked to differ from the settings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from bot.addresses import ISSUE, host_of
from bot.commands.model import Options, Problem
from bot.model import NUMBER_MAX, PLACE, RepoRef, name_key
from bot.text.full_width import plain

LIMIT_MAX = 10

_NUMBER = re.compile(r"#?([0-9]{1,12})")
_FULL = re.compile(rf"({PLACE})#([0-9]{{1,12}})")


@dataclass(frozen=True, slots=True)
class Here:
    """Where a comment stands: issues of another GitHub are not taken. `hosts` as `bot.addresses.hosts_of` has them."""

    repo: RepoRef
    hosts: frozenset[str]

    def number(self, word: str) -> int | Problem:
        """The number of an issue of this repository, written as `issue` takes it."""
        named = self.issue(word)
        if isinstance(named, Problem):
            return named
        return Problem.OTHER_REPOSITORY if named[0] else named[1]

    def issue(self, word: str) -> tuple[str, int] | Problem:
        """Read `#12`, `12`, `owner/repo#12` or the address of an issue, pull request or discussion.

        The first part is `owner/repo` where that is another repository, else empty.
        """
        word = plain(word).rstrip(".,;:!")
        where, is_here = str(self.repo), True
        if match := _NUMBER.fullmatch(word):
            digits = match[1]
        elif match := _FULL.fullmatch(word):
            where, digits = match[1], match[2]
        elif match := ISSUE.fullmatch(word):
            is_here, where, digits = host_of(match[1]) in self.hosts, match[2], match[3]
        else:
            return Problem.NUMBER_UNREADABLE
        if not is_here:
            return Problem.OTHER_REPOSITORY
        if not 1 <= int(digits) <= NUMBER_MAX:
            return Problem.NUMBER_UNREADABLE
        return "" if name_key(where) == self.repo.key else where, int(digits)


def read_option(word: str, options: Options) -> Options | Problem | None:
    """`options` with what `word` says; None where it is no option at all."""
    word = plain(word).lower()
    if word in ("open", "closed", "all"):
        return replace(options, state=word)  # type: ignore[arg-type]
    if word == "fresh":
        return replace(options, fresh=True)
    key, equals, value = word.partition("=")
    if not equals or key not in ("confidence", "threshold", "limit"):
        return None
    if key == "limit":
        limit = int(value) if re.fullmatch(r"[0-9]{1,3}", value) else 0
        return replace(options, limit=limit) if 1 <= limit <= LIMIT_MAX else Problem.OPTION_VALUE
    share = _share(value)
    if share is None:
        return Problem.OPTION_VALUE
    return replace(options, confidence=share) if key == "confidence" else replace(options, threshold=share)


def _share(text: str) -> float | None:
    """A number from 0 to 1, or as a percentage."""
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{0,6})?|\.[0-9]{1,6})(%?)", text)
    if match is None:
        return None
    value = float(match[1]) / (100 if match[2] else 1)
    return value if value <= 1 else None
