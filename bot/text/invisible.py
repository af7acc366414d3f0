"""Finds the invisible parts of a text: characters that nobody sees, and text that raw HTML hides in a browser.

The bot's comments quote no such characters, and commands in hidden text do not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Unicode's property Default_Ignorable_Code_Point, as of version 16.
_IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_JOINER, _NON_JOINER = "\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}"
JOINERS = _JOINER + _NON_JOINER
_AS_EMOJI = "\N{VARIATION SELECTOR-16}"
_MONGOLIAN_FORMS = "\u180b\u180c\u180d\u180e\u180f"
# Unicode's combining class of viramas, the marks that join two consonants in Indic scripts.
_VIRAMA = 9
_KEYS, _KEYCAP = "0123456789#*", "\N{COMBINING ENCLOSING KEYCAP}"


def is_ignorable(char: str) -> bool:
    """Whether Unicode lets programs ignore the character (Default_Ignorable_Code_Point)."""
    return _IGNORABLE.match(char) is not None


def without_invisible(text: str) -> str:
    """`text` without ignorable characters, except those that scripts and emoji need to look right.

    The exceptions are the emoji selector, the selectors of Mongolian letters, and joiners in Arabic, in Indic scripts
    and in emoji. A joiner or selector without effect, such as a repeated one, is removed.
    """
    if not _IGNORABLE.search(text):
        return text
    kept: list[str] = []
    for at, char in enumerate(text):
        if not is_ignorable(char) or _changes_look(char, "".join(kept[-2:]), text[at + 1 : at + 3]):
            kept.append(char)
    return "".join(kept)


def _changes_look(char: str, before: str, after: str) -> bool:
    """Whether the character changes how the text around it looks. `before` and `after` have up to two characters."""
    last, following = before[-1:], after[:1]
    if char == _AS_EMOJI:
        return _is_emoji(last) or (last != "" and last in _KEYS and following == _KEYCAP)
    if char in _MONGOLIAN_FORMS:
        return "\u1820" <= last <= "\u18aa"
    if char not in JOINERS or not last:
        return False
    # After a virama, or between a caseless (Indic) letter and a virama, a joiner changes a form.
    if _is_virama(last) or (_is_virama(following) and _is_caseless_letter(last)):
        return True
    # If `last` is a mark or an emoji selector, the base is the character before `last`.
    base = before[:1] if last == _AS_EMOJI or unicodedata.combining(last) else last
    if char == _NON_JOINER:
        return _is_joined(base) and _is_joined(following)
    # In a run of ignorable characters, only a joiner at the end has an effect.
    if is_ignorable(following):
        return False
    # A joiner has no effect between two letters of a script that joins its letters, such as Arabic.
    only_one_joins = _is_joined(base) != _is_joined(following)
    return only_one_joins or (_is_emoji(base) and _is_emoji(following))


def _is_emoji(char: str) -> bool:
    """Whether the character is an emoji or a similar symbol. The exact set changes with each version of Unicode."""
    if not char:
        return False
    category = unicodedata.category(char)
    return char in "‼⁉〰ℹ" or category == "So" or (category in ("Sm", "Sk") and char >= "\u2190")


def _is_virama(char: str) -> bool:
    return char != "" and unicodedata.combining(char) == _VIRAMA


def _is_caseless_letter(char: str) -> bool:
    return unicodedata.category(char) == "Lo"


def _is_joined(char: str) -> bool:
    """Whether the character is a letter whose form depends on its neighbours, as in Arabic."""
    return char != "" and unicodedata.bidirectional(char) == "AL"


# An HTML comment, or a tag with its attributes, as a browser reads raw HTML ("Tokenization" in the HTML standard).
# Markdown has fewer comments and tags. No text can match in two ways: matching takes linear time.
_TAG_OR_COMMENT = re.compile(
    r"""
      <!--(?:-?>|.*?--!?>)
    | <(?:!(?!--)|\?|/(?![a-z]))[^>]*+>                             # a browser reads this as a comment
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
_TAG_OR_COMMENT_BEGIN = re.compile("<[a-z/!?]", re.IGNORECASE)
# Text inside these elements may be invisible, so it does not count as shown.
_HIDING = frozenset(
    (
        *("audio", "canvas", "datalist", "iframe", "math", "noembed", "noframes", "noscript", "object", "rp"),
        *("script", "select", "style", "svg", "template", "textarea", "title", "video"),
    )
)
UNFINISHED = "<"
"""`hidden_by` returns this instead of an element's name if an unfinished tag or comment hides the text."""


def _next_begin(html: str, at: int) -> int:
    begun = _TAG_OR_COMMENT_BEGIN.search(html, at)
    return begun.start() if begun else len(html)


def pieces(html: str) -> Iterator[re.Match[str] | None]:
    """Yield a match for each tag (with group `name`) and each comment; None for an unfinished tag or comment."""
    at = 0
    while (begin := _next_begin(html, at)) < len(html):
        whole = _TAG_OR_COMMENT.match(html, begin)
        yield whole
        if whole is None:
            return
        at = whole.end()


def without_comments(html: str) -> str:
    """`html` as browsers read it, without comments. An unfinished tag or comment ends the result.

    `bot.text.terms.without_comments` removes what GitHub's Markdown takes for a comment.
    """
    kept: list[str] = []
    at = 0
    for piece in pieces(html):
        if piece is None:
            return "".join(kept) + html[at : _next_begin(html, at)]
        kept += [html[at : piece.start()], piece[0] if piece["name"] else ""]
        at = piece.end()
    return "".join(kept) + html[at:]


def hidden_by(html: str, before: str = "") -> str:
    """The name of the element that hides the text after `html`, or UNFINISHED; empty if that text is visible.

    `before` is this function's result for the text before `html`.
    """
    hiding = before
    for piece in pieces(html):
        if piece is None or hiding == UNFINISHED:
            return UNFINISHED
        name = (piece["name"] or "").lower()
        if not hiding and name in _HIDING:
            hiding = name
        elif name == f"/{hiding}":
            hiding = ""
    return hiding
