"""Builds search queries whose meaning an issue's text cannot change (F4).

Text from an issue becomes words and phrases only. Everything that has a meaning for GitHub's query parser is removed:
quotes, colons, parentheses, a leading `-`, `AND`/`OR`/`NOT`, control and bidirectional characters (GitHub docs:
"Understanding the search syntax", "Filtering and searching issues and pull requests").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

from bot.domain.entities import RepoRef, StateFilter
from bot.text.words import MARKS, split_words

#: GitHub docs, "Limitations on query length".
MAX_OPERATORS = 5

Scope = Literal["title", "body", "title,body"]
Kind = Literal["issue", "pr"]

# An identifier keeps its inner punctuation, so that the search engine splits it as it has split the text. A hyphen is
# kept only inside a word, because in front of one it means NOT.
_TERM = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}]|[._-](?=[^\W_]))*")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


def neutralise(text: str) -> str:
    """The words of `text`, joined by single spaces, with operators in lower case and without punctuation."""
    return " ".join(_harmless(split_words(text)))


def neutralise_term(text: str) -> str:
    """Like `neutralise`, but inner dots, hyphens and underscores of identifiers stay: `log.Fatal`, `snake_case`."""
    return " ".join(_harmless(_TERM.findall(text)))


def phrase(text: str) -> str:
    """`text` as a quoted phrase, or "" if nothing in it can be searched for."""
    words = neutralise_term(text)
    return f'"{words}"' if words else ""


def literal_query(repo: RepoRef, keywords: str, state: StateFilter = "all") -> str:
    """F4: `repo:OWNER/NAME is:issue [is:open] in:title KEYWORDS`."""
    return build_query(repo, neutralise(keywords), "title", state)


def build_query(
    repo: RepoRef | Sequence[RepoRef],
    text: str,
    scope: Scope,
    state: StateFilter = "all",
    kind: Kind = "issue",
    *,
    flat: bool = False,
) -> str:
    """A query in one repository or several. `text` comes from this module: neutral words, phrases, `any_of`.

    `flat` is for servers without OR, where several `repo:` in a row are alternatives. For other servers they exclude
    each other (https://github.com/cli/cli/pull/11638).
    """
    return f"{qualifiers(repo, state, kind, flat=flat)} in:{scope} {text}".rstrip()


def qualifiers(
    repo: RepoRef | Sequence[RepoRef], state: StateFilter, kind: Kind = "issue", *, flat: bool = False
) -> str:
    """The beginning of every query: the repositories, the kind, and the state."""
    places = [f"repo:{one}" for one in ([repo] if isinstance(repo, RepoRef) else repo)]
    where = " ".join(places) if flat else any_of(places)
    return f"{where} is:{kind}" + ("" if state == "all" else f" is:{state}")


def any_of(alternatives: Iterable[str]) -> str:
    """`((a b) OR (c d))`: alternatives of neutral words, which are ANDed inside each; "" without any.

    The outer parentheses keep the qualifiers out of the OR.
    """
    groups = [one if one.startswith('"') or " " not in one else f"({one})" for one in alternatives]
    return "".join(groups) if len(groups) < 2 else f"({' OR '.join(groups)})"


def _harmless(words: Iterable[str]) -> Iterable[str]:
    return (word.lower() if _as_letters(word) in _OPERATORS else word for word in words)


def _as_letters(word: str) -> str:
    """`word` without marks and full-width forms, which a server may remove before it looks for operators."""
    if word.isascii():
        return word
    # Character by character, since normalising takes time quadratic in the marks on one letter.
    parts = (part for sign in word for part in unicodedata.normalize("NFKD", sign))
    return "".join(part for part in parts if not unicodedata.combining(part))
