"""Raw HTML as a browser reads it, which takes for a tag or a comment more than Markdown does."""

from __future__ import annotations

import re
from collections.abc import Iterator

# "Tokenization" in the HTML standard. Nothing in it is matched in two ways, so that it takes linear time.
_PIECE = re.compile(
    r"""
      <!--(?:-?>|.*?--!?>)
    | <(?:!(?!--)|\?|/(?![a-z]))[^>]*+>                             # a comment too, for a browser
    | <(?P<name>/?[a-z][^\t\n\f\ />]*+)
      (?:
          [\t\n\f\ /]++
        | (?:=[^\t\n\f\ />=]*+|[^\t\n\f\ />=]++)                    # an attribute's name
          (?: [\t\n\f\ ]*+=[\t\n\f\ ]*+(?:"[^"]*+"|'[^']*+'|(?=>)|[^\t\n\f\ "'>][^\t\n\f\ >]*+)
            | (?![\t\n\f\ ]*+=) )
      )*+
      >
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_BEGIN = re.compile("<[a-z/!?]", re.IGNORECASE)
# What is between their tags is not shown, or only by browsers that cannot show what it stands for.
_HIDING = frozenset(
    (
        *("audio", "canvas", "datalist", "iframe", "math", "noembed", "noframes", "noscript", "object", "rp"),
        *("script", "select", "style", "svg", "template", "textarea", "title", "video"),
    )
)
UNFINISHED = "<"
"""What stands for an element that hides, where a tag or a comment does."""


def _begin(html: str, at: int) -> int:
    begun = _BEGIN.search(html, at)
    return begun.start() if begun else len(html)


def pieces(html: str) -> Iterator[re.Match[str] | None]:
    """Tags, of which `name` is a group, and comments; None at the end where one has begun that does not end."""
    at = 0
    while (begin := _begin(html, at)) < len(html):
        whole = _PIECE.match(html, begin)
        yield whole
        if whole is None:
            return
        at = whole.end()


def without_comments(html: str) -> str:
    """Tags and text alone, up to where a tag or a comment begins that does not end, as nothing behind it is shown."""
    kept: list[str] = []
    at = 0
    for piece in pieces(html):
        if piece is None:
            return "".join(kept) + html[at : _begin(html, at)]
        kept.append(html[at : piece.end() if piece["name"] else piece.start()])
        at = piece.end()
    return "".join(kept) + html[at:]


def hidden_by(html: str, before: str = "") -> str:
    """What hides the text that follows this HTML: an element's name, or UNFINISHED; empty where it is seen.

    `before` is what this HTML itself stands in. What begins and does not end hides all that follows it.
    """
    for piece in pieces(html):
        if piece is None or before == UNFINISHED:
            return UNFINISHED
        name = (piece["name"] or "").lower()
        if not before and name in _HIDING:
            before = name
        elif name == f"/{before}":
            before = ""
    return before
