"""GitHub's web addresses: which GitHub host an address belongs to, and which issue or repository it names. Pure.

github.com has its API at `https://api.github.com`. The host `https://NAME.ghe.com` of an enterprise has its API at
`https://api.NAME.ghe.com`. An Enterprise Server `https://HOST` has its API at `https://HOST/api/v3` ("Getting started
with the REST API"). A simulator has API and pages at one address.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bot.domain.entities import NUMBER_MAX, OWNER_REPO, IssueRef, RepoRef

SERVER_PATH = "/api/v3"
ENTERPRISE_HOSTS = ".ghe.com"
"""The suffix of each host that GitHub runs for an enterprise."""

# The bot's own comments link through `redirect.github.com`.
GITHUB_HOSTS = frozenset({"github.com", "www.github.com", "redirect.github.com", "api.github.com"})

ISSUE = re.compile(
    r"https?://([^/\s]{1,100})/(?:api/v3/)?(?:repos/)?([^/\s]{1,40}/[^/\s]{1,100})/(?:issues|pulls?|discussions)/([0-9]{1,12})"
    r"(?:[/?#]\S*)?"
)
"""The address of an issue, pull request or discussion, as a page or in the API. Groups: host, OWNER/REPO, number."""

# A host's name or IPv6 address, perhaps with a port (`[::1]:3000`), in characters that are safe in headers and pages.
_SITE = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")

_REPOSITORY = re.compile(rf"https?://([^/\s]{{1,100}})/({OWNER_REPO})/?")


def is_web(text: str) -> bool:
    """Whether this is an http(s) address with a host, and with a valid port if it has one."""
    try:
        parts = urlsplit(text)
        # Reading `port` raises ValueError if the port is invalid, but accepts 0.
        valid = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
        return valid and bool(site_of(parts.netloc.rpartition("@")[2]))
    except ValueError:
        return False


def site_of(netloc: str) -> str:
    """A host, with or without a port, in its ASCII form (RFC 3490: `xn--…`); empty for an invalid host."""
    try:
        site = netloc.encode("idna").decode()
    except UnicodeError:
        return ""
    return site if _SITE.fullmatch(site) else ""


def is_server(api_url: str) -> bool:
    """Whether this is the API of an Enterprise Server, by its path."""
    return api_url.rstrip("/").endswith(SERVER_PATH)


def is_enterprise(api_url: str) -> bool:
    """Whether this is the API of an Enterprise Server or of NAME.ghe.com."""
    return is_server(api_url) or host_of(urlsplit(api_url).netloc).endswith(ENTERPRISE_HOSTS)


def pages_of(api_url: str) -> str:
    """The address of the web pages of the GitHub whose API is at `api_url`, such as `https://github.com`."""
    parts = urlsplit(api_url)
    host = parts.netloc
    if host == "api.github.com" or host.endswith(ENTERPRISE_HOSTS):
        host = host.removeprefix("api.")
    return f"{parts.scheme}://{host}"


def hosts_of(api_url: str) -> frozenset[str]:
    """The hosts of one GitHub, in the form of `host_of`: the host of its API (`api_url`), and the hosts of its pages.

    Every API except an enterprise's counts as github.com's API, even if it belongs to a simulator or a proxy.
    """
    host = host_of(urlsplit(api_url).netloc)
    if host.endswith(ENTERPRISE_HOSTS):
        return frozenset({host, host.removeprefix("api.")})
    return frozenset({host}) if is_server(api_url) else GITHUB_HOSTS | {host}


def issue_at(address: str, hosts: frozenset[str]) -> IssueRef | None:
    """The issue at an address on these hosts (`hosts_of`), or None. Raises InvalidArgument for an impossible name."""
    match = ISSUE.fullmatch(address)
    if match is None or host_of(match[1]) not in hosts or not 1 <= int(match[3]) <= NUMBER_MAX:
        return None
    return IssueRef(RepoRef.parse(match[2]), int(match[3]))


def repository_at(address: str, hosts: frozenset[str]) -> RepoRef | None:
    """The repository whose page or clone address this is, on one of these hosts; None for anything else."""
    match = _REPOSITORY.fullmatch(address)
    if match is None or host_of(match[1]) not in hosts:
        return None
    # No repository's name ends in `.git`.
    return RepoRef.parse(match[2].removesuffix(".git"))


def host_of(netloc: str) -> str:
    """The host of an address, normalised for comparison: in lower case, without the ports 80 and 443."""
    return netloc.lower().removesuffix(":443").removesuffix(":80")
