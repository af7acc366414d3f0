"""Finds the thing that a GitHub address points at (H3), and the issues that a text names.

Addresses of pages, raw files, the API and redirecting hosts are understood. A text names an issue by `#12`,
`GH-12`, `owner/repo#12` or an address, but not inside code or HTML comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Literal
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.domain.entities import BODY_MAX, OWNER_REPO, Issue, RepoRef, name_key
from bot.text.terms import without_comments

_PAGES = ("github.com", "redirect.github.com")
_API = "api.github.com"
_RAW = ("raw.githubusercontent.com", "raw.github.com")
# GitHub numbers a repository's issues, pull requests and discussions in one sequence, and redirects between them.
_THREADS = {"issues", "issue", "pull", "pulls", "discussions"}
# How many lines of a text are parsed as Markdown.
LINES_MAX = 6_000
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing on GitHub; two addresses of one thing give equal values.

    `repo` is `owner/name` in lower case. A `thread` is an issue, pull request or discussion with all its comments.
    `what` is the number of a thread, `REF/PATH` of a file or folder, or the path of any other page, such as a commit.
    """

    repo: str
    kind: Literal["repository", "thread", "file", "folder", "page"]
    what: str = ""


# Slashes at the end of a path, and spaces among them. The lookbehind lets a match begin only at the first of these
# characters, so that the search takes linear time.
_FINAL_SLASHES = re.compile(r"(?<![\s/])[\s/]+\Z")


def normalize_url(url: str) -> str:
    """The normal form of an address: https, without `www.`, default port, user, query, fragment or final slash.

    The host is in lower case. A text that is not a web address is only stripped.
    """
    parts = _split(url)
    if parts is None:
        return url.strip()
    host = _host(parts)
    if ":" in host:
        host = f"[{host}]"
    port = parts.port
    # Drop the default ports of https and of the address's own scheme.
    shown = "" if port in (None, 443, _DEFAULT_PORTS[parts.scheme.lower()]) else f":{port}"
    return f"https://{host}{shown}{_FINAL_SLASHES.sub('', parts.path)}"


def thing_at(url: str, enterprise: str = "") -> Thing | None:
    """The thing in a repository that an address points at, or None.

    If `enterprise` names the host of an Enterprise Server, the server's addresses count, too.
    """
    parts = _split(url)
    if parts is None:
        return None
    path = [unquote(part) for part in parts.path.split("/") if part]
    # In the API's address of a file, the branch is in the query.
    branch = parse_qs(parts.query).get("ref", ["HEAD"])[0]
    host = _host(parts)
    if host in _RAW:
        return _raw(path)
    if host == _API or (enterprise and host == f"api.{enterprise}"):
        return _api(path[1:], branch) if path[:1] == ["repos"] else None
    if host in _PAGES:
        return _page(path)
    if enterprise and host == f"raw.{enterprise}":
        return _raw(path)
    if not enterprise or host != enterprise:
        return None
    # An Enterprise Server without subdomains serves the API and raw files under paths of its main host.
    if path[:3] == ["api", "v3", "repos"]:
        return _api(path[3:], branch)
    return _raw(path[1:]) if path[:1] == ["raw"] else _page(path)


def is_github_url_match(one: str, other: str, enterprise: str = "") -> bool:
    """Whether both addresses lead to the same thing on GitHub, or on the Enterprise Server `enterprise` (a host).

    `issues/N`, `pull/N` and `discussions/N` of one repository are the same thing: they share one sequence of numbers,
    and GitHub redirects from `issues/N` to the right page.
    """
    # A `Thing` does not say whether it is on GitHub or on the Enterprise Server.
    if enterprise and _is_on_github(one) is not _is_on_github(other):
        return False
    thing = thing_at(one, enterprise)
    return thing is not None and thing == thing_at(other, enterprise)


def _is_on_github(url: str) -> bool:
    parts = _split(url)
    return parts is not None and _host(parts) in (*_PAGES, *_RAW, _API)


def _page(path: list[str]) -> Thing | None:
    repo = _repo_key(path)
    if repo is None:
        return None
    if len(path) == 2:
        return Thing(repo, "repository")
    where, rest = path[2], path[3:]
    thread = _thread(repo, rest) if where in _THREADS else None
    if thread is not None:
        return thread
    if where in ("blob", "raw", "blame") and len(rest) > 1:
        return _file(repo, rest)
    if where == "tree" and rest:
        return Thing(repo, "folder", _branch_and_path(rest))
    return Thing(repo, "page", "/".join(path[2:]))


