"""The words after a command: which issue is meant, and what is asked to differ from the settings."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from bot.commands.model import Options, Problem
from bot.model import PLACE, IssueRef, RepoRef, name_key
from bot.text.full_width import plain

NUMBER_MAX = 2**31 - 1
"""The largest number that GitHub's API takes for an issue."""

LIMIT_MAX = 10

_NUMBER = re.compile(r"#?([0-9]{1,12})")
_FULL = re.compile(rf"({PLACE})#([0-9]{{1,12}})")
_URL = re.compile(
    r"https?://([^/\s]{1,100})/(?:api/v3/)?(?:repos/)?([^/\s]{1,40}/[^/\s]{1,100})/(?:issues|pulls?|discussions)/([0-9]{1,12})"
    r"(?:[/?#]\S*)?"
)
_REPOSITORY_URL = re.compile(rf"https?://([^/\s]{{1,100}})/({PLACE})/?")

GITHUB_HOSTS = frozenset({"github.com", "www.github.com", "redirect.github.com", "api.github.com"})
"""Where addresses of issues on github.com lead; the bot's own comments link through `redirect.github.com`."""


def issue_hosts(api_url: str) -> frozenset[str]:
    """The hosts in addresses of issues on the GitHub whose API is at `api_url`: those of its pages and of its API.

    They are in lower case, with the port where that is not the usual one. An API elsewhere that is no Enterprise
    Server's (the simulator's, or one behind a proxy) is that of github.com, whose addresses its issues have.
    """
    host = _host(urlsplit(api_url).netloc)
    if host.endswith(".ghe.com"):
        return frozenset({host, host.removeprefix("api.")})
    if api_url.rstrip("/").endswith("/api/v3"):
        return frozenset({host})
    return GITHUB_HOSTS | {host}


def issue_at(address: str, hosts: frozenset[str]) -> IssueRef | None:
    """The issue to which an address on one of these hosts leads (`issue_hosts`); None for anything else."""
    match = _URL.fullmatch(address)
    if match is None or _host(match[1]) not in hosts or not 1 <= int(match[3]) <= NUMBER_MAX:
        return None
    return IssueRef(RepoRef.parse(match[2]), int(match[3]))


def repository_at(address: str, hosts: frozenset[str]) -> RepoRef | None:
    """The repository to which an address on one of these hosts leads, of its page or to clone it; None for others."""
    match = _REPOSITORY_URL.fullmatch(address)
    if match is None or _host(match[1]) not in hosts:
        return None
    # No repository's name ends like this.
    return RepoRef.parse(match[2].removesuffix(".git"))


def _host(netloc: str) -> str:
    return netloc.lower().removesuffix(":443").removesuffix(":80")


@dataclass(frozen=True, slots=True)
class Here:
    """Where a comment stands: issues of another GitHub are not taken. `hosts` as `issue_hosts` has them."""

    repo: RepoRef
    hosts: frozenset[str] = GITHUB_HOSTS

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
        elif match := _URL.fullmatch(word):
            is_here, where, digits = _host(match[1]) in self.hosts, match[2], match[3]
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
