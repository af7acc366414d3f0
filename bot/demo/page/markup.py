"""GitHub-flavoured Markdown to HTML that is safe to show, whatever somebody wrote.

markdown-it-py renders, HTML in the text included; then everything passes one allow-list, as on GitHub. The filter
writes its output anew from what it parsed: text is always escaped and every tag it opens it also closes, so that no
text can break out of its place on the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser

from markdown_it import MarkdownIt

from bot.text.html import without_comments

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

_TAGS = frozenset(
    (
        *("a", "b", "blockquote", "code", "dd", "del", "details", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6"),
        *("i", "ins", "kbd", "li", "ol", "p", "pre", "q", "s", "samp", "strong", "sub", "summary", "sup"),
        *("table", "tbody", "td", "th", "thead", "tr", "ul"),
    )
)
# Elements in each other: each piece of text is looked at with all that it is in.
_DEPTH_MAX = 100
_VOID = frozenset({"br", "hr"})
# The text between these tags is not for people either.
_SILENT = frozenset({"script", "style", "title", "textarea", "iframe", "svg", "math", "template", "noscript"})
_SAFE_HREF = re.compile(r"(?:https?://|mailto:|#)[^\s\x00-\x1f]*", re.IGNORECASE)
_ISSUE_URL = re.compile(r"https://(?:redirect\.|www\.)?github\.com/([\w.-]+/[\w.-]+)/issues/(\d+)", re.IGNORECASE)
# What GitHub turns into links: addresses, mentions and issue numbers that stand alone.
_LINKABLE = re.compile(
    r"(?P<url>https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]])"
    r"|(?<![\w`/@])@(?P<login>[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})(?:/[\w-]{1,100})?)"
    r"|(?<![\w`/&#])#(?P<number>[1-9][0-9]{0,9})\b"
)

IssueLink = Callable[[str], str | None]
"""Where `owner/repo#N` leads on this page, None where there is no such issue here."""


def to_html(markdown: str, repository: str = "", link: IssueLink = lambda _: None) -> str:
    """Render a comment or issue body of `repository` (`owner/name`); `link` resolves the issues that it names."""
    sanitizer = _Sanitizer(repository, link)
    # Python's parser looks for the end of each comment anew, which takes a time that is quadratic in their number.
    sanitizer.feed(without_comments(_MARKDOWN.render(markdown.replace("\x00", "\ufffd"))))
    return sanitizer.finish()


class _Sanitizer(HTMLParser):
    def __init__(self, repository: str, link: IssueLink) -> None:
        super().__init__(convert_charrefs=True)
        self._repository, self._link = repository, link
        self._out: list[str] = []
        self._open: list[str] = []
        self._silent = 0

    def finish(self) -> str:
        self.close()
        self._silent = 0
        self._out += [f"</{tag}>" for tag in reversed(self._open)]
        self._open.clear()
        return "".join(self._out)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif self._silent:
            return
        elif tag in _VOID:
            self._out.append(f"<{tag}>")
        elif tag == "img":
            # Nothing is loaded from elsewhere; the description stands in for the picture.
            self._out.append(f'<span class="image">{escape(dict(attrs).get("alt") or "image")}</span>')
        elif tag in _TAGS and len(self._open) < _DEPTH_MAX:
            self._out.append(self._start(tag, dict(attrs)))
            self._open.append(tag)

    def _start(self, tag: str, attrs: dict[str, str | None]) -> str:
        """An opening tag with the only attributes that stay: where a link leads, and whether a fold is open."""
        if tag == "a":
            return _anchor(self._resolve(attrs.get("href") or ""))
        return f"<{tag} open>" if tag == "details" and "open" in attrs else f"<{tag}>"

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)
        elif not self._silent and tag in self._open:
            while (inner := self._open.pop()) != tag:
                self._out.append(f"</{inner}>")
            self._out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if self._silent:
            return
        if {"a", "code", "pre"} & set(self._open):
            self._out.append(escape(data))
            return
        if self._open and (self._open[-1] == "li" or self._open[-2:] == ["li", "p"]):
            data = re.sub(r"^\[( |x)\] ", lambda box: "☐ " if box[1] == " " else "☑ ", data, flags=re.IGNORECASE)
        self._out.append(self._linked(data))

    def _linked(self, text: str) -> str:
        parts, end = [], 0
        for found in _LINKABLE.finditer(text):
            parts.append(escape(text[end : found.start()]) + self._one_link(found))
            end = found.end()
        return "".join(parts) + escape(text[end:])

    def _one_link(self, found: re.Match[str]) -> str:
        shown = escape(found[0])
        if found["login"]:
            return f'<span class="mention">{shown}</span>'
        target = self._resolve(found["url"]) if found["url"] else self._link(f"{self._repository}#{found['number']}")
        return f"{_anchor(target)}{shown}</a>" if target else shown

    def _resolve(self, href: str) -> str | None:
        """Where an address leads: the simulated repository's issues are on this page, all else must be harmless."""
        if issue := _ISSUE_URL.fullmatch(href):
            return self._link(f"{issue[1]}#{issue[2]}") or href
        return href if _SAFE_HREF.fullmatch(href) else None


def _anchor(target: str | None) -> str:
    return f'<a href="{escape(target)}" rel="nofollow noopener noreferrer">' if target else "<a>"
