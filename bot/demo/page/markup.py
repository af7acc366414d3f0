"""GitHub-flavoured Markdown to HTML that is safe to show, whatever somebody wrote.

markdown-it-py renders it. HTML in the text stays text, but for a few tags that can do nothing outside of their place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from markdown_it import MarkdownIt

from bot.text.invisible import without_comments

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# None is of those that browsers open again behind the element in which they were left open, as <b> is.
_ALLOWED = re.compile(r"&lt;(/?(?:details|summary|sub|sup|kbd)|br|details open)&gt;", re.IGNORECASE)
_ISSUE_URL = re.compile(r"https://(?:redirect\.|www\.)?github\.com/([\w.-]+/[\w.-]+)/issues/(\d{1,10})", re.IGNORECASE)
# What GitHub turns into links: addresses, mentions and issue numbers that stand alone.
_LINKABLE = re.compile(
    r"(https?://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]])"
    r"|(?<![\w`/@])(@[A-Za-z0-9](?:[A-Za-z0-9_-]{0,38})(?:/[\w-]{1,100})?)"
    r"|(?<![\w`/&#])(#[1-9][0-9]{0,9})\b"
)
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ "}
_SAFE = ("http://", "https://", "mailto:", "#")

IssueLink = Callable[[str], str | None]
"""Where `owner/repo#N` leads on this page, None where there is no such issue here."""


def to_html(markdown: str, repository: str = "", link: IssueLink = lambda _: None) -> str:
    """Render a comment or issue body of `repository` (`owner/name`); `link` resolves the issues that it names."""

    def resolved(href: str) -> str | None:
        """The simulated repository's issues are on this page, all else must be harmless."""
        issue = _ISSUE_URL.fullmatch(href)
        return (issue and link(f"{issue[1]}#{issue[2]}")) or (href if href.startswith(_SAFE) else None)

    def linked(text: str) -> str:
        made = []
        # What is between the pieces, and the three groups of each, of which one is there.
        for at, piece in enumerate(_LINKABLE.split(text)):
            target = at % 4 and piece and (resolved(piece) if at % 4 == 1 else at % 4 == 3 and link(repository + piece))
            shown = escape(piece or "", quote=False)
            if target:
                shown = f'<a href="{escape(target)}" rel="nofollow noopener noreferrer">{shown}</a>'
            made.append(f'<span class="mention">{shown}</span>' if at % 4 == 2 and piece else shown)
        return "".join(made)

    tokens, inside = _MARKDOWN.parse(markdown), False
    for block in tokens:
        for at, token in enumerate(block.children or [block]):
            if token.type in ("html_block", "html_inline"):
                token.content = _ALLOWED.sub(r"<\1>", escape(without_comments(token.content), quote=False))
            elif token.type == "image":
                # Nothing is loaded from elsewhere; the description stands in for the picture.
                token.type, token.content = (
                    "html_inline",
                    f'<span class="image">{escape(token.content or "image")}</span>',
                )
            elif token.type in ("link_open", "link_close"):
                inside = token.type == "link_open"
                if inside:
                    target = resolved(str(token.attrs["href"]))
                    token.attrs = {"href": target, "rel": "nofollow noopener noreferrer"} if target else {}
            elif token.type == "text" and not inside:
                begin = token.content[:4]
                text = token.content if at else _BOXES.get(begin.lower(), begin) + token.content[4:]
                token.type, token.content = "html_inline", linked(text)
    return str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