def _api(path: list[str], branch: str) -> Thing | None:
    repo = _repo_key(path)
    if repo is None:
        return None
    if len(path) == 2:
        return Thing(repo, "repository")
    if path[2] in _THREADS:
        return _thread(repo, path[3:])
    return _file(repo, [branch, *path[3:]]) if path[2] == "contents" and path[3:] else None


def _raw(path: list[str]) -> Thing | None:
    repo = _repo_key(path)
    return None if repo is None or len(path) < 4 else _file(repo, path[2:])


def _repo_key(path: list[str]) -> str | None:
    return name_key(f"{path[0]}/{path[1].removesuffix('.git')}") if len(path) > 1 else None


def _thread(repo: str, rest: list[str]) -> Thing | None:
    number = rest[0] if rest else ""
    return Thing(repo, "thread", number.lstrip("0")) if number.isascii() and number.isdigit() else None


def _file(repo: str, rest: list[str]) -> Thing:
    return Thing(repo, "file", _branch_and_path(rest))


def _branch_and_path(rest: list[str]) -> str:
    """Branch and path in one text, because slashes in a branch's name hide where the path begins."""
    return "/".join(rest).removeprefix("refs/heads/")


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port  # a wrong port raises ValueError
    except ValueError:
        return None
    # Refuse a host with a space: if the normal form were parsed again, the host would end at the space.
    usable = parts.scheme.lower() in _DEFAULT_PORTS and host and not any(one.isspace() for one in host)
    return parts if usable else None


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").lower().rstrip(".")
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host


_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`]{1,300}")
# `#12`, `owner/repo#12`, `gh-12` and `GH-12`. GitHub also links an emphasised reference, `_#12_`.
_REFERENCE = re.compile(
    # Not inside a word or an address, but `_` or `__` may stand before the reference.
    r"(?:(?<![\w/#&.-])|(?<=(?<!\w)_)|(?<=(?<!\w)__))"
    rf"(?:(?P<repo>{OWNER_REPO})#|#|[Gg][Hh]-)"
    r"(?P<number>[1-9][0-9]{0,9})(?!_*[^\W_])"  # No word continues after the number.
)


def named_issues(text: str, repo: RepoRef, host: str = "github.com") -> frozenset[str]:
    """The issues that a text in `repo` names, as `owner/repo#number` in lower case.

    If `host` is an Enterprise Server, its addresses count like those of github.com.
    """
    if "#" not in text and "://" not in text and "gh-" not in text.lower():
        return frozenset()
    visible = without_code(without_comments(text[:BODY_MAX]))
    found = set()
    for address in _ADDRESS.findall(visible):
        thing = thing_at(address, host)
        if thing is not None and thing.kind == "thread":
            found.add(f"{thing.repo}#{thing.what}")
    for match in _REFERENCE.finditer(_ADDRESS.sub(" ", visible)):
        found.add(name_key(f"{match['repo'] or repo}#{match['number']}"))
    return frozenset(found)


def named_by(issue: Issue) -> frozenset[str]:
    """The issues that an issue's title and text name, in the form of `named_issues`."""
    return named_issues(f"{issue.title}\n{issue.body}", issue.repo, urlsplit(issue.url).hostname or "")


@cache
def _markdown() -> MarkdownIt:
    # The parser drops text in blocks nested deeper than `maxNesting`, by default 20, which ten nested lists reach.
    return MarkdownIt("zero", {"maxNesting": 100}).enable(["backticks", "code", "fence", "heading", "hr", "list"])


def _blocks(text: str) -> list[Token]:
    """The parsed blocks of a text's first lines: a hostile text may have ten thousand blocks, which take a second."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n", LINES_MAX)
    return _markdown().parse("\n".join(lines[:LINES_MAX]))


def without_code(text: str) -> str:
    """A Markdown text without code blocks and code spans."""
    paragraphs = (token.children or () for token in _blocks(text) if token.type == "inline")
    return "\n\n".join(
        "".join(" " if part.type == "code_inline" else part.content for part in parts) for parts in paragraphs
    )


def second_level_headings(text: str) -> list[str]:
    """The `##` headings of a Markdown text, as written."""
    return [
        inline.content
        for opening, inline in pairwise(_blocks(text))
        if opening.type == "heading_open" and opening.tag == "h2"
    ]
