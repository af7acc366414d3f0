"""What an address on GitHub points at, however it is written: pages, raw files, API and redirecting hosts (H3)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from bot.model import name_key

_PAGES = ("github.com", "redirect.github.com")
_API = "api.github.com"
_RAW = ("raw.githubusercontent.com", "raw.github.com")
# Issues, pull requests and discussions of a repository share their numbers, and GitHub redirects between them.
_THREADS = {"issues", "issue", "pull", "pulls", "discussions"}
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing on GitHub. Equal things are one thing.

    `repo` is `owner/name` in lower case. `what` is the number of a thread, `REF/PATH` of a file or folder, or the path
    of any other page of the repository, such as a commit or a page of its wiki. A comment is part of its thread.
    """

    repo: str
    kind: Literal["repository", "thread", "file", "folder", "page"]
    what: str = ""


# Slashes and the space between and around them. It begins where they do: to try from each of them would be quadratic.
_END = re.compile(r"(?<![\s/])[\s/]+\Z")


def normalize_url(url: str) -> str:
    """An address in the one way in which equal ones are written.

    `https`, the host in lower case without `www.`, no default port, user, query, fragment or slash at the end. What is
    no web address comes back as it is, without the space around it.
    """
    parts = _split(url)
    if parts is None:
        return url.strip()
    host = _host(parts)
    if ":" in host:
        host = f"[{host}]"
    port = parts.port
    # The scheme becomes https, whose own port goes as well as that of the scheme which was written.
    shown = "" if port in (None, 443, _DEFAULT_PORTS[parts.scheme.lower()]) else f":{port}"
    return f"https://{host}{shown}{_END.sub('', parts.path)}"


def thing_at(url: str) -> Thing | None:
    """What a GitHub address points at, None where it is none of a repository's things."""
    parts = _split(url)
    if parts is None:
        return None
    path = [unquote(part) for part in parts.path.split("/") if part]
    host = _host(parts)
    if host in _RAW:
        return _raw(path)
    if host == _API and path[:1] == ["repos"]:
        return _api(path[1:], parse_qs(parts.query).get("ref", ["HEAD"])[0])
    return _page(path) if host in _PAGES else None


def is_github_url_match(one: str, other: str) -> bool:
    """Whether both addresses lead to the same thing on GitHub.

    `issues/N`, `pull/N` and `discussions/N` of one repository do: it counts them in one sequence, so that N is a single
    thread, and GitHub leads from `issues/N` to whichever of them it is.
    """
    thing = thing_at(one)
    return thing is not None and thing == thing_at(other)


def _page(path: list[str]) -> Thing | None:
    repo = _repo(path)
    if repo is None or len(path) == 2:
        return None if repo is None else Thing(repo, "repository")
    where, rest = path[2], path[3:]
    thread = _thread(repo, rest) if where in _THREADS else None
    if thread is not None:
        return thread
    if where in ("blob", "raw", "blame") and len(rest) > 1:
        return _file(repo, rest)
    return Thing(repo, "folder", _at(rest)) if where == "tree" and rest else Thing(repo, "page", "/".join(path[2:]))


def _api(path: list[str], ref: str) -> Thing | None:
    repo = _repo(path)
    if repo is None or len(path) == 2:
        return None if repo is None else Thing(repo, "repository")
    if path[2] in _THREADS:
        return _thread(repo, path[3:])
    return _file(repo, [ref, *path[3:]]) if path[2] == "contents" and path[3:] else None


def _raw(path: list[str]) -> Thing | None:
    repo = _repo(path)
    return None if repo is None or len(path) < 4 else _file(repo, path[2:])


def _repo(path: list[str]) -> str | None:
    return name_key(f"{path[0]}/{path[1].removesuffix('.git')}") if len(path) > 1 else None


def _thread(repo: str, rest: list[str]) -> Thing | None:
    number = rest[0] if rest else ""
    return Thing(repo, "thread", number.lstrip("0")) if number.isascii() and number.isdigit() else None


def _file(repo: str, rest: list[str]) -> Thing:
    return Thing(repo, "file", _at(rest))


def _at(rest: list[str]) -> str:
    """Branch and path. `main` can be written out as `refs/heads/main`; a branch's name may have slashes, so it stays
    joined to the path.
    """
    return "/".join(rest).removeprefix("refs/heads/")


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        # Reading the port is what finds a wrong one.
        usable = parts.scheme.lower() in _DEFAULT_PORTS and parts.hostname and (parts.port or True)
        # A host with a space in it is none, and the next reading would take the space for the end.
        usable = usable and not any(one.isspace() for one in parts.hostname or "")
    except ValueError:
        return None
    return parts if usable else None


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").lower().rstrip(".")
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host
