"""Which issues a text names: who wrote it knows of them already.

`#12`, `owner/repo#12` and addresses count where a reader sees them; what stands in code or in an HTML comment does not.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from bot.model import BODY_MAX, PLACE, Issue, RepoRef, name_key
from bot.text.github_urls import thing_at
from bot.text.terms import without_comments

# A fence ends at one of at least its length, or with the text ("GitHub Flavored Markdown Spec", 4.5). Where other ticks
# follow in the same line, as in "```error```", it is none.
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
    """The issues that `text`, written in `repo`, names: as `owner/repo#number` in lower case.

    `host` is that of the pages of an Enterprise Server, whose addresses count as those of github.com do.
    """
    if "#" not in text and "://" not in text and "gh-" not in text.lower():
        return frozenset()
    seen = without_code(without_comments(text[:BODY_MAX].replace("\r\n", "\n")))
    found = set()
    for address in _ADDRESS.findall(seen):
        thing = thing_at(address.replace(f"://{host}/", "://github.com/", 1))
        if thing is not None and thing.kind == "thread":
            found.add(f"{thing.repo}#{thing.what}")
    for match in _REFERENCE.finditer(_ADDRESS.sub(" ", seen)):
        found.add(name_key(f"{match['repo'] or repo}#{match['number']}"))
    return frozenset(found)


def named_by(issue: Issue) -> frozenset[str]:
    """The issues that the title and the text of an issue name, as `named_issues` writes them."""
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
    """Indented code stands behind an empty line, and never below an item of a list, to which such lines belong."""
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
    """A span ends at the next run of as many ticks; a run without its like is text."""
    runs = [(run.start(), run.end()) for run in _TICKS.finditer(text)]
    # For each run the next one of its length, found from behind.
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
