"""What a GitHub address points at (H3), and which issues a text names, because its author knows of them already.

Pages, raw files, API and redirecting hosts are known. `#12`, `owner/repo#12` and addresses count where a reader sees
them, and not in code or HTML comments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from bot.domain.entities import BODY_MAX, PLACE, Issue, RepoRef, name_key
from bot.text.terms import without_comments

_PAGES = ("github.com", "redirect.github.com")
_API = "api.github.com"
_RAW = ("raw.githubusercontent.com", "raw.github.com")
# Issues, pull requests and discussions of a repository share their numbers, and GitHub redirects between them.
_THREADS = {"issues", "issue", "pull", "pulls", "discussions"}
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing on GitHub; two addresses of one thing give equal values.

    `repo` is `owner/name` in lower case. `what` is the number of a thread, `REF/PATH` of a file or folder, or the path
    of any other page, such as a commit or a wiki page. A comment is part of its thread.
    """

    repo: str
    kind: Literal["repository", "thread", "file", "folder", "page"]
    what: str = ""


# Slashes at the end and the space around them. The lookbehind keeps it from being tried at each of them.
_END = re.compile(r"(?<![\s/])[\s/]+\Z")


def normalize_url(url: str) -> str:
    """The normal form of an address: https, no `www.`, default port, user, query, fragment or slash at the end.

    The host is in lower case. Anything that is no web address is only stripped.
    """
    parts = _split(url)
    if parts is None:
        return url.strip()
    host = _host(parts)
    if ":" in host:
        host = f"[{host}]"
    port = parts.port
    # The default ports of https and of the scheme that was written are dropped.
    shown = "" if port in (None, 443, _DEFAULT_PORTS[parts.scheme.lower()]) else f":{port}"
    return f"https://{host}{shown}{_END.sub('', parts.path)}"


def thing_at(url: str, enterprise: str = "") -> Thing | None:
    """The thing in a repository that an address points at, or None.

    Addresses of an Enterprise Server count too if `enterprise` names its host.
    """
    parts = _split(url)
    if parts is None:
        return None
    path = [unquote(part) for part in parts.path.split("/") if part]
    ref = parse_qs(parts.query).get("ref", ["HEAD"])[0]
    host = _host(parts)
    if host in _RAW:
        return _raw(path)
    if host == _API or (enterprise and host == f"api.{enterprise}"):
        return _api(path[1:], ref) if path[:1] == ["repos"] else None
    if host in _PAGES or not enterprise:
        return _page(path) if host in _PAGES else None
    if host == f"raw.{enterprise}":
        return _raw(path)
    if host != enterprise:
        return None
    # Without a subdomain for each service, an Enterprise Server has them all in its paths.
    if path[:3] == ["api", "v3", "repos"]:
        return _api(path[3:], ref)
    return _raw(path[1:]) if path[:1] == ["raw"] else _page(path)


def is_github_url_match(one: str, other: str, enterprise: str = "") -> bool:
    """Whether both addresses lead to the same thing on GitHub, or on the Enterprise Server `enterprise` (a host).

    `issues/N`, `pull/N` and `discussions/N` of one repository do: they share one sequence of numbers, and GitHub
    redirects from `issues/N` to the right one.
    """
    if enterprise and _is_githubs(one) is not _is_githubs(other):
        return False
    thing = thing_at(one, enterprise)
    return thing is not None and thing == thing_at(other, enterprise)


def _is_githubs(url: str) -> bool:
    parts = _split(url)
    return parts is not None and _host(parts) in (*_PAGES, *_RAW, _API)


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
    """Branch and path, not separated, because a branch's name may have slashes. `main` may be `refs/heads/main`."""
    return "/".join(rest).removeprefix("refs/heads/")


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
        # Reading the port raises ValueError for a wrong one.
        usable = parts.scheme.lower() in _DEFAULT_PORTS and parts.hostname and (parts.port or True)
        # A host with a space is wrong, and a second parsing would end at the space.
        usable = usable and not any(one.isspace() for one in parts.hostname or "")
    except ValueError:
        return None
    return parts if usable else None


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").lower().rstrip(".")
    while host.startswith("www.") and "." in host[4:]:
        host = host[4:]
    return host


