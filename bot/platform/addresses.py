"""Addresses on a GitHub: which GitHub it is, and what an address leads to. Pure.

github.com has its API at `https://api.github.com`; an enterprise's own host, `https://NAME.ghe.com`, has it at
`https://api.NAME.ghe.com`; an Enterprise Server, `https://HOST`, has it at `https://HOST/api/v3` ("Getting started with
the REST API"). A simulator has both at one address.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bot.domain.entities import NUMBER_MAX, PLACE, IssueRef, RepoRef

SERVER_PATH = "/api/v3"
"""Where an Enterprise Server has its API."""

ENTERPRISE_HOSTS = ".ghe.com"
"""How the name of an enterprise's own host ends."""

GITHUB_HOSTS = frozenset({"github.com", "www.github.com", "redirect.github.com", "api.github.com"})
"""Where addresses of issues on github.com lead; the bot's own comments link through `redirect.github.com`."""

ISSUE = re.compile(
    r"https?://([^/\s]{1,100})/(?:api/v3/)?(?:repos/)?([^/\s]{1,40}/[^/\s]{1,100})/(?:issues|pulls?|discussions)/([0-9]{1,12})"
    r"(?:[/?#]\S*)?"
)
"""The address of an issue, pull request or discussion, on its page or of the API: host, `owner/repo`, number."""

# A host's name, or an IPv6 address, and a port: nothing that has a meaning in a header or on a page.
_SITE = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")

_REPOSITORY = re.compile(rf"https?://([^/\s]{{1,100}})/({PLACE})/?")


def is_web(text: str) -> bool:
    """Whether it is an http(s) address with a host and, if any, a port that there can be."""
    try:
        parts = urlsplit(text)
        # Reading the port is what finds a wrong one.
        right = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
        return right and bool(site_of(parts.netloc.rpartition("@")[2]))
    except ValueError:
        return False


def site_of(netloc: str) -> str:
    """A host, with or without a port, as networks know it (RFC 3490: `xn--…`); empty where that is none."""
    try:
        site = netloc.encode("idna").decode()
    except UnicodeError:
        return ""
    return site if _SITE.fullmatch(site) else ""


def is_server(api_url: str) -> bool:
    """Whether an API is an Enterprise Server's."""
    return api_url.rstrip("/").endswith(SERVER_PATH)


def is_enterprise(api_url: str) -> bool:
    """Whether it is one's or of an enterprise's own host: redirect.github.com leads to neither."""
    return is_server(api_url) or host_of(urlsplit(api_url).netloc).endswith(ENTERPRISE_HOSTS)


def pages_of(api_url: str) -> str:
    """The address of GitHub's pages, of which `api_url` is that of the API: `https://github.com`, or another host's."""
    parts = urlsplit(api_url)
    host = parts.netloc
    if host == "api.github.com" or host.endswith(ENTERPRISE_HOSTS):
        host = host.removeprefix("api.")
    return f"{parts.scheme}://{host}"


def hosts_of(api_url: str) -> frozenset[str]:
    """The hosts in addresses of issues on the GitHub whose API is at `api_url`: those of its pages and of its API.

    They are in lower case, with the port where that is not the usual one. An API elsewhere that is no Enterprise
    Server's (the simulator's, or one behind a proxy) is that of github.com, whose addresses its issues have.
    """
    host = host_of(urlsplit(api_url).netloc)
    if host.endswith(ENTERPRISE_HOSTS):
        return frozenset({host, host.removeprefix("api.")})
    return frozenset({host}) if is_server(api_url) else GITHUB_HOSTS | {host}


def issue_at(address: str, hosts: frozenset[str]) -> IssueRef | None:
    """The issue to which an address on one of these hosts leads (`hosts_of`); None for anything else."""
    match = ISSUE.fullmatch(address)
    if match is None or host_of(match[1]) not in hosts or not 1 <= int(match[3]) <= NUMBER_MAX:
        return None
    return IssueRef(RepoRef.parse(match[2]), int(match[3]))


def repository_at(address: str, hosts: frozenset[str]) -> RepoRef | None:
    """The repository to which an address on one of these hosts leads, of its page or to clone it; None for others."""
    match = _REPOSITORY.fullmatch(address)
    if match is None or host_of(match[1]) not in hosts:
        return None
    # No repository's name ends like this.
    return RepoRef.parse(match[2].removesuffix(".git"))


def host_of(netloc: str) -> str:
    """The host in the middle of an address, as it is compared: in lower case, without the usual ports."""
    return netloc.lower().removesuffix(":443").removesuffix(":80")
