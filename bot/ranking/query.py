"""F4: search queries that say what we mean, whatever an issue's text says.

Text from an issue becomes words and phrases only. It never reaches GitHub's query parser with a character that has a
meaning there: quotes, colons, parentheses, a leading `-`, `AND`/`OR`/`NOT`, control and bidirectional characters are
all gone (GitHub docs: "Understanding the search syntax", "Filtering and searching issues and pull requests").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

from bot.model import RepoRef, StateFilter
from bot.text.words import MARKS, split_words

#: GitHub docs, "Limitations on query length".
MAX_OPERATORS = 5

Scope = Literal["title", "body", "title,body"]
Kind = Literal["issue", "pr"]

# An identifier keeps the characters that hold it together: the search engine then takes it apart as it took the text
# apart. A hyphen is kept inside a word only, since in front of one it means NOT.
_TERM = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}]|[._-](?=[^\W_]))*")
_OPERATORS = frozenset({"AND", "OR", "NOT"})


def neutralise(text: str) -> str:
    """The words of `text` with single spaces between them; operators are lower-cased, all other signs are gone."""
    return " ".join(_harmless(split_words(text)))


def neutralise_term(text: str) -> str:
    """Like `neutralise`, but inner dots, hyphens and underscores of identifiers stay: `log.Fatal`, `snake_case`."""
    return " ".join(_harmless(_TERM.findall(text)))


def phrase(text: str) -> str:
    """`text` as a quoted phrase, "" where nothing of it can be searched for."""
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
    """A query for what is in `repo`, or in several. `text` comes from this module: neutral words, phrases, `any_of`.

    `flat` is for servers that know no OR. They take several `repo:` beside one another for alternatives, which others
    do not: there nothing is in both (https://github.com/cli/cli/pull/11638).
    """
    return f"{qualifiers(repo, state, kind, flat=flat)} in:{scope} {text}".rstrip()


def qualifiers(
    repo: RepoRef | Sequence[RepoRef], state: StateFilter, kind: Kind = "issue", *, flat: bool = False
) -> str:
    """What every query begins with: the issues of these repositories, all of them or the open or closed ones."""
    places = [f"repo:{one}" for one in ([repo] if isinstance(repo, RepoRef) else repo)]
    where = " ".join(places) if flat else any_of(places)
    return f"{where} is:{kind}" + ("" if state == "all" else f" is:{state}")


def any_of(alternatives: Iterable[str]) -> str:
    """`((a b) OR (c d))`: alternatives of neutral words, which GitHub ANDs inside each; "" without any.

    The outer parentheses keep the qualifiers before them from being ORed too.
    """
    groups = [one if one.startswith('"') or " " not in one else f"({one})" for one in alternatives]
    return "".join(groups) if len(groups) < 2 else f"({' OR '.join(groups)})"


def _harmless(words: Iterable[str]) -> Iterable[str]:
    return (word.lower() if _as_letters(word) in _OPERATORS else word for word in words)


def _as_letters(word: str) -> str:
    """Without marks and full-width forms, which a server may take away before it looks for operators."""
    if word.isascii():
        return word
    # Sign by sign: to put all marks on one letter in order takes a time that is quadratic in their number.
    parts = (part for sign in word for part in unicodedata.normalize("NFKD", sign))
    return "".join(part for part in parts if not unicodedata.combining(part))