# A fence ends at one of at least its length, or with the text ("GitHub Flavored Markdown Spec", 4.5). With other ticks
# in the same line, as in "```error```", it is no fence.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[^\n]*$", re.MULTILINE)
_INDENTED = ("    ", "\t")
_ITEM = re.compile(r" {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t]|\Z)")
_TICKS = re.compile(r"`+")
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`]{1,300}")
# GitHub links what is emphasised, `_#12_`, and `gh-12` as well as `GH-12`.
_REFERENCE = re.compile(
    r"(?:(?<![\w/#&.-])|(?<=(?<!\w)_)|(?<=(?<!\w)__))"
    rf"(?:(?P<repo>{PLACE})#|#|[Gg][Hh]-)"
    r"(?P<number>[1-9][0-9]{0,9})(?!_*[^\W_])"
)


def named_issues(text: str, repo: RepoRef, host: str = "github.com") -> frozenset[str]:
    """The issues that `text`, written in `repo`, names, as `owner/repo#number` in lower case.

    `host` is the host of an Enterprise Server's pages, whose addresses count like github.com's.
    """
    if "#" not in text and "://" not in text and "gh-" not in text.lower():
        return frozenset()
    seen = without_code(without_comments(text[:BODY_MAX].replace("\r\n", "\n")))
    found = set()
    for address in _ADDRESS.findall(seen):
        thing = thing_at(address, host)
        if thing is not None and thing.kind == "thread":
            found.add(f"{thing.repo}#{thing.what}")
    for match in _REFERENCE.finditer(_ADDRESS.sub(" ", seen)):
        found.add(name_key(f"{match['repo'] or repo}#{match['number']}"))
    return frozenset(found)


def named_by(issue: Issue) -> frozenset[str]:
    """The issues that an issue's title and text name, in the form of `named_issues`."""
    return named_issues(f"{issue.title}\n{issue.body}", issue.repo, urlsplit(issue.url).hostname or "")


def without_code(text: str) -> str:
    """A Markdown text without code blocks and code spans. Linear in its length."""
    return _without_spans(_without_indented(_without_fences(text)))


def _without_fences(text: str) -> str:
    kept = []
    at = 0
    opened = ""
    for fence in _FENCE.finditer(text):
        if not opened:
            kept.append(text[at : fence.start()])
            opened = fence[1]
        elif fence[1].startswith(opened) and fence[0].strip() == fence[1]:
            opened, at = "", fence.end()
    # A fence that nothing closes runs to the end.
    return " ".join([*kept, "" if opened else text[at:]])


def _without_indented(text: str) -> str:
    """Indented code follows an empty line, and is never below a list item, to which such lines belong."""
    kept = []
    empty, code, in_list = True, False, False
    for line in text.split("\n"):
        blank, indented = not line.strip(), line.startswith(_INDENTED)
        if not blank:
            code = indented and not in_list and (code or empty)
            if not indented and (_ITEM.match(line) or (empty and not line.startswith(" "))):
                in_list = _ITEM.match(line) is not None
        kept.append(" " if code and not blank else line)
        empty = blank
    return "\n".join(kept)


def _without_spans(text: str) -> str:
    """A span ends at the next run of as many ticks; a run without a partner is text."""
    runs = [run.span() for run in _TICKS.finditer(text)]
    # For each run the next one of its length, found from the end.
    partner: dict[int, int] = {}
    last: dict[int, int] = {}
    for place in range(len(runs) - 1, -1, -1):
        start, end = runs[place]
        if end - start in last:
            partner[place] = last[end - start]
        last[end - start] = place
    kept = []
    at = place = 0
    while place < len(runs):
        if place in partner:
            kept.append(text[at : runs[place][0]])
            place = partner[place]
            at = runs[place][1]
        place += 1
    return " ".join([*kept, text[at:]])
